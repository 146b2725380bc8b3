package github

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// ErrForbidden reports whether the token may not do something at all.
func ErrForbidden(err error) bool {
	var api *github.ErrorResponse
	return errors.As(err, &api) && api.Response != nil && api.Response.StatusCode == http.StatusForbidden &&
		!strings.Contains(api.Message, "rate limit")
}

// failed is a call that did not work, in one sentence: what was being done, what GitHub said, and what to do about it.
// It never holds the token, an address's query or the page of a proxy.
type failed struct {
	text string
	err  error
}

func (f *failed) Error() string { return f.text }

func (f *failed) Unwrap() error { return f.err }

// explain adds to an error of a call what the reader can do about it; nil stays nil.
func explain(doing string, err error) error {
	var known *failed
	if err == nil {
		return nil
	}
	if errors.As(err, &known) || errors.Is(err, context.Canceled) {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return &failed{text: doing + ": " + reading(err), err: err}
}

// briefly is what an error of a call means, for a sentence that says itself what to do.
func briefly(err error) error {
	if err == nil {
		return nil
	}
	text, _, _ := strings.Cut(reading(err), "; ")
	return &failed{text: text, err: err}
}

// reading is what an error means: GitHub's answers first, then no answer at all.
func reading(err error) string {
	var (
		limit *github.RateLimitError
		abuse *github.AbuseRateLimitError
		later *github.AcceptedError
		api   *github.ErrorResponse
	)
	switch {
	case errors.As(err, &limit):
		return fmt.Sprintf("the token's calls of this hour are used up (rate limit); GitHub takes new ones from %s on: run "+
			"again then, or give ralph a token of its own",
			limit.Rate.Reset.UTC().Format("15:04 UTC"))
	case errors.As(err, &abuse):
		return "GitHub asks for slower calls (secondary rate limit); run again in a few minutes, and fewer runs at the " +
			"same time"
	case errors.As(err, &later):
		return "GitHub is still working on the answer; try again in a minute"
	case errors.As(err, &api) && api.Response != nil:
		return answered(api.Response, api.Message+details(api.Errors))
	}
	return unanswered(err)
}

// answered is what a status means, with GitHub's own words when there are some.
func answered(r *http.Response, message string) string {
	said := fmt.Sprintf("(%d", r.StatusCode)
	if message = oneLine(message); message != "" {
		said += ": " + message
	}
	said += ")"
	switch {
	case r.StatusCode == http.StatusUnauthorized:
		return "GitHub does not accept the token " + said + "; renew it, or the secret that it comes from"
	case r.Header.Get("X-GitHub-SSO") != "":
		return "the token is not let into the organization's single sign-on " + said +
			"; authorize it under Settings → Developer settings → Personal access tokens → Configure SSO"
	case r.StatusCode == http.StatusForbidden:
		return "the token may not do this " + said + "; " + missing(r.Header)
	case r.StatusCode == http.StatusNotFound:
		return "GitHub does not find it, or the token may not see it " + said + "; check that it is still there, and " +
			missing(r.Header)
	case r.StatusCode == http.StatusGone:
		return "it was deleted or is turned off in the repository's settings " + said + "; turn it on again, or do without it"
	case r.StatusCode == http.StatusConflict:
		return "it was changed by someone else at the same time, or the repository is empty " + said +
			"; look at it and try again"
	case r.StatusCode == http.StatusUnprocessableEntity:
		return "GitHub refuses what was sent " + said + "; fix what it names and try again"
	case r.StatusCode == http.StatusTooManyRequests:
		return "GitHub asks for slower calls " + said + "; run again in a few minutes, and fewer runs at the same time"
	case r.StatusCode >= 500:
		return "GitHub has trouble of its own " + said + "; look at its status page, and try again later"
	case r.StatusCode/100 == 3:
		return "the repository was renamed or moved " + said + "; use its new name"
	}
	return "GitHub answers what ralph does not expect " + said + "; try again"
}

// missing names the permission that a call takes, as GitHub says it: "issues=write; pull_requests=write" is one of the
// two. Classic tokens have scopes instead.
func missing(h http.Header) string {
	if scopes := h.Get("X-Accepted-OAuth-Scopes"); scopes != "" && h.Get("X-OAuth-Scopes") != "" {
		return fmt.Sprintf("it takes one of the scopes %s, and the token has %s", oneLine(scopes),
			oneLine(h.Get("X-OAuth-Scopes")))
	}
	needs := oneLine(h.Get("X-Accepted-GitHub-Permissions"))
	if needs == "" {
		return "give the job, or the token, the permissions contents, issues and pull-requests: write"
	}
	needs = strings.NewReplacer("; ", " or ", ",", " and ", "=", ": ", "_", "-").Replace(needs)
	return "give the job, or the token, the permission " + needs
}

// unanswered is what it means that no answer came, or none of GitHub's.
func unanswered(err error) string {
	var (
		dns    *net.DNSError
		cert   *tls.CertificateVerificationError
		record tls.RecordHeaderError
		syntax *json.SyntaxError
		slow   net.Error
	)
	switch {
	case errors.As(err, &dns):
		return fmt.Sprintf("the name %s is not known here (DNS); check GITHUB_API_URL and the network", dns.Name)
	case errors.As(err, &cert), errors.As(err, &record):
		return "the server's certificate is not one that this machine trusts (TLS); add the authority that signed it to " +
			"the system's, or check the proxy"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &slow) && slow.Timeout():
		return "no answer came in time; check the network and GitHub's status page, and try again"
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "there is no connection to GitHub; check the network, the proxy and GITHUB_API_URL"
	case errors.As(err, &syntax):
		return "what answered is not GitHub's API; check GITHUB_API_URL and the proxy"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return "the connection broke before the answer came; check the network and try again"
	}
	return oneLine(plainly(err).Error()) + "; check the network and try again"
}

// details are the fields that GitHub finds wrong.
func details(list []github.Error) string {
	text := ""
	for _, e := range list {
		text += "; " + cmp.Or(e.Message, strings.TrimSpace(e.Resource+" "+e.Field+" "+e.Code))
	}
	return text
}

// message reads the words of an answer that go-github has not read. The body can be read again after.
func message(r *http.Response) string {
	if r.Body == nil {
		return ""
	}
	raw, err := io.ReadAll(io.LimitReader(r.Body, 64<<10))
	_ = r.Body.Close() // no answer that says no is longer
	r.Body = io.NopCloser(bytes.NewReader(raw))
	if err != nil {
		return ""
	}
	var said struct{ Message string }
	if json.Unmarshal(raw, &said) != nil { // a proxy's page
		return ""
	}
	return said.Message
}

// mostSaid bounds what is shown of GitHub's words, in bytes.
const mostSaid = 300

// oneLine is text from outside as a part of a sentence: on one line, and short.
func oneLine(s string) string {
	return safetext.ShortenBytes(safetext.OneLine(strings.ToValidUTF8(s, "")), mostSaid)
}

// ErrGone is a comment or pull request that someone deleted meanwhile.
func ErrGone(err error) bool {
	return statusIs(err, http.StatusNotFound, http.StatusGone)
}

// ErrAway reports whether GitHub did not answer, or with a server error. A write might still have happened.
func ErrAway(err error) bool {
	var api *github.ErrorResponse
	if errors.As(err, &api) && api.Response != nil {
		return api.Response.StatusCode >= 500
	}
	var limit *github.RateLimitError
	var abuse *github.AbuseRateLimitError
	return !errors.As(err, &limit) && !errors.As(err, &abuse) && !errors.Is(err, context.Canceled)
}

// refused reports whether GitHub understood and said no (422).
func refused(err error) bool { return statusIs(err, http.StatusUnprocessableEntity) }

func statusIs(err error, any ...int) bool {
	var api *github.ErrorResponse
	return errors.As(err, &api) && api.Response != nil && slices.Contains(any, api.Response.StatusCode)
}

// ErrRefused is a write that GitHub understood and did not want, or that the token may not make: it would say the same
// tomorrow.
func ErrRefused(err error) bool {
	return statusIs(err, http.StatusForbidden, http.StatusNotFound, http.StatusGone, http.StatusUnprocessableEntity)
}

// missingFieldError is an answer that lacks a requested field.
func missingFieldError(doing, what string) error {
	return fmt.Errorf("%s: GitHub's answer does not say %s; ask again later", doing, what)
}

// plainly is an error without an address in it.
func plainly(err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
