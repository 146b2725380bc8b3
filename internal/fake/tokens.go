package fake

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
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
	login string
	kind  TokenKind
	app   *App
	// permissions are nil for all of them; scopes are those of a classic token, nil for every other.
	permissions *Permissions
	scopes      []string
	sso         string

	installation *installation // of a token that an App has made
	repos        []string      // the names that it is for; nil: all of the installation's
	ends         time.Time     // zero: it does not
	refresh      string        // of a person's token by way of an App: gets the next one
}

// AddToken lets value in as login. An Actions token's login is github-actions[bot] when it is not given.
func (g *GitHub) AddToken(value, login string, kind TokenKind) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if login == "" && kind == Actions {
		login = "github-actions[bot]"
	}
	g.user(login)
	g.tokens[value] = &token{login: login, kind: kind}
}

// RevokeToken shuts value out again.
func (g *GitHub) RevokeToken(value string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.tokens, value)
}

// AppTokens counts the installation tokens that Apps have made: those that still let someone in, and those that who
// had them has revoked.
func (g *GitHub) AppTokens() (open, revoked int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, t := range g.tokens {
		if t.kind == Installation && t.app != nil {
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

// identify finds whose token a REST or GraphQL request carries; nil with GitHub's answer when it is no one's.
func (g *GitHub) identify(r *http.Request) (*token, *answer) {
	scheme, value, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if value == "" || (!strings.EqualFold(scheme, "bearer") && !strings.EqualFold(scheme, "token")) {
		a := failure(http.StatusUnauthorized, "Requires authentication")
		return nil, &a
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if t := g.tokens[value]; t != nil && g.counts(t) {
		return t, nil
	}
	if strings.Count(value, ".") == 2 {
		app, err := g.verify(value)
		if err == nil {
			return &token{login: app.Slug + "[bot]", kind: appKind, app: app}, nil
		}
		a := failure(http.StatusUnauthorized, "A JSON web token could not be decoded: "+err.Error())
		return nil, &a
	}
	a := failure(http.StatusUnauthorized, "Bad credentials")
	return nil, &a
}

// verify finds the App that signed a web token. Callers hold the lock.
func (g *GitHub) verify(jwt string) (*App, error) {
	parts := strings.Split(jwt, ".")
	var head struct{ Alg string }
	var claims struct {
		Iss any
		Iat float64
		Exp float64
	}
	for i, into := range []any{&head, &claims} {
		raw, err := base64.RawURLEncoding.DecodeString(parts[i])
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(raw, into); err != nil {
			return nil, err
		}
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return nil, err
	}
	if head.Alg != "RS256" {
		return nil, fmt.Errorf("alg is %q, not RS256", head.Alg)
	}
	now := float64(g.now().Unix())
	if claims.Exp < now || claims.Exp > now+10*60 {
		return nil, fmt.Errorf("'Expiration time' claim ('exp') is past or too far in the future")
	}
	if claims.Iat > now+60 {
		return nil, fmt.Errorf("'Issued at' claim ('iat') must be an Integer representing the time that the assertion was " +
			"issued")
	}
	issuer := fmt.Sprint(claims.Iss)
	if f, ok := claims.Iss.(float64); ok {
		issuer = strconv.FormatFloat(f, 'f', -1, 64)
	}
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	for _, app := range g.apps {
		if issuer != strconv.FormatInt(app.ID, 10) || app.Key == nil {
			continue
		}
		if err := rsa.VerifyPKCS1v15(app.Key, crypto.SHA256, digest[:], signature); err != nil {
			return nil, err
		}
		return app, nil
	}
	return nil, fmt.Errorf("no App has the issuer %s", issuer)
}
