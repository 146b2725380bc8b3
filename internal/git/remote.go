package git

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// remoteRefs are refs of the remote with the commits they are at, and what its HEAD points to.
type remoteRefs struct {
	at   map[string]string
	head string // "refs/heads/main"; "" when it points nowhere
}

// listRemote asks the remote for refs; a pattern without a star is the full name of one.
func (d door) listRemote(ctx context.Context, r Remote, patterns ...string) (remoteRefs, error) {
	out, _, err := d.run(ctx, call{
		args: append([]string{"ls-remote", "--symref", "--", r.URL}, patterns...), pair: r.credential(), within: remoteTime})
	refs := remoteRefs{at: map[string]string{}}
	if err != nil {
		return refs, r.explain("reading", err)
	}
	for line := range strings.Lines(out) {
		value, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if to, ok := strings.CutPrefix(value, "ref: "); ok {
			if name == "HEAD" {
				refs.head = to
			}
			continue
		}
		refs.at[name] = value
	}
	return refs, nil
}

// fetch brings refspecs from the remote.
func (d door) fetch(ctx context.Context, r Remote, options []string, refspecs ...string) error {
	args := append([]string{"fetch", "-q", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules",
		"--no-auto-maintenance"}, options...)
	_, _, err := d.run(ctx, call{args: append(append(args, "--", r.URL), refspecs...), pair: r.credential(),
		within: remoteTime})
	if err != nil {
		return r.explain("fetching from", err)
	}
	return nil
}

// explain turns what git says of a remote into an error a user can act on.
func (r Remote) explain(doing string, err error) error {
	var e *commandError
	if !errors.As(err, &e) {
		return fmt.Errorf("%s %s: %w", doing, r.shown(), err)
	}
	for _, sign := range []string{"Authentication failed", "could not read Username", "could not read Password",
		"returned error: 401", "returned error: 403", "Permission denied"} {
		if strings.Contains(e.Stderr, sign) {
			return &AccessError{r.shown(), lastLine(e.Stderr)}
		}
	}
	return fmt.Errorf("%s %s: %w; check that it is there and that the token may see it, or try again later", doing,
		r.shown(), err)
}

// shown is the URL without what may be secret in it.
func (r Remote) shown() string {
	u, err := url.Parse(r.URL)
	if err != nil || u.User == nil {
		return r.URL
	}
	u.User = nil
	return u.String()
}
