package agent

import (
	"cmp"
	"fmt"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// A shell exits with one of these if it cannot execute a program, or cannot find it; so does the loader of libraries.
const (
	cannotExecute = 126
	cannotFind    = 127
)

// unrunnables are how shells, env and loaders report a program, an interpreter or a library that they did not get. The
// name is a group; one of digits is the line of a script.
var unrunnables = lazy(`(?im)command not found: (\S+)|` +
	`(?:^|[ :])['‘"]?([^\s:'’"‘]*[^\s:'’"‘0-9][^\s:'’"‘]*)['’"]?: (?:command )?` +
	`(?:not found|no such file or directory|permission denied|bad interpreter|cannot execute: required file not found|` +
	`cannot open shared object file)\b`)

// unrunnable rewrites a turn that ended because the agent could not run a program. If the agent did nothing before
// that, as far as it reports, its class is Missing.
func (a *Agent) unrunnable(turn *loop.Turn, end proc.Result, stderr string) {
	if turn.Class != loop.Broke || end.Exit != cannotExecute && end.Exit != cannotFind {
		return
	}
	if turn.Usage == (loop.Usage{}) && turn.Tools == 0 && turn.Claim.Tag == "" {
		turn.Class = loop.Missing
	}
	o := a.options
	o.Command = "" // the program's name
	if found := unrunnables.FindAllStringSubmatch(stderr, -1); found != nil {
		last := found[len(found)-1]
		o.Command = cmp.Or(last[1], last[2])
	}
	turn.Reason = fmt.Sprintf("%s could not run %s (exit code %d): ", a.dialect.name,
		cmp.Or(oneLine(o.Command), "a program"), end.Exit)
	if _, err := resolve(o, a.env); err == nil && o.Box != nil {
		turn.Reason += "the sandbox hides it; put it in a directory of PATH, or in the repository"
	} else {
		turn.Reason += "install it, or make it executable"
	}
	turn.Reason = because(turn.Reason, tellingLine(stderr))
}
