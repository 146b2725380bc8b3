// Package git is the door to git, always through the git binary (2.39 or newer). A Tree is a run's working tree: a
// checkout of its own, of a remote or over the objects of a person's clone, whose agent is not trusted.
package git

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// Remote is the repository that is fetched from and pushed to.
type Remote struct {
	URL string
	// Token goes to git in its environment alone: never to a command line, never to a file. "" is none.
	Token    string
	Username string // "" is x-access-token
	// Renew is asked for another token once, when the remote has refused one; nil: no one has another.
	Renew func(ctx context.Context, refused string) (string, error)
	// Mirror is a repository of this machine that a checkout borrows objects from, so that they are not fetched; no one
	// writes to it meanwhile but to add some. "" is none.
	Mirror string
	// Patience is for how long a remote is asked again that is away or has trouble of its own; 0: not at all.
	Patience time.Duration
	Log      func(format string, args ...any) // says that the remote is away; nil is silent
}

// Identity is who the commits are by.
type Identity struct{ Name, Email string }

// Options are what a tree is opened with.
type Options struct {
	// Root is an absolute directory of our own, which outlives the process: the whole checkout is in it.
	Root string
	// Scratch is an absolute directory of our own for what no one needs after the process; "" is Root.
	Scratch  string
	Remote   Remote     // of Checkout; URL "" pushes nothing
	As       *proc.User // who the agent and the checks run as; nil is ourselves
	Env      []string   // what git is started with, NAME=value; GIT_* in it is dropped
	Identity Identity   // of the run's commits; in a checkout of a clone only when its user has none
	Task     string     // "issue-42": names the run record refs/ralph/runs/<task>
	// With is work that the base holds besides, merged onto it in this order. Of a run that is resumed it is in the base
	// already.
	With []Work
	// Onto is the name of the branch that the base is on, where the base is given as a commit.
	Onto string
	// Fresh starts at the base again. The work that is on the run's branch moves to wip/archive/…
	Fresh bool
	Earlier
	// Secrets are values that no commit may hold: the credentials that the agent's process has or could have come by.
	Secrets []string
	// Sign signs every commit that the harness makes on a branch of the run's; the agent's own stay as they are. nil signs
	// none.
	Sign *Signer
	// DryRun fetches and never pushes.
	DryRun bool
	Log    func(format string, args ...any) // nil is silent
}

// Earlier is what a run of a clone has of earlier processes.
type Earlier struct {
	Resume bool
	// Ours lets the run have a branch that exists already.
	Ours bool
	// Replaces are commits with nothing of their own that the run's branch or tip had: they are not kept, and no work.
	Replaces []string
	// Unsettled says of a run that is resumed that it was stopped within a turn: what is in its checkout is the agent's.
	Unsettled bool
	// Killed says that a process of ours was killed in the clone: it may have left locks.
	Killed bool
}

// Tree is the working tree of one run: a checkout with a repository of the agent's own in it, and a repository of the
// harness's beside it. It is not safe for use by two goroutines at once.
type Tree struct {
	history
	submodules
	origin origin
	record string // newest commit of the run record, "" before the first
	pushed pushed
	pushing
	aside bool // what the branch has is of another run, and is kept elsewhere
}

// history is the run's branch: where it started, its newest commit, and the repository that shows it to the agent.
type history struct {
	checkout
	basis
	leaks          leakRules
	head, headTree string            // newest commit of the run
	told           []string          // what the next commit's note has to tell
	handedAs       map[string]string // the refs of the agent's repository
	given          map[string]string // those before the first turn
	tags           map[string]string // of the origin
	keeping        map[string]string // refs of work that is on no branch, to be pushed
}

// checkout is a working tree, with the harness's repository and its index beside it.
type checkout struct {
	objects
	o       Options
	branch  string
	work    string          // the working tree
	dir     string          // the harness's repository
	index   string          // the index that our commands use
	indexed string          // the commit that our own index is known to be at
	headAt  string          // where the run's branch is known to be in the harness's repository
	links   map[string]bool // the submodules of the index, by path
	settings
}

func newHistory(o Options, branch string) history {
	return history{leaks: leakRules{values: o.Secrets},
		checkout: checkout{o: o, branch: branch, work: o.work(), dir: o.repository(), index: o.index()}}
}

// basis is what a run is measured against.
type basis struct {
	base, baseTree, baseBranch string
	ground                     string    // the base before the work of others was merged onto it
	baseNow                    string    // where the base branch has moved to since; empty: it is not known to have
	seen                       string    // where the origin had the base branch; empty: the run's branch held all of it
	seenAt                     time.Time // when it was asked for that
	newest                     [2]string // where the base branch is, with its tree, when base is older than that
}

// submodules are those of a run's tree.
type submodules struct {
	modules    map[string]module   // those of the origin before the first turn, by path
	firstLinks map[string][]string // the commits that the run's first commit and newer bases have of them
}

// pushed is what the remote is known to have; "" is nothing.
type pushed struct {
	branch, record string
	tip            string // of a clone: the commit that was held there when the tree was opened
}

// pushing is what else pushes need to know.
type pushing struct {
	offered  []pushed  // what was pushed since the remote has last answered a push
	whole    bool      // the branch is pushed without a commit of the run, too
	deleting RemoteRef // on the remote, with the next push of the record; see DeleteWithRecord
}

// Dir is the working tree, an absolute path.
func (t *checkout) Dir() string { return t.work }

// Base is the commit that the run is measured against, a full hash.
func (t *history) Base() string { return t.base }

// BaseTree is the tree of the base commit.
func (t *history) BaseTree() string { return t.baseTree }

// BaseBranch is the branch that the base is on: "main"; "" when a command line's HEAD was detached.
func (t *history) BaseBranch() string { return t.baseBranch }

// Ground is the commit that the work of other runs was merged onto to make the base; the base itself where there was
// none.
func (t *history) Ground() string { return cmp.Or(t.ground, t.base) }

// Branch is the run's own branch.
func (t *checkout) Branch() string { return t.branch }

// Head is the newest commit of the run's branch, a full hash.
func (t *history) Head() string { return t.head }

// Newest is the run's newest commit, as one that has changed nothing.
func (t *history) Newest() loop.Commit {
	return loop.Commit{SHA: t.head, Tree: t.headTree, Empty: true, NoDiff: t.headTree == t.baseTree}
}

// Resumed reports whether the run's branch held work of an earlier process when the tree was opened.
func (t *history) Resumed() bool { return t.head != t.base }

// UseBase measures the run against another commit: the one that its journal names.
func (t *history) UseBase(ctx context.Context, commit string) error {
	out, err := t.git.out(ctx, "rev-parse", "-q", commit+"^{commit}", commit+"^{tree}")
	ids := strings.Fields(out)
	if err != nil || len(ids) != 2 {
		if exists(filepath.Join(t.common, "shallow")) {
			return fmt.Errorf("the clone is shallow and does not hold commit %.12s, which the run began from: run git fetch "+
				"--unshallow, then run again", commit)
		}
		return fmt.Errorf("the run began from commit %.12s, which is no longer in the repository: start over with a fresh run", commit)
	}
	t.base, t.baseTree = ids[0], ids[1]
	return nil
}

// Renew gives the tree another token for its remote, when the one before is about to expire.
func (t *Tree) Renew(token string) { t.o.Remote.Token = token }

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func (o Options) log(format string, args ...any) {
	if o.Log != nil {
		o.Log(format, args...)
	}
}

// scratch is a directory for what no one needs after the process.
func (o Options) scratch() string { return cmp.Or(o.Scratch, o.Root) }

// tell puts a sentence into the next commit's note.
func (t *history) tell(sentence string) {
	if !slices.Contains(t.told, sentence) {
		t.told = append(t.told, sentence)
	}
}

func (t *checkout) ref() string       { return "refs/heads/" + t.branch }
func (t *checkout) recordRef() string { return recordRef(t.o.Task) }

func recordRef(task string) string { return "refs/ralph/runs/" + task }
