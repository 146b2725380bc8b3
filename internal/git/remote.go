package git

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	// the names of git's objects

	"github.com/ralph-loop/ralph/internal/regex"
	"github.com/ralph-loop/ralph/internal/safetext"
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

// fetchRef brings a ref and says which commit it is at; "" when the remote does not have it.
func (d door) fetchRef(ctx context.Context, r Remote, ref string) (commit string, err error) {
	err = d.fetch(ctx, r, nil, "+"+ref+":"+ref)
	var e *commandError
	if errors.As(err, &e) && strings.Contains(e.Stderr, "couldn't find remote ref") {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	out, err := d.out(ctx, "rev-parse", "--verify", "-q", ref)
	return strings.TrimSpace(out), err
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

// Remote is the repository that is fetched from and pushed to.
type Remote struct {
	URL string
	// Token goes to git in its environment alone: never to a command line, never to a file. It can be empty.
	Token string
	// Renew returns another token, once, when the remote has refused one. It can be nil.
	Renew func(ctx context.Context, refused string) (string, error)
	// Mirror is a repository of this machine that a checkout borrows objects from, so that they are not fetched; others
	// only add objects meanwhile. It can be empty.
	Mirror string
	// Patience is how long ralph retries while a remote is away or fails.
	Patience time.Duration
	Log      func(format string, args ...any) // says that the remote is away; nil is silent
}

// credential is how the remote knows us.
func (r Remote) credential() []pair {
	if r.Token == "" {
		return nil
	}
	key := "http." + r.URL + ".extraheader"
	basic := base64.StdEncoding.EncodeToString([]byte("x-access-token:" + r.Token))
	return []pair{{key, "Authorization: Basic " + basic}}
}

// AccessError says that the remote did not take the credential.
type AccessError struct{ URL, Detail string }

func (e *AccessError) Error() string {
	return fmt.Sprintf("%s refused access: check that the token is valid and may write the repository's contents (%s)",
		e.URL, e.Detail)
}

// ContentError says that the remote does not take what the commits hold: a file that is too large, a secret, a workflow,
// a name or a message that a rule forbids. Commits made again without that are taken.
type ContentError struct{ URL, Words string }

func (e *ContentError) Error() string {
	return fmt.Sprintf("%s refused the push: %s", e.URL, safetext.OneLine(e.Words))
}

// staleError is a push that the remote did not take because a ref had moved.
type staleError struct{ detail string }

func (e *staleError) Error() string { return "the remote has moved: " + e.detail }

// origin is where a run's work comes from and goes to: a remote, or the clone of a person on this machine.
type origin interface {
	// list says where refs are; a pattern without a star is the full name of one.
	list(ctx context.Context, patterns ...string) (remoteRefs, error)
	// fetch brings refspecs into the harness's repository.
	fetch(ctx context.Context, specs ...string) error
	// push moves refs, all or none. The error is a *staleError when one of them is not where a move says.
	push(ctx context.Context, moves []move) error
	// hold keeps a commit, the run's first or newest, until its branch has it, and says as what; empty: that is not needed.
	hold(ctx context.Context, commit, branch string) (ref string, err error)
	// bring checks a commit out in a working tree, with an index, and brings the contents that are not here.
	bring(ctx context.Context, commit, work, index string) error
}

// move is what a push does to one ref.
type move struct {
	ref string
	to  string // a commit; "" deletes the ref
	// leased moves the ref only from the commit from; "" is a ref that does not exist.
	leased bool
	from   string
}

// remote is an origin that is reached by its URL.
type remote struct {
	git door
	*Remote
}

func (r remote) list(ctx context.Context, patterns ...string) (remoteRefs, error) {
	return r.git.listRemote(ctx, *r.Remote, patterns...)
}

func (r remote) fetch(ctx context.Context, specs ...string) error {
	return r.git.fetch(ctx, *r.Remote, nil, specs...)
}

// hold does nothing: it has the base anyhow, and what is not pushed is gone.
func (remote) hold(context.Context, string, string) (string, error) { return "", nil }

func (remote) bring(context.Context, string, string, string) error { return nil } // Checkout did

// push pushes in one step. A lease is named in full, since one on "what was fetched" means nothing where nothing was.
func (r remote) push(ctx context.Context, moves []move) error {
	options := []string{"push", "--porcelain", "--atomic", "--no-verify", "--no-follow-tags", "--recurse-submodules=no",
		"--no-signed"}
	specs := []string{"--", r.URL}
	for _, m := range moves {
		spec := m.to + ":" + m.ref
		if m.leased {
			options = append(options, "--force-with-lease="+m.ref+":"+m.from)
		} else {
			spec = "+" + spec
		}
		specs = append(specs, spec)
	}
	err := r.outlast(ctx, 0, func() error {
		_, _, err := r.git.askOnce(ctx, *r.Remote, call{args: append(options, specs...)})
		return err
	})
	var e *commandError
	if !errors.As(err, &e) {
		return err
	}
	return r.rejected(e)
}

// rejected tells why a remote did not take a push.
func (r Remote) rejected(e *commandError) error {
	said := e.Stdout + e.Stderr
	for _, sign := range movedSigns {
		if strings.Contains(said, sign) {
			return &staleError{refusal(e)}
		}
	}
	why := refusal(e)
	if why == "" || passes(e) {
		return r.explain("pushing to", e)
	}
	words := cmp.Or(remoteWords(e.Stderr), why)
	if ofContent.MatchString(why) && !notContent.MatchString(words) {
		return &ContentError{r.shown(), words}
	}
	return fmt.Errorf("%s refused the push: %s", r.shown(), safetext.OneLine(words))
}

// movedSigns are how git says that a ref is not where we thought: by itself, or through the remote when it moved in
// between.
var movedSigns = []string{"(stale info)", "(fetch first)", "(non-fast-forward)", "cannot lock ref",
	"incorrect old value", "failed to update ref", "reference already exists"}

// ofContent are git's reasons for a refusal by who looks at what is pushed: a hook of the server, its rules, or the
// permission that files of workflows need.
var ofContent = regex.Lazy(`hook declined|rule violations|refusing to allow .* workflow`)

// notContent are words of a refusal that no other content changes: what a branch may be, who may push, in whose name,
// how commits are signed, and a server that takes nothing now.
var notContent = regex.Lazy(`(?i)GH006|\bprotected (branch|ref)|verified signature|through a pull request|being restricted|` +
	`\bbranch name|\b(author|committer)('s)? e-?mail|email privacy|not (allowed|authorized|permitted) to (push|write|create)|` +
	`\b(access|permission) denied|\bis (currently )?(archived|read.only|locked|disabled|suspended|frozen|under maintenance)`)

// refusal is the reason that git gives for the first ref that was not taken.
func refusal(e *commandError) string {
	for line := range strings.Lines(e.Stdout) {
		if rest, ok := strings.CutPrefix(line, "!\t"); ok && !strings.Contains(rest, "atomic push failed") {
			_, why, _ := strings.Cut(strings.TrimSpace(rest), "\t")
			return why
		}
	}
	return ""
}

// remoteWords is all that the remote itself says of a push, a line each: "GH006: Protected branch update failed for
// refs/heads/main."
func remoteWords(stderr string) string {
	var words []string
	for line := range strings.Lines(stderr) {
		said, ok := strings.CutPrefix(line, "remote:")
		if said = strings.TrimPrefix(strings.TrimSpace(said), "error: "); ok && said != "" {
			words = append(words, said)
		}
	}
	return safetext.FirstBytes(strings.Join(words, "\n"), mostRemoteWords)
}

// mostRemoteWords bounds what a remote says of a push, in bytes.
const mostRemoteWords = 8 << 10

// inTheWay are patterns of the refs that cannot be beside a ref: those above it, and all below it.
func inTheWay(ref string) []string {
	patterns := []string{ref + "/*"}
	for above := path.Dir(ref); above != "refs/heads"; above = path.Dir(above) {
		patterns = append(patterns, above)
	}
	return patterns
}

// inTheWay is the first of the refs that cannot be beside another one, of which it is the directory or which is its; ""
// without one.
func (refs remoteRefs) inTheWay(of string) string {
	for _, ref := range slices.Sorted(maps.Keys(refs.at)) {
		if strings.HasPrefix(ref, of+"/") || strings.HasPrefix(of, ref+"/") {
			return ref
		}
	}
	return ""
}
