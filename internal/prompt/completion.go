package prompt

import (
	"cmp"
	"fmt"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
)

// wanted is what a role says when it is done.
type wanted struct {
	shown   bool   // the prompt says how the run stands and what done means
	promise string // empty: none
	signal  string // what is printed: a tag, for those who write
}

// section is the signal of a role that writes: the promise of its criteria, otherwise the answer of every run.
func (w Writer) section(s loop.State, role task.Role) wanted {
	out := wanted{shown: s.Start.Completion != nil || role != task.Coder,
		signal: "<response>" + w.Completion + "</response>"}
	if c := s.Start.Completion.For(role); c != nil && safetext.OneLine(c.Promise) != "" {
		out.promise = lineOf(c.Promise, 1<<10)
		out.signal = "<promise>" + out.promise + "</promise>"
	}
	return out
}

// exit says how a turn ends.
func (w Writer) exit(s loop.State, role task.Role) string {
	return section("exit.md", map[string]any{"Signal": w.section(s, role).signal})
}

// completion is the state of the run and what done means; empty for a run without criteria.
func completion(s loop.State, role task.Role, iteration int, w wanted, border safetext.Border) string {
	if !w.shown {
		return ""
	}
	outcome, boxes := "", ""
	if c := s.Start.Completion; c != nil {
		outcome = safetext.OneLine(c.Outcome)
		for _, a := range c.Acceptance {
			boxes += "- [ ] " + safetext.OneLine(a) + "\n"
		}
	}
	return section("completion.md", map[string]any{
		"Iteration": s.Of(iteration), "Role": role, "Border": border, "Max": s.MaxIterations, "Signal": w.signal,
		"Outcome": cmp.Or(outcome, "Complete the assigned task."), "Method": method(s, role),
		"Boxes":       cmp.Or(boxes, "- [ ] What the task asks for works.\n"),
		"Description": description(s, role), "InAnswer": role.ReadOnly() && w.promise != "",
	})
}

func description(s loop.State, role task.Role) string {
	if c := s.Start.Completion.For(role); c != nil && safetext.OneLine(c.Description) != "" {
		return safetext.OneLine(c.Description)
	}
	return fmt.Sprintf("Complete %s stage for: %s", role, title(s))
}

// method is how a promise is verified: as the criteria say, otherwise by their command, otherwise only by the promise.
func method(s loop.State, role task.Role) task.Method {
	c := s.Start.Completion.For(role)
	switch {
	case c != nil && c.Method != "":
		return c.Method
	case c != nil && c.Config != nil && c.Config.Command != "":
		return task.External
	}
	return task.StringMatch
}

// storySignal says in a plan that all of it is done: the coder's promise when the criteria set one.
func (w Writer) storySignal(s loop.State) string {
	if want := w.section(s, task.Coder); want.promise != "" {
		return want.signal
	}
	return "<promise>COMPLETE</promise>"
}
