package proc

import _ "github.com/ralph-loop/ralph/internal/proc/inside" // which has to come before whatever imports this

// Box keeps a process from what is none of its business: files, processes, hosts. What holds in it, the Box says
// elsewhere.
type Box interface {
	// Enter makes of what is to be run what is run instead: s with another program, arguments and environment, and without
	// s.Box. The error wraps ErrNotFound or ErrNotExecutable when there is no such program.
	Enter(s Spec) (SandboxedCommand, error)
}

// SandboxedCommand is what is run to run something in a box.
type SandboxedCommand struct {
	Spec Spec
	// Keepers is how many processes, from the one that is started down to the one that was meant, only keep the box: each
	// is the only child of the one before. They end with what they keep, and are asked to end by nobody but KILL.
	Keepers int
	// Wraps says that the keepers tell by an exit code of 128 and more that a signal has ended what they keep.
	Wraps bool
	// Leave is called once, when nothing of it runs any more; nil: nothing is to be done.
	Leave func()
}

// boxed readies what is run: s itself when it has no box.
func boxed(s Spec) (SandboxedCommand, error) {
	if s.Box == nil {
		return SandboxedCommand{Spec: s, Leave: func() {}}, nil
	}
	b, err := s.Box.Enter(s)
	b.Spec.Box = nil
	if b.Leave == nil {
		b.Leave = func() {}
	}
	return b, err
}

// told is how what is kept ended, as far as its keepers tell: a shell says the same of what it ran, and has ended by
// itself.
func (b SandboxedCommand) told(asked Spec, r Result) Result {
	if n := r.Exit - 128; b.Wraps && r.Class == Exited && n > 0 && n < 32 && name(asked) != "sh" {
		r.Class, r.Exit, r.Signal = Signalled, -1, signalOf(n)
	}
	return r
}
