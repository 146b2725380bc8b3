// Package sandbox makes boxes (proc.Box) that agents and checks run in, and says what holds in them.
package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

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
	Dir  string // the worktree; when it is a part of a clone, the whole of that may be written
	// Scratch is where files of the run are made: homes, sockets. It is passed through by As. Empty: the system's
	// directory for temporary files.
	Scratch string
	Home    string     // HOME of what runs; nothing of it is seen but what is listed here and what PATH leads to
	As      *proc.User // whom it runs as; nil: ourselves
	Parent  []string   // our environment, NAME=value: where tools are, and the proxy that leads out of here
	Paths
	Network []string // hosts that everything in a box may speak to
	Agents  []Agent  // those that take turns
	Sockets string   // of mode landlock: "all", or anything else for TCP alone where no more can be held
	Image   string   // of mode container
	Userns  bool     // checks may make namespaces of users
	Resumed bool     // someone may have changed the worktree since the sandbox last saw it
	Hooks   bool     // make .git/hooks where it is missing, so that nothing can be put there
	// Judge is the tree that checks run in, which need not be there yet; where a box can be given another view of files,
	// it is seen there at the worktree's own path. Objects are the directories of objects that its repository borrows
	// from. Empty: checks run in the worktree.
	Judge   string
	Objects []string
	// Log tells a person: a line that says what was chosen, and one for each host that is denied.
	Log func(format string, args ...any)

	Job *Job // nil: a person's own machine
	Consent
	self     string // our own program
	settling func() // lets a worktree settle that is kept in step with a machine; nil: a pause
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
	// At is where the agent looks for it; empty: at Path.
	At string
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

// UnavailableError says why what was asked for cannot be had here. It is a sentence, for the person who asked.
type UnavailableError struct{ Why string }

func (e *UnavailableError) Error() string { return e.Why }

// Sandbox is what a run's processes are kept in.
type Sandbox struct {
	Mode     string // Bwrap, Landlock, Container, DockerSandbox or Off
	Complete bool   // everything holds: files, processes, network
	Line     string // what was chosen, what holds and what does not

	o       Options
	view    visiblePaths
	scratch string
	// borrowed are the directories that the worktree's repository has objects from.
	borrowed []string
	gates    map[Use]*egress
	maker    maker
	counter  atomic.Int64
	mu       sync.Mutex
	homes    homes
	// base has the caches that the setup and the checks fill on the base commit.
	base         string
	sealedCaches bool    // no one writes there any more
	layered      bool    // a box may mount, and lays its own caches over others
	own          []layer // the user's caches
	cleanup      []func()
}

// maker makes boxes of one mode.
type maker interface {
	// enter turns what is to be run into what is run.
	enter(u Use, s proc.Spec) (proc.SandboxedCommand, error)
}

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

// ObjectsSeen are the directories of Options.Objects as checks see them; nil: where they are. Empty and not nil: none
// of them is there.
func (s *Sandbox) ObjectsSeen() []string {
	if s != nil && s.Mode == DockerSandbox {
		return []string{}
	}
	if !s.Mapped() {
		return nil
	}
	seen := []string{}
	for i := range s.o.Objects {
		seen = append(seen, objectsAt(i))
	}
	return seen
}

// Close throws away what the run's boxes have used.
func (s *Sandbox) Close() {
	if s == nil {
		return
	}
	for i := len(s.cleanup) - 1; i >= 0; i-- {
		s.cleanup[i]()
	}
	s.cleanup = nil
}

// say tells what was chosen, what holds and what does not, and why it is not a better one.
func (s *Sandbox) say(not []string) {
	if s.ownHomes() && !s.layered && len(s.ownCaches()) > 0 {
		s.Line += "; your caches cannot be mounted, so the first run from a base commit builds and downloads everything again"
	}
	if len(not) > 0 {
		s.Line += " (not taken: " + strings.Join(not, "; ") + ")"
	}
	if s.o.Log != nil {
		s.o.Log("%s", s.Line)
		s.sayCredentials()
	}
}

// Box is what something is run in; nil when the sandbox is off.
func (s *Sandbox) Box(u Use) proc.Box {
	if s == nil || s.maker == nil {
		return nil
	}
	return box{s, u}
}

type box struct {
	s *Sandbox
	u Use
}

// Enter implements proc.Box.
func (b box) Enter(s proc.Spec) (proc.SandboxedCommand, error) {
	if b.u != Reads {
		return b.s.maker.enter(b.u, s)
	}
	end, err := b.s.read()
	if err != nil {
		return proc.SandboxedCommand{}, err
	}
	boxed, err := b.s.maker.enter(b.u, s)
	if err != nil {
		end()
		return boxed, err
	}
	leave := boxed.Leave
	boxed.Leave = func() {
		if leave != nil {
			leave()
		}
		end()
	}
	return boxed, nil
}
