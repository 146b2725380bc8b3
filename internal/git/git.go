// Package git is the door to git, always through the git binary (2.39 or newer). A Tree is a run's working tree in one
// of two shapes: the bot's own checkout, whose agent is another user and is not trusted, or the user's clone on a
// command line.
package git

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/proc"
)

// Remote is the repository that is fetched from and pushed to.
type Remote struct {
	URL string
	// Token goes to git in its environment alone: never to a command line, never to a file. "" is none.
	Token    string
	Username string // "" is x-access-token
	// Renew is asked for another token once, when the remote has refused one; nil: nobody has another.
	Renew func(ctx context.Context, refused string) (string, error)
	// Mirror is a repository of this machine that a checkout borrows objects from, so that they are not fetched; nobody
	// writes to it meanwhile but to add some. "" is none.
	Mirror string
	// Patience is for how long a remote is asked again that is away or has trouble of its own; 0: not at all.
	Patience time.Duration
}

// Identity is who the commits are by.
type Identity struct{ Name, Email string }

// Options are what a tree is opened with.
type Options struct {
	// Root is an absolute directory of our own, which outlives the process. The bot's whole checkout is in it; of a
	// command line what the harness knows of the clone is, and "" takes a directory in its .git for that, where an agent
	// may write.
	Root string
	// Scratch is an absolute directory of our own for what nobody needs after the process; "" is Root.
	Scratch  string
	Remote   Remote     // URL "" pushes nothing
	As       *proc.User // who the agent and the checks run as; nil is ourselves
	Env      []string   // what git is started with, NAME=value; GIT_* in it is dropped
	Identity Identity   // of the bot's commits; on a command line only when the user has none
	Task     string     // "issue-42": names the run record refs/ralph/runs/<task>
	// With is work that the base is to hold besides, merged onto it in this order. Of a run that is resumed it is in the
	// base already.
	With []Work
	// Onto is the name of the branch that the base is on, where the base is given as a commit.
	Onto string
	// Replaces is a commit of the run's branch with nothing of its own: a fresh run leaves it, where it would keep what
	// was there.
	Replaces string
	// Came is where a clone stood before a process of this run was killed: a ref or a commit. "" is where HEAD is. It
	// counts when HEAD is on the run's branch.
	Came string
	// Fresh begins at the base again. The work that is on the run's branch moves to wip/archive/…
	Fresh bool
	// Resume takes a killed run up again on a command line: what lies about in the tree is the agent's.
	Resume bool
	// Settled says of a run that is resumed that a commit holds all of the agent's: what lies about in the tree is the
	// user's all the same.
	Settled bool
	// Died says of a run that is resumed that its process did not come to its end: what the clone's configuration says may
	// be the agent's.
	Died bool
	// Killed says that a process of ours was killed in the clone, whatever it did there: it may have left locks.
	Killed bool
	// AllowDirty lets the run begin in a clone whose tracked files are modified: they are left out of it.
	AllowDirty bool
	// Own are paths of a clone, files or directories from its top, that belong to the run although nobody has committed
	// them: a plan's. They do not make the tree modified, and Adopt commits them.
	Own []string
	// Join lets the run go on on a branch that ralph has not made, when the clone stands on it: its user has made it for
	// the run. Such a branch is never set back; a fresh run begins where it stands.
	Join bool
	// Marks is the git directory of the clone that the tree is a working tree of besides, when it belongs to the run: what
	// is known of the run's branch is kept there, and whoever moves other branches may be the clone's user. "": the tree is
	// its user's.
	Marks string
	// Tips is a directory in which the runs of a clone note what they move, where no agent writes. "" is none.
	Tips string
	// Secrets are values that no commit may hold: the credentials that the agent's process has or could have come by.
	Secrets []string
	// Sign signs every commit that the harness makes on a branch of the run's; the agent's own stay as they are. nil signs
	// none.
	Sign *Signer
	// DryRun fetches and never pushes.
	DryRun bool
	Log    func(format string, args ...any) // nil is silent
}

// Tree is the working tree of one run. It is not safe for use by two goroutines at once.
type Tree struct {
	known known
	leaks leakRules
	o     Options
	git   door
	bot   bool
	work  string // the working tree
	dir   string // the harness's repository: the bot's bare one, or the one beside a clone (see repository.go)
	index string // the index that our commands use
	state string // a directory of ours that the working tree does not hold
	user  users  // of a command line: the clone's own repository

	base, baseTree, baseBranch string
	ground                     string    // the base before the work of others was merged onto it
	newest                     [2]string // where the base branch is, with its tree, when base is older than that
	branch                     string
	head, headTree             string   // newest commit of the run
	indexed                    string   // the commit that our own index is known to be at
	came                       place    // where a clone stood when it was opened
	kept                       []string // the user's untracked files that no list of excluded files hides
	links                      map[string]bool
	adopted                    adoption
	theirs                     bool   // the run's branch was made by the user
	marked                     bool   // it has not been ralph's before
	owes                       bool   // Adopt is still to be called
	record                     string // newest commit of the run record, "" before the first
	by                         string // who commits: "Name <email>"
	writer                     string // who the author of our commits is, in the same form
	pushed                     pushed
	pushing
	told       []string          // what the next commit's note has to tell
	handed     snapshotOf        // the agent's repository as we last wrote it
	handedAs   map[string]string // its refs
	tags       map[string]string // of the bot\'s remote, when it was fetched from
	given      map[string]string // the refs before the first turn
	modules    map[string]module // the submodules before it, by path
	firstLinks map[string]string // the commits that the run's first commit has of them
	headAt     string            // where the run's branch is known to be in the bot's repository
	made       []string          // directories to remove at the end

	// Of the harness's repository beside a clone.
	owned   map[string]*ownFile // its files
	who     []string            // who commits, as the environment says it
	indexAt stamp               // the index as the harness has left it; zero: nobody knows
	// modified are the user's modified files, each as the clone's index had it; mode "0" is a file that it had not.
	modified []entry
	marks    map[string][]string // files that the user has marked, by the option of update-index
	unseen   map[string]stamp    // of those, what lies in the working tree
}

// pushed is what the remote is known to have; "" is nothing.
type pushed struct{ branch, record string }

// pushing is what else pushes need to know.
type pushing struct {
	offered  []pushed          // what was pushed since the remote has last answered a push
	deleting RemoteRef         // on the remote, with the next push of the record; see DeleteWithRecord
	keeping  map[string]string // refs of work that is on no branch, to be pushed
}

// Dir is the working tree, an absolute path.
func (t *Tree) Dir() string { return t.work }

// Base is the commit that the run is measured against, a full hash.
func (t *Tree) Base() string { return t.base }

// BaseTree is the tree of the base commit.
func (t *Tree) BaseTree() string { return t.baseTree }

// BaseBranch is the branch that the base is on: "main"; "" when a command line's HEAD was detached.
func (t *Tree) BaseBranch() string { return t.baseBranch }

// Ground is the commit that the work of other runs was merged onto to make the base; the base itself where there was
// none.
func (t *Tree) Ground() string { return cmp.Or(t.ground, t.base) }

// Came is where a clone stood when it was opened: a full ref, or a commit where HEAD was detached.
func (t *Tree) Came() string { return cmp.Or(t.came.ref, t.came.commit) }

// Branch is the run's own branch.
func (t *Tree) Branch() string { return t.branch }

// Head is the newest commit of the run's branch, a full hash.
func (t *Tree) Head() string { return t.head }

// Resumed reports whether the run's branch held work of an earlier process when the tree was opened.
func (t *Tree) Resumed() bool { return t.head != t.base }

// UseBase measures the run against another commit: the one that its journal names.
func (t *Tree) UseBase(ctx context.Context, commit string) error {
	out, err := t.git.out(ctx, "rev-parse", "-q", commit+"^{commit}", commit+"^{tree}")
	ids := fields(out)
	if err != nil || len(ids) != 2 {
		if exists(filepath.Join(t.common(), "shallow")) {
			return fmt.Errorf("the clone is shallow and does not hold commit %.12s, which the run began from: run git fetch "+
				"--unshallow, then run again", commit)
		}
		return fmt.Errorf("the run began from commit %.12s, which is not in the repository any more: start it afresh", commit)
	}
	t.base, t.baseTree = ids[0], ids[1]
	return nil
}

// Renew gives the tree another token for its remote, when the one before is about to expire.
func (t *Tree) Renew(token string) { t.o.Remote.Token = token }

// Env is what the agent and the checks need in their environment to use git in the tree.
func (t *Tree) Env() []string {
	if t.bot {
		return nil
	}
	return []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.excludesFile", "GIT_CONFIG_VALUE_0=" + t.excludes()}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Close removes what the tree keeps outside of the working tree. The working tree itself stays.
func (t *Tree) Close() error {
	var first error
	if !t.bot && t.o.Root != "" {
		_ = os.Remove(t.openFile())
	}
	for _, dir := range t.made {
		if err := os.RemoveAll(dir); err != nil && first == nil {
			first = fmt.Errorf("removing %s: %w", dir, err)
		}
	}
	return first
}

func (t *Tree) log(format string, args ...any) {
	if t.o.Log != nil {
		t.o.Log(format, args...)
	}
}

// scratch is a directory for what nobody needs after the process.
func (t *Tree) scratch() string { return cmp.Or(t.o.Scratch, t.o.Root) }

// tell puts a sentence into the next commit's note.
func (t *Tree) tell(sentence string) {
	if !slices.Contains(t.told, sentence) {
		t.told = append(t.told, sentence)
	}
}

// common is where the objects are that the harness's repository has or borrows.
func (t *Tree) common() string {
	if t.bot {
		return t.dir
	}
	return t.user.common
}

// sparse are the patterns of a sparse checkout; nil: everything is checked out.
func (t *Tree) sparse() []byte {
	if f := t.owned["info/sparse-checkout"]; f != nil &&
		bytes.Contains(t.config(), []byte("[core]\n\tsparsecheckout = \"true\"")) {
		return f.text
	}
	return nil
}

func (t *Tree) ref() string       { return "refs/heads/" + t.branch }
func (t *Tree) recordRef() string { return recordRef(t.o.Task) }
func (t *Tree) excludes() string  { return filepath.Join(t.state, "excludes") }

func recordRef(task string) string { return "refs/ralph/runs/" + task }
