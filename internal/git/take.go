package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/secret"
)

// taken is what happened to the agent's own commits.
type taken struct {
	parent string // the parent of our commit; the run's branch is there
	steady bool   // nothing had moved: our index is at parent
	// message is that of our commit. One that has it is ours, made by a process that was killed before it could say so.
	message string
	notes   []string // what was out of the ordinary
	// brought is the branch from which the agent's work was put on the run's, if any.
	brought string
}

// take finds where the agent left its repository and brings the run's branch and our index there, as far as that
// descends from since. All of the agent's work is then in the working tree, in the index or below parent; what is not
// is named in the notes.
func (t *history) take(ctx context.Context, since, message string) (taken, error) {
	k := taken{parent: since, message: message}
	l, err := t.left(ctx, &k)
	if err != nil {
		return k, err
	}
	if l == nil || l.commit == since && t.head == since && maps.Equal(l.refs, t.handedAs) {
		if l != nil {
			k.steady, k.notes = t.indexed == since, append(k.notes, t.wandered(l.ref)...)
		}
		return k, t.setHead(since)
	}
	if err := t.choose(ctx, &k, since, *l); err != nil {
		return k, err
	}
	others, err := t.elsewhere(ctx, k, *l)
	if err != nil {
		return k, err
	}
	k.notes = append(k.notes, others...)
	return k, t.setHead(k.parent)
}

// left reads where the agent left HEAD and the refs; nil where nothing of it can be read.
func (t *history) left(ctx context.Context, k *taken) (*left, error) {
	l, err := readAgents(t.work)
	if halfDoneIn(filepath.Join(t.work, ".git")) {
		k.notes = append(k.notes, unfinished)
	}
	if err != nil {
		k.notes = append(k.notes, unreadable(err))
		return nil, nil
	}
	if l.commit == t.head && maps.Equal(l.refs, t.handedAs) {
		return l, nil
	}
	if err := t.absorb(ctx, *l); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		k.notes = append(k.notes, "the agent's commits cannot be read; its files were kept")
		return nil, nil
	}
	return l, nil
}

// choose sets the parent of our commit, and makes our index hold what the agent has committed.
func (t *history) choose(ctx context.Context, k *taken, since string, l left) error {
	if t.filter != "" && l.commit != since {
		k.notes = append(k.notes, unfiltered("the agent's files were kept, its commits were not", t.filter))
		return t.indexAs(ctx, l.commit)
	}
	tip := since // of the run's branch, as far as it has continued
	on, err := t.git.descends(ctx, since, l.refs[t.ref()])
	if on {
		tip = l.refs[t.ref()]
	}
	if err == nil {
		on, err = t.git.descends(ctx, tip, l.commit)
	}
	if err != nil {
		return err
	}
	switch {
	case on:
		k.parent = l.commit
		k.notes = append(k.notes, t.wandered(l.ref)...)
	case l.ref == t.ref() || l.commit == "" || t.git.meet(ctx, tip, l.commit) == "":
		k.parent = tip
		k.notes = append(k.notes, rewrote)
	default:
		k.parent = tip
		k.notes = append(k.notes, t.wandered(l.ref)...)
		return t.bringBack(ctx, k, l)
	}
	if err := t.mute(ctx, k, since); err != nil {
		return err
	}
	return t.indexAs(ctx, l.commit)
}

// unfiltered says why commits of an agent's are not taken where contents have to pass a filter: its git may have gone
// without, and then a secret is in them as it is.
func unfiltered(what, filter string) string {
	return fmt.Sprintf("%s, since the filter %q must pass all that is stored", what, filter)
}

// rewrote notes a HEAD that does not continue from the run's branch.
const rewrote = "the agent had rewritten history; its files were kept, the rewritten commits were not"

// mute keeps the files of the agent's commits, and not the commits, when their messages would do something on GitHub.
func (t *history) mute(ctx context.Context, k *taken, since string) error {
	if k.parent == since {
		return nil
	}
	acts, err := t.acts(ctx, *k, since, cmp.Or(t.baseNow, since))
	if err != nil || !acts {
		return err
	}
	k.parent = since
	k.notes = append(k.notes, "a message of the agent's commits mentions someone, closes something, keeps workflows "+
		"from running or hides something; its files were kept, its commits were not")
	return nil
}

// wandered notes a HEAD that is not on the run's branch.
func (t *history) wandered(ref string) []string {
	switch {
	case ref == t.ref():
		return nil
	case ref == "":
		return []string{"the agent had left the run's branch"}
	}
	return []string{fmt.Sprintf("the agent had switched to %q", short(ref))}
}

// moved lists the refs that differ from how they were handed over: those that are neither the run's own nor where the
// agent left HEAD.
func (t *history) moved(l left) (changed []string) {
	before := t.handedAs
	for _, ref := range union(before, l.refs) {
		if before[ref] != l.refs[ref] && ref != t.ref() && ref != t.recordRef() && !strings.HasPrefix(ref, keptRefs) {
			changed = append(changed, ref)
		}
	}
	return changed
}

// elsewhere says what the agent did to refs other than the run's own. Commits that are nowhere else are kept: its
// repository is made again.
func (t *history) elsewhere(ctx context.Context, k taken, l left) (notes []string, err error) {
	changed := slices.DeleteFunc(t.moved(l), func(ref string) bool { return ref == k.brought || l.refs[ref] == "" })
	for i, ref := range changed {
		if i == mostNamed {
			return append(notes, fmt.Sprintf("%d other refs were moved", len(changed)-i)), nil
		}
		in, err := t.git.descends(ctx, l.refs[ref], k.parent)
		if err != nil {
			return notes, err
		}
		if in {
			continue
		}
		note, err := t.keepRef(ctx, ref, l.refs[ref])
		if err != nil {
			return notes, err
		}
		if note != "" {
			notes = append(notes, note)
		}
	}
	return notes, nil
}

// acting finds what a commit's message does once it is pushed or merged: it mentions someone, closes an issue, or says
// in a trailer of ours what it is a part of.
var acting = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?im)(^|[^\w.+-])@[a-z0-9]` +
		`|\b(clos(e|es|ed)|fix(es|ed)?|resolv(e|es|ed))\b:?\s+([\w.-]+/[\w.-]+)?(#\d|GH-\d)` +
		`|\b(clos(e|es|ed)|fix(es|ed)?|resolv(e|es|ed))\b:?\s+https?://` +
		`|^ralph-[a-z]+:`)
})

// acts reports whether a message of the commits after known ones does anything by itself, keeps other workflows from
// running, or has something in it that no one sees, or a name beside it has. Messages of the agent's are text
// from outside, and what is on GitHub is read as its own commands there.
func (o *objects) acts(ctx context.Context, k taken, known ...string) (bool, error) {
	messages, err := o.git.out(ctx, slices.Concat([]string{"log", "--format=%an%n%cn%n%B", k.parent, "--not"}, known, []string{"--"})...)
	if err != nil {
		return false, fmt.Errorf("reading the messages of the agent's commits: %w", err)
	}
	messages = strings.ReplaceAll(messages, strings.TrimSpace(k.message), "")
	return acting().MatchString(messages) || safetext.WithoutSkips(messages) != messages ||
		safetext.Visible(messages) != messages, nil
}

// bringBack is for an agent that has gone to another commit, which the run's branch does not lead to: what it changed
// there is put on top of the run's branch, and the working tree is brought back to that.
func (t *history) bringBack(ctx context.Context, k *taken, l left) error {
	if err := t.indexAs(ctx, l.commit); err != nil {
		return err
	}
	if _, _, err := t.stage(ctx, l.commit, false); err != nil {
		return err
	}
	tree, there, err := t.treesOf(ctx, l.commit)
	if err != nil {
		return err
	}
	made := l.commit
	switch {
	case tree == there && (l.ref == "" || t.handedAs[l.ref] == l.commit): // it only looked around
		k.notes = append(k.notes, "nothing was changed there, and the run continues")
		return t.lay(ctx, k.parent, true)
	case tree != there:
		made, err = t.objects.commit(ctx, newCommit{tree: tree, parents: []string{l.commit},
			message: "ralph: what was changed on another branch"})
		if err != nil {
			return fmt.Errorf("keeping what was changed elsewhere: %w", err)
		}
	}
	k.brought = l.ref
	merged, _, err := t.mergeTrees(ctx, k.parent, made)
	switch {
	case err != nil && exit(err) < 0:
		return err
	case merged != "":
		k.notes = append(k.notes, "what was changed there is put on the run's branch")
		return t.lay(ctx, merged, true)
	}
	where, err := t.keepCommit(ctx, made)
	if err != nil {
		return err
	}
	k.notes = append(k.notes, fmt.Sprintf("what was changed there does not fit on the run's branch; it is kept as %s",
		where))
	return t.lay(ctx, k.parent, true)
}

// keepCommit keeps a commit that is on no branch, and says where.
func (t *history) keepCommit(ctx context.Context, commit string) (ref string, err error) {
	ref = fmt.Sprintf("%s%s/%.12s", keptRefs, t.o.Task, commit)
	found, err := t.leaks.leaksIn(ctx, &t.objects, t.base, commit)
	if err != nil {
		return "", err
	}
	if found.any() {
		return "", errors.New("what was changed elsewhere must not be pushed: " + strings.Join(found.notes(), "; "))
	}
	if t.keeping == nil {
		t.keeping = map[string]string{}
	}
	t.keeping[ref] = commit
	return ref, nil
}

// keepRef keeps what the agent committed elsewhere in a repository that is thrown away, and says so in a sentence.
func (t *history) keepRef(ctx context.Context, name, commit string) (note string, err error) {
	if t.filter != "" {
		return unfiltered("what the agent has left in "+name+" is not kept", t.filter), nil
	}
	of, err := t.git.out(ctx, "rev-parse", "--verify", "-q", commit+"^{commit}")
	if exit(err) > 0 {
		return "", nil // it leads to no commit
	}
	if err != nil {
		return "", err
	}
	ref, err := t.keepCommit(ctx, strings.TrimSpace(of))
	if err != nil && ctx.Err() == nil {
		return fmt.Sprintf("the agent has left work in %s that is not in the run's commit; it could not be kept: %v",
			name, err), nil
	}
	return fmt.Sprintf("the agent has left work in %s that is not in the run's commit; it is kept as %s", name, ref), err
}

// absorb fetches the commits of the agent's HEAD and refs. Git's serving side is made for repositories that are not
// trusted: it runs nothing of theirs.
func (t *history) absorb(ctx context.Context, l left) error {
	specs := []string{"+HEAD:" + agentRef}
	if l.commit == "" {
		specs = nil
	}
	for _, ref := range t.moved(l) {
		if l.refs[ref] != "" && len(specs) <= mostNamed {
			specs = append(specs, "+"+ref+":"+agentRef+"s/"+ref)
		}
	}
	if own := l.refs[t.ref()]; own != "" && own != l.commit {
		specs = append(specs, "+"+t.ref()+":"+agentRef+"s/own")
	}
	if len(specs) == 0 {
		return nil
	}
	return t.git.absorb(ctx, t.work, specs...)
}

func (d door) absorb(ctx context.Context, from string, specs ...string) error {
	args := []string{"fetch", "-q", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules",
		"--no-auto-maintenance", "--", from}
	_, _, err := d.run(ctx, call{pair: []pair{{"transfer.fsckObjects", "true"}}, args: append(args, specs...)})
	return err
}

// AcceptCredentials says which texts that look like a credential someone has accepted, by the file and the mark that
// would be there. Until it is called, no one has.
func (t *history) AcceptCredentials(accepted func(path string, m secret.Mark) bool) {
	t.leaks.accepted = accepted
}
