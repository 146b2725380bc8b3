// Package sandbox makes boxes (proc.Box) that agents and checks run in, and says what holds in them.
package sandbox

import (
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ralph-loop/ralph/internal/proc"
)

// Sandbox is what a run's processes are kept in.
type Sandbox struct {
	Mode string // Bwrap, Landlock, Container, DockerSandbox or Off
	Line string // what was chosen, what holds and what does not

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
	cacheLayers
	cleanup []func()
}

// cacheLayers are the caches below those of a turn or a check.
type cacheLayers struct {
	// base has the caches that the setup and the checks fill on the base commit.
	base         string
	sealedCaches bool    // no one writes there after that
	layered      bool    // a box may mount, and lays its own caches over others
	own          []layer // the user's caches
}

// maker makes boxes of one mode.
type maker interface {
	// enter returns what is run instead of s.
	enter(u Use, s proc.Spec) (proc.SandboxedCommand, error)
}

// box is what one use runs something in.
type box struct {
	s *Sandbox
	u Use
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

// homes are those of the uses, and what others may rely on of them.
type homes struct {
	byDir   map[string]*home // two uses may share one
	tried   bool             // boxes work here
	sealed  bool             // no one runs in the home of the setup after that: the others begin as copies of it
	large   bool             // or as none: that home is too much to copy
	reading int              // how many turns read now
	git     []byte           // what one has of the user's git configuration; nil: no one has looked
}

// home is what has been done to one.
type home struct {
	made  bool // it begins as it should
	given bool // an agent has the files of its own there
}

// layer is a directory of caches that lies over others.
type layer struct {
	at    string   // from the directory of caches
	lower []string // the uppermost first
}

// mostInherited is how much a home may hold of which others get copies, in bytes.
const mostInherited = 512 << 20

// ownHomes reports whether there are homes of the run's own.
func (s *Sandbox) ownHomes() bool { return s != nil && s.maker != nil && s.scratch != "" }

// store is the name of what is written there.
func (l layer) store() string { return strings.NewReplacer("..", "", "/", "-").Replace(l.at) }
