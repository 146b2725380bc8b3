package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/proc"
)

// The modes of the setting sandbox.
const (
	Auto          = "auto"    // the best that works here, and off when none does
	Require       = "require" // one in which everything holds, or none at all
	Bwrap         = "bwrap"
	Landlock      = "landlock"
	Container     = "container"
	DockerSandbox = "docker-sandbox"
	Off           = "off"
)

// allSockets lets processes in the sandbox landlock make sockets of which no one can say whom they speak to.
const allSockets = "all"

// Options are what is kept in boxes, and what it may do there.
type Options struct {
	Mode string
	Trees
	// Scratch is where files of the run are made: homes, sockets. It is passed through by As. Empty: the system's
	// directory for temporary files.
	Scratch string
	Home    string     // HOME of what runs; nothing of it is seen but what is listed here and what PATH leads to
	As      *proc.User // whom it runs as; nil: ourselves
	Parent  []string   // our environment, NAME=value: where tools are, and the proxy that leads out of here
	Paths
	Reach
	Agents []Agent // those that take turns
	Image  string  // of mode container
	// Log tells a person: a line that says what was chosen, and one for each host that is denied.
	Log func(format string, args ...any)
	Job *Job // nil: a person's own machine
	Consent

	self     string // our own program
	settling func() // lets a worktree settle that is kept in step with a machine; nil: a pause
}

// Trees are where agents and checks work.
type Trees struct {
	Dir   string // the worktree; when it is a part of a clone, the whole of that may be written
	Hooks bool   // make .git/hooks where it is missing, so that nothing can be put there
	// Judge is the tree that checks run in, which need not exist yet; where a box can be given another view of files,
	// it is seen there at the worktree's own path. Objects are the directories of objects that its repository borrows
	// from. Empty: checks run in the worktree.
	Judge   string
	Objects []string
}

// Reach is whom what is in a box may speak to.
type Reach struct {
	Network []string // hosts, for everything
	Sockets string   // of mode landlock: "all", or anything else for TCP alone where no more can be held
	Userns  bool     // checks may make namespaces of users
}

// Paths are absolute ones, besides the worktree.
type Paths struct {
	Writable []string // may be written, too
	Readable []string // must be seen, though they lie where nothing is
	Hide     []string // directories that are not seen, whatever a variable or a link says of them, but for Readable
}

// Consent is what a person or a setting has agreed to.
type Consent struct {
	// None hears, before Auto falls back to no sandbox, why none works; its error is why nothing is run. nil: no one is
	// asked.
	None        func(why string) error
	Credentials bool // agents may read the git credentials of the worktree's repository in a job, where no box hides them
}

// Job is a job of GitHub's. No one watches, and what is here has rights on a repository: Auto takes no less than a box
// in which an agent cannot reach our own process.
type Job struct {
	Install bool // bubblewrap may be installed here, by apt-get and sysctl
}

// Agent is what an agent needs of this machine, beyond what a check gets.
type Agent struct {
	Name  string   // as ralph knows it: "claude"; "" is any program
	Hosts []string // of its model: "api.anthropic.com", "localhost:8080"
	Files []File   // in Home
}

// File is something in Home that an agent uses.
type File struct {
	Path   string // from Home, or absolute
	Access Access
}

// Access a file is given.
type Access int

// Its own file to change, as logins are renewed; to read; a copy that is thrown away.
const (
	Shared Access = iota
	Shown
	Copied
)

// Use is what a box is for.
type Use int

// What runs: a check, or a setup on a commit of the run's; an agent that works; an agent that only reads; the setup
// before the run's first turn; the same in the agent's tree.
const (
	Checks Use = iota
	Works
	Reads
	Setup
	SetupForAgent
)

// UnavailableError says in a sentence why a sandbox cannot be had here.
type UnavailableError struct{ Why string }

func (e *UnavailableError) Error() string { return e.Why }

// ready completes and checks the options.
func (o *Options) ready() (err error) {
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	if o.self == "" {
		if o.self, err = os.Executable(); err != nil {
			return fmt.Errorf("finding our own program: %w", err)
		}
	}
	if o.Dir, err = real(o.Dir); err != nil {
		return fmt.Errorf("finding the worktree: %w", err)
	}
	if o.Home == "" {
		o.Home = proc.Value(o.Parent, "HOME")
	}
	if home, err := real(o.Home); err == nil {
		o.Home = home
	}
	if o.Judge != "" {
		if o.Judge, err = filepath.Abs(o.Judge); err != nil {
			return fmt.Errorf("finding the tree for the checks: %w", err)
		}
		if parent, err := real(filepath.Dir(o.Judge)); err == nil { // it is made below that
			o.Judge = filepath.Join(parent, filepath.Base(o.Judge))
		}
	}
	for i, path := range o.Writable {
		at, err := real(path)
		if err != nil {
			return &UnavailableError{fmt.Sprintf("the setting sandboxWritable names %s, which does not exist: create it, or remove it from the setting", path)}
		}
		if over(at, o.Home) {
			return &UnavailableError{fmt.Sprintf("the setting sandboxWritable names %s, which holds your home, and with it every key in it: name only directories that must be writable", path)}
		}
		o.Writable[i] = at
	}
	return nil
}

// hosts are those of the agents' models.
func (o *Options) hosts() (hosts []string) {
	for _, a := range o.Agents {
		hosts = append(hosts, a.Hosts...)
	}
	return hosts
}

// own are the directories that everything of ours is in: homes and trees of others are there, and the sockets of
// their boxes.
func (o *Options) own() (dirs []string) {
	for _, dir := range []string{o.Scratch, proc.Value(o.Parent, "TMPDIR"), proc.Value(o.Parent, "HOME")} {
		if filepath.IsAbs(dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// inTree reports whether a directory is in the run's own tree.
func (o *Options) inTree(dir string) bool { return over(clone(o.Dir, o.Home), dir) }

// judged reports whether a directory is in the tree that checks run in, and where that is in a box: at the worktree's
// own path.
func (o *Options) judged(dir string) (at string, ok bool) {
	if o.Judge == "" || dir == "" {
		return dir, false
	}
	if at, err := real(dir); err == nil {
		dir = at
	}
	if !over(o.Judge, dir) {
		return dir, false
	}
	rel, _ := filepath.Rel(o.Judge, dir)
	return filepath.Join(clone(o.Dir, o.Home), rel), true
}

// turn reports whether it is an agent that runs.
func (u Use) turn() bool { return u == Works || u == Reads }

// dirName is the name of a use's directory.
func (u Use) dirName() string {
	return map[Use]string{Setup: "setup", SetupForAgent: "agent", Checks: "checks", Works: "agent", Reads: "reader"}[u]
}

// real is a path without links.
func real(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// over reports whether a path is another or is above it.
func over(path, other string) bool {
	if path == "" || other == "" {
		return false
	}
	rel, err := filepath.Rel(path, other)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// clone is the top of the clone that a directory is in, or the directory itself outside of one. A home is no clone.
func clone(dir, home string) string {
	for at := dir; at != "/" && at != "." && !over(at, home); at = filepath.Dir(at) {
		if exists(filepath.Join(at, ".git")) {
			return at
		}
	}
	return dir
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// missing reports whether an error says that something does not exist, or not for us.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)
}

// inContainer is where a container action finds the directories of its runner.
const inContainer = "/github"

// runnerDirs are variables that name directories of the runner.
var runnerDirs = []string{"RUNNER_TEMP", "RUNNER_WORKSPACE", "GITHUB_WORKSPACE"}

// runnerFiles are variables that name files of the runner.
var runnerFiles = []string{"GITHUB_EVENT_PATH", "GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STATE",
	"GITHUB_STEP_SUMMARY"}

// ofRunner are the directories and files of the runner that our environment names.
func ofRunner(env []string) (dirs, files []string) {
	if proc.Value(env, "GITHUB_ACTIONS") != "" {
		dirs = append(dirs, inContainer)
	}
	for _, name := range runnerDirs {
		if dir := proc.Value(env, name); filepath.IsAbs(dir) {
			dirs = append(dirs, dir)
		}
	}
	for _, name := range runnerFiles {
		if file := proc.Value(env, name); filepath.IsAbs(file) {
			files = append(files, file)
		}
	}
	// all work of a runner is beside its _temp, and the runner itself, with its login, around that
	temp := proc.Value(env, "RUNNER_TEMP")
	if work := filepath.Dir(temp); filepath.IsAbs(temp) && filepath.Base(temp) == "_temp" {
		dirs = append(dirs, work)
		if top := filepath.Dir(work); exists(filepath.Join(top, ".runner")) || exists(filepath.Join(top, ".credentials")) {
			dirs = append(dirs, top)
		}
	}
	return dirs, files
}

// moduleCache is where this machine keeps the Go modules that it has fetched; empty: nowhere.
func moduleCache(o Options) string {
	dir := proc.Value(o.Parent, "GOMODCACHE")
	if dir == "" {
		path, _, _ := strings.Cut(proc.Value(o.Parent, "GOPATH"), string(filepath.ListSeparator))
		if path == "" {
			path = filepath.Join(o.Home, "go")
		}
		dir = filepath.Join(path, "pkg", "mod")
	}
	if dir = filepath.Join(dir, "cache", "download"); filepath.IsAbs(dir) && isDir(dir) {
		return dir
	}
	return ""
}
