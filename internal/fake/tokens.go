package fake

import (
	"cmp"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v4"
)

// TokenKind is what a token stands for; it decides what may be asked with it.
type TokenKind string

// The kinds of token.
const (
	Actions      TokenKind = "actions"          // the workflow's GITHUB_TOKEN, of github-actions[bot]
	PAT          TokenKind = "pat"              // a person's
	Installation TokenKind = "app-installation" // a GitHub App's in one account
	UserToServer TokenKind = "app-user"         // a person's by way of a GitHub App
	appKind      TokenKind = "app"              // a JSON web token, which the App signs itself
)

type token struct {
	Token
	app          *App
	installation *installation // of a token that an App has made
	repos        []string      // the names that it is for; nil: all of the installation's
	ends         time.Time     // zero: it does not
	refresh      string        // of a person's token by way of an App: gets the next one
}

// AddToken lets value in as login.
func (g *GitHub) AddToken(value, login string, kind TokenKind) {
	g.AddLimitedToken(Token{Value: value, Login: login, Kind: kind})
}

// RevokeToken shuts value out again.
func (g *GitHub) RevokeToken(value string) {
	defer g.lock()()
	delete(g.tokens, value)
}

// AppTokens counts the installation tokens that Apps have made: those that still let someone in, and those that who
// had them has revoked.
func (g *GitHub) AppTokens() (open, revoked int) {
	defer g.lock()()
	for _, t := range g.tokens {
		if t.Kind == Installation && t.app != nil {
			open++
		}
	}
	for _, app := range g.apps {
		revoked += app.revoked
	}
	return open, revoked
}

// counts reports whether a token still lets someone in. Callers hold the lock.
func (g *GitHub) counts(t *token) bool {
	return (t.ends.IsZero() || g.now().Before(t.ends)) && (t.installation == nil || !t.installation.gone)
}

// identify finds whose token a request carries. Callers hold the lock.
func (g *GitHub) identify(r *http.Request) *token {
	scheme, value, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if t := g.tokens[value]; t != nil && !strings.EqualFold(scheme, "basic") && g.counts(t) {
		return t
	}
	if strings.Count(value, ".") != 2 {
		panic(failure(http.StatusUnauthorized, "Bad credentials"))
	}
	app, err := g.verify(value)
	if err != nil {
		panic(failure(http.StatusUnauthorized, "A JSON web token could not be decoded: "+err.Error()))
	}
	return &token{Token: Token{Login: app.bot(), Kind: appKind}, app: app}
}

// verify finds the App that signed a web token. Callers hold the lock.
func (g *GitHub) verify(text string) (*App, error) {
	var app *App
	var claims jwt.RegisteredClaims
	_, err := jwt.NewParser(jwt.WithValidMethods([]string{"RS256"}), jwt.WithoutClaimsValidation()).ParseWithClaims(text,
		&claims, func(*jwt.Token) (any, error) {
			for _, app = range g.apps {
				if claims.Issuer == strconv.FormatInt(app.ID, 10) && app.Key != nil {
					return app.Key, nil
				}
			}
			return nil, fmt.Errorf("no App has the issuer %s", claims.Issuer)
		})
	now := g.now()
	switch {
	case err != nil:
		return nil, err
	case claims.ExpiresAt == nil || claims.ExpiresAt.Before(now) || claims.ExpiresAt.After(now.Add(10*time.Minute)):
		return nil, errors.New("'Expiration time' claim ('exp') is past or too far in the future")
	case claims.IssuedAt != nil && claims.IssuedAt.After(now.Add(time.Minute)):
		return nil, errors.New("'Issued at' claim ('iat') must be an Integer representing the time that the assertion was " +
			"issued")
	}
	return app, nil
}

// Permissions are what a token may do: "read" or "write" by GitHub's names, such as "pull_requests". Everyone can read
// what is public. Nil is everything.
type Permissions map[string]string

// everything is what a token may do if a test does not say.
var everything = Permissions{"actions": "write", "administration": "read", "checks": "write", "contents": "write",
	"issues": "write", "pull_requests": "write", "members": "read", "secrets": "read", "statuses": "write",
	"workflows": "write"}

// granted are permissions as GitHub shows them.
func (p Permissions) granted() Permissions {
	if p == nil {
		p = everything
	}
	p = maps.Clone(p)
	p["metadata"] = "read"
	return p
}

// Token is a token that may less than everything, or is of a kind that GitHub treats in its own way.
type Token struct {
	Value, Login string
	Kind         TokenKind
	Permissions  Permissions // of GITHUB_TOKEN, of an installation or of a fine-grained personal token
	// Scopes make it a classic personal token, which may write with the scope repo or public_repo alone.
	Scopes []string
}

// AddLimitedToken lets a token in. Its login is github-actions[bot] when none is given and it is of the kind Actions.
func (g *GitHub) AddLimitedToken(t Token) {
	defer g.lock()()
	if t.Login == "" && t.Kind == Actions {
		t.Login = "github-actions[bot]"
	}
	g.user(t.Login)
	g.tokens[t.Value] = &token{Token: t}
}

func (t *token) classic() bool { return t.Scopes != nil }

// may reports whether a token has what an operation needs: "issues=write; pull_requests=write" is one of the two.
func (t *token) may(needs string) bool {
	if t.Permissions == nil || needs == "" {
		return true
	}
	has := t.Permissions.granted()
	for alternative := range strings.SplitSeq(needs, "; ") {
		enough := true
		for need := range strings.SplitSeq(alternative, ",") {
			name, level, _ := strings.Cut(need, "=")
			enough = enough && (has[name] == "write" || (has[name] == "read" && level == "read"))
		}
		if enough {
			return true
		}
	}
	return false
}

// forbidden is GitHub's 403 to a token that lacks a permission.
func (t *token) forbidden() answer {
	if t.Kind == PAT {
		return failure(http.StatusForbidden, "Resource not accessible by personal access token")
	}
	return failure(http.StatusForbidden, "Resource not accessible by integration")
}

// settings are what only an administrator may read, however public the repository is.
var settings = []string{"administration=read", "secrets=read"}

// permit refuses what a token may not do by a route. Callers hold the lock.
func (g *GitHub) permit(rt *route, r *request) {
	t, reading := r.token, rt.method == http.MethodGet
	secret := slices.Contains(settings, rt.needs)
	switch {
	case (rt.needs == appOnly) != (t.Kind == appKind):
		panic(failure(http.StatusUnauthorized, "A JSON web token could not be decoded, or is not taken here"))
	case t.classic() && !reading && !t.writes():
		refused := notFound()
		refused.header = http.Header{"X-Accepted-Oauth-Scopes": {"public_repo, repo"}}
		panic(refused)
	case secret && t.Kind == PAT && r.repo.permissions[strings.ToLower(t.Login)] != "admin":
		panic(failure(http.StatusForbidden, "Must have admin rights to Repository."))
	case reading && !secret && r.repo != nil && !r.repo.private, rt.needs == appOnly:
	case !t.may(rt.needs):
		panic(t.forbidden())
	}
}

// announce sends the headers that tell what a token can do and what was needed.
func (t *token) announce(h http.Header, needs string) {
	if t.classic() {
		h.Set("X-OAuth-Scopes", strings.Join(t.Scopes, ", "))
		return
	}
	if needs != "" && needs != appOnly && needs != openToAll {
		h.Set("X-Accepted-GitHub-Permissions", needs)
	}
}

// writes reports whether a classic token can write to a repository.
func (t *token) writes() bool {
	return slices.Contains(t.Scopes, "repo") || slices.Contains(t.Scopes, "public_repo")
}

// RunnerJob is a job of GitHub Actions, as the tokens say by which it tells others who it is.
type RunnerJob struct {
	Owner, Name string // of its repository
	Workflow    string // "runner.yml"
	Run         int64  // the number of its run; of several jobs each needs another
	Ref         string // empty: that of the default branch
	Event       string // empty: workflow_dispatch
	// Claims replace those of the token: {"exp": 0}.
	Claims map[string]any
}

// jobTokens is where tokens of jobs are made, as on GitHub Enterprise Server.
const jobTokens = "/_services/token"

// jobKey signs the tokens of jobs.
var jobKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

// JobToken is a job's token for someone, the audience.
func (g *GitHub) JobToken(j RunnerJob, audience string) string {
	defer g.lock()()
	return g.jobToken(j, audience)
}

func (g *GitHub) jobToken(j RunnerJob, audience string) string {
	r := g.mustRepo(j.Owner, j.Name)
	ref := cmp.Or(j.Ref, "refs/heads/"+r.defaultBranch)
	name, now := r.owner+"/"+r.name, g.now()
	workflow := name + "/.github/workflows/" + j.Workflow + "@" + ref
	claims := jwt.MapClaims{
		"jti": node("J", g.id()), "iss": g.url + jobTokens, "aud": audience, "sub": "repo:" + name + ":ref:" + ref,
		"iat": now.Unix(), "nbf": now.Add(-time.Minute).Unix(), "exp": now.Add(5 * time.Minute).Unix(), "ref": ref,
		"repository": name, "repository_id": strconv.FormatInt(r.id, 10), "repository_visibility": r.visibility(),
		"repository_owner": r.owner, "event_name": cmp.Or(j.Event, "workflow_dispatch"), "workflow_ref": workflow,
		"job_workflow_ref": workflow, "run_id": strconv.FormatInt(j.Run, 10), "run_attempt": "1",
		"runner_environment": "github-hosted",
	}
	maps.Copy(claims, j.Claims)
	token := jwt.NewWithClaims(jwt.SigningMethodRS256, claims)
	token.Header["kid"] = "1"
	signed, err := token.SignedString(jobKey())
	if err != nil {
		panic(err)
	}
	return signed
}

// JobEnviron is what the environment of a job has, so that it gets its tokens: NAME=value.
func (g *GitHub) JobEnviron(j RunnerJob) []string {
	defer g.lock()()
	bearer := node("JobToken", g.id())
	g.jobs[bearer] = j
	return []string{"GITHUB_ACTIONS=true", "ACTIONS_ID_TOKEN_REQUEST_TOKEN=" + bearer,
		fmt.Sprintf("ACTIONS_ID_TOKEN_REQUEST_URL=%s%s/request?run=%d", g.url, jobTokens, j.Run)}
}

// answerJobToken gives jobs their tokens, and others the key that these are signed with.
func (g *GitHub) answerJobToken(r *http.Request) answer {
	defer g.lock()()
	switch r.URL.Path {
	case jobTokens + "/.well-known/jwks":
		key := jobKey().PublicKey
		return ok(object{"keys": []object{{"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "1",
			"n": base64.RawURLEncoding.EncodeToString(key.N.Bytes()),
			"e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(key.E)).Bytes())}}})
	case jobTokens + "/request":
		job, known := g.jobs[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
		if !known {
			return failure(http.StatusUnauthorized, "The bearer token is no job's")
		}
		return ok(object{"value": g.jobToken(job, r.URL.Query().Get("audience"))})
	}
	return notFound()
}
