package fake

import (
	"cmp"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

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
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.jobToken(j, audience)
}

func (g *GitHub) jobToken(j RunnerJob, audience string) string {
	r := g.mustRepo(j.Owner, j.Name)
	ref, visibility := cmp.Or(j.Ref, "refs/heads/"+r.defaultBranch), "public"
	if r.private {
		visibility = "private"
	}
	name, now := r.owner+"/"+r.name, g.now()
	workflow := name + "/.github/workflows/" + j.Workflow + "@" + ref
	claims := object{
		"jti": node("J", g.id()), "iss": g.url + jobTokens, "aud": audience, "sub": "repo:" + name + ":ref:" + ref,
		"iat": now.Unix(), "nbf": now.Add(-time.Minute).Unix(), "exp": now.Add(5 * time.Minute).Unix(), "ref": ref,
		"repository": name, "repository_id": strconv.FormatInt(r.id, 10), "repository_visibility": visibility,
		"repository_owner": r.owner, "event_name": cmp.Or(j.Event, "workflow_dispatch"), "workflow_ref": workflow,
		"job_workflow_ref": workflow, "run_id": strconv.FormatInt(j.Run, 10), "run_attempt": "1",
		"runner_environment": "github-hosted",
	}
	maps.Copy(claims, j.Claims)
	head, _ := json.Marshal(object{"alg": "RS256", "typ": "JWT", "kid": "1"})
	body, _ := json.Marshal(claims)
	signed := base64.RawURLEncoding.EncodeToString(head) + "." + base64.RawURLEncoding.EncodeToString(body)
	digest := sha256.Sum256([]byte(signed))
	signature, err := rsa.SignPKCS1v15(nil, jobKey(), crypto.SHA256, digest[:])
	if err != nil {
		panic(err)
	}
	return signed + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// JobEnviron is what the environment of a job has, so that it gets its tokens: NAME=value.
func (g *GitHub) JobEnviron(j RunnerJob) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	bearer := node("JobToken", g.id())
	g.jobs[bearer] = j
	return []string{"GITHUB_ACTIONS=true", "ACTIONS_ID_TOKEN_REQUEST_TOKEN=" + bearer,
		fmt.Sprintf("ACTIONS_ID_TOKEN_REQUEST_URL=%s%s/request?run=%d", g.url, jobTokens, j.Run)}
}

// answerJobToken gives jobs their tokens, and others the key that these are signed with.
func (g *GitHub) answerJobToken(r *http.Request) answer {
	g.mu.Lock()
	defer g.mu.Unlock()
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
