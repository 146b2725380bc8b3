package proc

import (
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
)

// starter starts processes on a thread of its own that never ends: Linux ends a process with its parent's *thread* when
// it is asked to end it with its parent, and gives orphans to our first thread, which the thread of a starter is not
// (see init).
type starter struct {
	prepare func() error // done once, by the thread
	once    sync.Once
	asked   chan request
	thread  atomic.Int64 // its id, where threads have one
}

type request struct {
	cmd     *exec.Cmd
	started chan error
}

// The starters. What renounced starts never gains privileges.
var (
	ours      = &starter{prepare: func() error { return nil }}
	renounced = &starter{prepare: renouncePrivileges}
)

// Started counts the processes that were started.
var Started atomic.Int64

// start starts a process; any goroutine may wait for it.
func (s *starter) start(cmd *exec.Cmd) error {
	s.once.Do(func() {
		s.asked = make(chan request)
		go s.serve()
	})
	r := request{cmd, make(chan error, 1)}
	s.asked <- r
	return <-r.started
}

func (s *starter) serve() {
	runtime.LockOSThread()
	s.thread.Store(int64(thisThread()))
	failed := s.prepare()
	for r := range s.asked {
		if failed != nil {
			r.started <- failed
			continue
		}
		Started.Add(1)
		r.started <- r.cmd.Start()
	}
}
