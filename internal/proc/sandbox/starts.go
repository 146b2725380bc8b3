package sandbox

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/proc/inside"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Starts finds out whether a program can begin in a box: whether it is seen there, with the interpreter that it names.
// With arguments it is run, too, and has to end well. The error is a sentence, for whoever has to fix it.
func (s *Sandbox) Starts(ctx context.Context, u Use, program string, env []string, args ...string) error {
	if s == nil || s.maker == nil || s.Mode == DockerSandbox { // whose machine was made with its agent
		return nil
	}
	said := proc.NewTail(0, 2<<10)
	spec := proc.Spec{
		Argv: append([]string{program}, args...), Dir: s.o.Dir, Env: env, As: s.o.As, Box: looking{s.Box(u), len(args) == 0},
		Stdout: said, Stderr: said,
		Timeout: time.Minute, Ending: proc.Ending{Grace: time.Second},
	}
	end, err := proc.Run(ctx, spec)
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case end.Class == proc.Exited && end.Exit == 0:
		return nil
	}
	why := safetext.OneLine(said.String())
	if why == "" {
		why = fmt.Sprintf("%s, exit code %d", end.Class, end.Exit)
	}
	return &UnavailableError{fmt.Sprintf("%s cannot begin in the sandbox %s: %s; see that all it needs is on PATH or "+
		"outside of your home, or name what it writes in the setting sandboxWritable", program, s.Mode, why)}
}

// looking is a box in which a program is only looked at.
type looking struct {
	proc.Box
	only bool
}

// Enter implements proc.Box.
func (l looking) Enter(s proc.Spec) (proc.SandboxedCommand, error) {
	b, err := l.Box.Enter(s)
	if err == nil && l.only {
		for i, arg := range b.Spec.Argv {
			if arg == inside.Entry && i+1 < len(b.Spec.Argv) {
				b.Spec.Argv[i+1] = strings.Replace(b.Spec.Argv[i+1], "{", `{"look":true,`, 1)
				b.Spec.Argv[i+1] = strings.Replace(b.Spec.Argv[i+1], ",}", "}", 1)
				break
			}
		}
	}
	return b, err
}
