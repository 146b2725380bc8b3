package git

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// remoteRefs are refs of the remote with the commits they are at, and what its HEAD points to.
type remoteRefs struct {
	at   map[string]string
	head string // "refs/heads/main"; "" when it points nowhere
}

// listRemote asks the remote for refs; a pattern without a star is the full name of one.
func (d door) listRemote(ctx context.Context, r Remote, patterns ...string) (remoteRefs, error) {
	out, _, err := d.ask(ctx, r, call{args: append([]string{"ls-remote", "--symref", "--", r.URL}, patterns...)})
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
	_, _, err := d.ask(ctx, r, call{args: append(append(args, "--", r.URL), refspecs...)})
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
	if refused(e) {
		return &AccessError{r.shown(), lastLine(e.Stderr)}
	}
	return fmt.Errorf("%s %s: %w; check that it is there and that the token may see it, or try again later", doing,
		r.shown(), err)
}

// refused reports whether the remote did not let a command in.
func refused(e *commandError) bool {
	return slices.ContainsFunc([]string{"Authentication failed", "could not read Username", "could not read Password",
		"returned error: 401", "returned error: 403", "Permission denied"},
		func(sign string) bool { return strings.Contains(e.Stderr, sign) })
}

// ask runs a command that asks the remote, again and again for as long as Patience says while the remote is away: a fetch
// changes nothing, and a push that did arrive is recognized by its lease.
func (d door) ask(ctx context.Context, r Remote, c call) (stdout, stderr string, err error) {
	err = r.outlast(ctx, r.Patience, func() (err error) {
		stdout, stderr, err = d.askOnce(ctx, r, c)
		return err
	})
	return stdout, stderr, err
}

// leastPatience is enough for a failure that is over in a moment.
const leastPatience = 5 * time.Second

// outlast is Outlast for so long, or for leastPatience.
func (r Remote) outlast(ctx context.Context, patience time.Duration, ask func() error) error {
	patient, cancel := context.WithTimeout(ctx, max(patience, leastPatience))
	defer cancel()
	return Outlast(patient, r.Log, ask)
}

const (
	firstPause = time.Second
	mostPause  = time.Minute
)

// Outlast does what asks a remote again and again while that is away or has trouble of its own, until ctx is done. It
// says so once. The last error is returned.
func Outlast(ctx context.Context, log func(format string, args ...any), ask func() error) error {
	for pause := firstPause; ; pause = min(2*pause, mostPause) {
		err := ask()
		if !passes(err) || ctx.Err() != nil {
			return err
		}
		if ends, ok := ctx.Deadline(); ok && time.Until(ends) < pause {
			return err
		}
		if log != nil && pause == firstPause {
			log("the remote does not answer; ralph tries again until it does: %v", err)
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

// askOnce runs a command that asks the remote, once more with another token when this one was refused. The remote has done
// nothing then.
func (d door) askOnce(ctx context.Context, r Remote, c call) (stdout, stderr string, err error) {
	c.within = remoteTime
	more := c.pair
	c.pair = append(more[:len(more):len(more)], r.credential()...)
	stdout, stderr, err = d.run(ctx, c)
	var e *commandError
	if r.Renew == nil || !errors.As(err, &e) || !refused(e) {
		return stdout, stderr, err
	}
	token, none := r.Renew(ctx, r.Token)
	if none != nil || token == r.Token {
		return stdout, stderr, err
	}
	r.Token = token
	c.pair = append(more[:len(more):len(more)], r.credential()...)
	return d.run(ctx, c)
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
