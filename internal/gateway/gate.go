package gateway

import (
	"crypto/subtle"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/regex"
)

// call is what a request asks of a provider.
type call struct {
	protocol Protocol
	model    string // as the path names it
	counted  bool   // its answer takes tokens
	// through is what has to be in Options.Through for it, because its cost is in no answer; "" if nothing has.
	through string
}

// paths are what may be asked, besides Gemini's paths, which have the model in them.
var paths = map[string]call{
	"POST /v1/messages":              {protocol: Anthropic, counted: true},
	"POST /v1/messages/count_tokens": {protocol: Anthropic},
	"POST /v1/responses":             {protocol: Responses, counted: true},
	"POST /v1/chat/completions":      {protocol: Chat, counted: true},
}

// geminiPath is Gemini's, and Vertex's with a key. It names no dot segment and nothing encoded.
var geminiPath = regex.Lazy(`^/(?:v1beta/models|v1beta1/publishers/google/models)/` +
	`([a-zA-Z0-9][a-zA-Z0-9._@-]{0,127}):(generateContent|streamGenerateContent|countTokens)$`)

// uncountedPaths are what may be asked if Options.Through has it.
var uncountedPaths = map[string]*regex.Pattern{
	"background": regex.Lazy(`^(GET /v1/responses/[\w-]{1,128}|POST /v1/responses/[\w-]{1,128}/cancel)$`),
	"batches": regex.Lazy(`^(GET|POST|DELETE) /v1/(messages/batches|batches|files)` +
		`(/[\w-]{1,128}(/results|/cancel|/content)?)?$`),
	"realtime": regex.Lazy(`^GET /v1/realtime$`),
}

// mostModel is how long a model's name may be.
const mostModel = 128

// gate is what a request asks, if it may: nothing but what models are for. path is as it was sent, with its escapes.
func gate(method, path string, spoken []Protocol) (call, bool) {
	if method == http.MethodGet && path == "/v1/models" {
		for _, p := range spoken {
			if p != Gemini {
				return call{protocol: p}, true
			}
		}
		return call{}, false
	}
	for through, pattern := range uncountedPaths {
		if pattern.MatchString(method + " " + path) {
			p := Responses
			if strings.HasPrefix(path, "/v1/messages") {
				p = Anthropic
			}
			return call{protocol: p, through: through}, slices.Contains(spoken, p)
		}
	}
	c, ok := paths[method+" "+path]
	if m := geminiPath.FindStringSubmatch(path); method == http.MethodPost && m != nil {
		c, ok = call{protocol: Gemini, model: m[1], counted: m[2] != "countTokens"}, true
	}
	return c, ok && slices.Contains(spoken, c.protocol)
}

// Credentials in a query, and parts of one that may pass, with the values they may have; nil: any.
var (
	queryCredentials = []string{"key", "$key", "api_key", "api-key", "apikey", "access_token", "oauth_token",
		"bearer_token", "token", "subscription-key"}
	queryParts = map[string][]string{"alt": {"sse", "json"}, "beta": {"true", "false"},
		"client_version": nil, "model": nil, "limit": nil, "after_id": nil, "before_id": nil}
)

var errQuery = errors.New("ralph: a credential in the address is not taken; it belongs into a header")

// sift is the part of a query that may pass: others could keep the provider from saying what it took. The bearer goes
// no further.
func sift(raw, bearer string) (url.Values, error) {
	all, err := url.ParseQuery(raw)
	if err != nil {
		return nil, errors.New("ralph: the query of this request is not well formed")
	}
	out := url.Values{}
	for name, values := range all {
		if slices.Contains(queryCredentials, strings.ToLower(name)) {
			return nil, errQuery
		}
		allowed, known := queryParts[name]
		if known && len(values) == 1 && !strings.Contains(values[0], bearer) &&
			(allowed == nil || slices.Contains(allowed, values[0])) {
			out[name] = values
		}
	}
	return out, nil
}

// withheld are headers of a request that go no further: credentials of any kind, and what changes where a request
// leads, whose it is, or what the answer says.
var withheld = []string{"Authorization", "Proxy-Authorization", "X-Api-Key", "X-Goog-Api-Key", "Api-Key", "Apikey",
	"X-Auth-Token", "X-Access-Token", "Ocp-Apim-Subscription-Key", "Cookie", "X-Amz-Security-Token",
	"X-Goog-User-Project", "X-Goog-Iam-Authorization-Token", "X-Goog-Fieldmask", "X-Http-Method-Override",
	"X-Http-Method", "X-Method-Override", "X-Original-Url", "X-Rewrite-Url", "X-Real-Ip", "Expect"}

// organization are headers that say for whom a request counts.
var organization = []string{"Openai-Organization", "Openai-Project"}

// shown reports whether a request shows the bearer in any header that has one.
func shown(h http.Header, bearer string) bool {
	found := 0
	for _, name := range []string{"X-Api-Key", "X-Goog-Api-Key", "Authorization"} {
		for _, value := range h.Values(name) {
			if name == "Authorization" {
				scheme, rest, _ := strings.Cut(value, " ")
				if !strings.EqualFold(scheme, "Bearer") {
					continue
				}
				value = strings.TrimSpace(rest)
			}
			found |= subtle.ConstantTimeCompare([]byte(value), []byte(bearer))
		}
	}
	return found == 1
}

// clean takes out of a request's headers what goes no further.
func clean(h http.Header, bearer string) {
	for _, name := range withheld {
		h.Del(name)
	}
	for name, values := range h {
		if slices.ContainsFunc(values, func(v string) bool { return strings.Contains(v, bearer) }) {
			delete(h, name)
		}
	}
}
