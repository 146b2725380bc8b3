package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/detect"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc/sandbox"
)

// unreached says which host a command that failed could not speak to from its sandbox; "" when its output names none.
func (run *Run) unreached(command, output string) string {
	return unreachedOf(run.boxes.sandbox.Refused(sandbox.Checks), command, output)
}

// unreachedOf is the same, of the hosts that the sandbox has refused.
func unreachedOf(refused []string, command, output string) string {
	for _, host := range refused {
		name, _, _ := strings.Cut(host, ":")
		if names(output, name) {
			return fmt.Sprintf("%s could not reach %s from the sandbox: add it to the setting sandboxNetwork",
				detect.MissingTool(command, ""), host)
		}
	}
	return ""
}

// names reports whether a text names a host, not as a part of a longer name.
func names(text, host string) bool {
	for rest := text; host != ""; {
		i := strings.Index(rest, host)
		if i < 0 {
			return false
		}
		if !inName(rest[:i], len(rest[:i])-1) && !inName(rest, i+len(host)) {
			return true
		}
		rest = rest[i+1:]
	}
	return false
}

// inName reports whether the byte at a place goes on with a host's name. A dot at the end of a sentence does not.
func inName(text string, i int) bool {
	if i < 0 || i >= len(text) {
		return false
	}
	c := text[i]
	if c == '.' {
		return i+1 >= len(text) || text[i+1] > ' '
	}
	return c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// explainUnreached adds to a failed verdict that a host could not be reached.
func (run *Run) explainUnreached(v *loop.Verdict) bool {
	why := run.unreached(run.line(v.Check), v.Output)
	if why != "" {
		v.Reason += "; " + why
	}
	return why != ""
}

// checkDirectory is the directory of a run of a prompt as its checks see it.
type checkDirectory struct {
	Directory
	run *Run
}

// Explain implements check.Tree.
func (d checkDirectory) Explain(_ context.Context, _ check.Input, v *loop.Verdict) error {
	d.run.explainUnreached(v)
	return nil
}
