package sandbox

import "github.com/ralph-loop/ralph/internal/proc"

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
