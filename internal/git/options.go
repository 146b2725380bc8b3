package git

import (
	"cmp"
	"crypto/sha1" // the names of git's objects
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/proc"
)

// Identity is who the commits are by.
type Identity struct{ Name, Email string }

// identity names who the commits are by.
func identity(id Identity) []string {
	return []string{
		"GIT_AUTHOR_NAME=" + id.Name, "GIT_AUTHOR_EMAIL=" + id.Email,
		"GIT_COMMITTER_NAME=" + id.Name, "GIT_COMMITTER_EMAIL=" + id.Email,
	}
}

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

func (o Options) log(format string, args ...any) {
	if o.Log != nil {
		o.Log(format, args...)
	}
}

// scratch is a directory for what no one needs after the process.
func (o Options) scratch() string { return cmp.Or(o.Scratch, o.Root) }

func (o Options) work() string { return filepath.Join(o.Root, "work") }

func (o Options) repository() string { return filepath.Join(o.Root, "repo.git") }

func (o Options) index() string { return filepath.Join(o.Root, "index") }

func (o Options) excludes() string { return filepath.Join(o.Root, "excludes") }

// hostConfig is what the bot's git reads instead of the machine's and the user's configuration. Only what git must find
// in a file is here: git takes safe.directory for its own children from nowhere else.
const hostConfig = `[safe]
	directory = *
[protocol]
	allow = never
[protocol "https"]
	allow = always
[protocol "http"]
	allow = always
[protocol "file"]
	allow = always
[protocol "ssh"]
	allow = always
[credential]
	helper =
[core]
	attributesFile = /dev/null
	sharedRepository = 0644
	commitGraph = false
[http]
	lowSpeedLimit = 1000
	lowSpeedTime = 120
`

// throwaway makes the bot's repository quick rather than durable: what counts is pushed, and no one opens it after its
// run.
var throwaway = []pair{{"core.fsync", "none"}, {"fastimport.unpackLimit", "1"}}

// botEnvironment shuts out every file of configuration but ours.
func botEnvironment(o Options) []string {
	return append(environment(o.Env),
		"HOME="+o.Root, "XDG_CONFIG_HOME="+filepath.Join(o.Root, "none"),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+filepath.Join(o.Root, "gitconfig"),
		"GIT_NO_LAZY_FETCH=1",
	)
}

// bareConfig is the configuration of a repository that others may read and not write.
const bareConfig = "[core]\n\trepositoryFormatVersion = 0\n\tbare = true\n\tsharedRepository = 0644\n"

// layOut makes the directories, the configuration and an empty repository of ours.
func (ob *objects) layOut(o Options) error {
	at := func(name string) string { return filepath.Join(o.repository(), name) }
	for _, dir := range []string{o.Root, o.work(), at(""), at("objects"), at("objects/info"), at("objects/pack"), at("refs"),
		at("refs/heads"), at("refs/tags")} {
		if err := errors.Join(os.MkdirAll(dir, 0o755), os.Chmod(dir, 0o755)); err != nil { // whatever the umask
			return fmt.Errorf("making the checkout: %w", err)
		}
	}
	for name, text := range map[string]string{
		filepath.Join(o.Root, "gitconfig"): hostConfig + "[core]\n\texcludesFile = " + quoted(o.excludes()) + "\n",
		o.excludes():                       toolsLeave + runtimeFiles, at("HEAD"): "ref: refs/heads/main\n", at("config"): bareConfig,
	} {
		if err := errors.Join(os.WriteFile(name, []byte(text), 0o644), os.Chmod(name, 0o644)); err != nil {
			return fmt.Errorf("making the checkout: %w", err)
		}
	}
	who := person(o.Identity.Name, o.Identity.Email)
	env := append(botEnvironment(o), identity(o.Identity)...)
	ob.common, ob.hash, ob.people, ob.sign = at(""), sha1.New, people{who, who}, o.Sign
	ob.git = door{dir: o.work(), pair: append(safe[:len(safe):len(safe)], throwaway...),
		env: append(env, "GIT_DIR="+at(""), "GIT_WORK_TREE="+o.work(), "GIT_INDEX_FILE="+o.index())}
	return nil
}

// runtimeFiles are ralph's own files in a working tree, which are in no commit of the work.
const runtimeFiles = `# ralph
**/.ralph/runs/
**/.ralph/guardrail_*.log
**/.ralph/verify_*.log
**/.ralph/prompt_*.txt
**/.ralph/settings.local.json
**/.ralph/supervise/
**/.ralph/children/
**/.ralph/bus.jsonl
**/.ralph/summary.md
**/.venv-ralph/
.ralph_state.md
.ralph.lock
.ralph-active
`

// toolsLeave starts the list of files that are in no commit of a run: what known tools leave in a working tree. Where a
// repository's own rules say otherwise, they count.
var toolsLeave = "# what tools leave\n" + strings.Join([]string{"node_modules/", "__pycache__/", ".pytest_cache/", ".mypy_cache/", ".ruff_cache/", ".tox/", ".nox/",
	".coverage", ".coverage.*", ".nyc_output/", ".gradle/", ".DS_Store", "Thumbs.db", "core.[0-9]*", "!core.*.*", "npm-debug.log*",
	"yarn-error.log*", "nohup.out", "hs_err_pid*.log"}, "\n") + "\n"

// quoted is a value of a configuration file.
func quoted(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(value) + `"`
}

func recordRef(task string) string { return "refs/ralph/runs/" + task }

// keptRefs is where work is kept that is no part of the run's branch: refs/ralph/kept/<task>/….
const keptRefs = "refs/ralph/kept/"

// tipRefs is where the newest commit of a task is held until its branch has it.
const tipRefs = "refs/ralph/tip/"

// agentRef is where the agent's commits are kept in our repository while we look at them.
const agentRef = "refs/ralph/agent"

// TipTask is the task that a ref holds the newest commit of.
func TipTask(ref string) (task string, ok bool) { return strings.CutPrefix(ref, tipRefs) }

// removeLocks removes every lock in a repository that no one but us uses.
func removeLocks(dir string) {
	for _, lock := range locksBelow(dir) {
		_ = os.Remove(lock) // the next command reports what is in the way
	}
}
