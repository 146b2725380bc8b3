package local

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/task"
)

// describeTask is a task as people read it, with the criteria of each role that it speaks of.
func describeTask(t task.Task, status string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("%s: %s", t.ID, t.Title)
	line("status: %s", status)
	if t.SpecID != "" {
		line("spec: %s", t.SpecID)
	}
	line("priority: %d", t.Priority)
	if len(t.Dependencies) > 0 {
		line("depends on: %s", strings.Join(t.Dependencies, ", "))
	}
	if t.Spec != "" {
		line("\n%s", t.Spec)
	}
	c := t.Completion
	if c == nil {
		line("\nIt does not say when it is done.")
		return b.String()
	}
	if c.Outcome != "" {
		line("\nOutcome: %s", c.Outcome)
	}
	if len(c.Acceptance) > 0 {
		line("\nAcceptance criteria:")
	}
	for _, text := range c.Acceptance {
		line("- [ ] %s", text)
	}
	for _, r := range task.Roles {
		if of := c.For(r); of != nil {
			full := of.Resolve(r, t.Title, c.Acceptance, "")
			showRole(line, r, full)
		}
	}
	return b.String()
}

func showRole(line func(string, ...any), r task.Role, c task.Criteria) {
	turns := ""
	if c.MaxIterations > 0 {
		turns = fmt.Sprintf(", at most %d turns", c.MaxIterations)
	}
	line("\n%s: <promise>%s</promise>, verified by %s%s", r, c.Promise, c.Method, turns)
	line("  %s", indented(c.Description, "  "))
	showVerification(line, "  ", c.Config)
}

func showVerification(line func(string, ...any), in string, v *task.Verification) {
	if v == nil {
		return
	}
	for _, q := range v.CheckFor {
		line("%scheck for: %s", in, q)
	}
	for _, p := range v.NegativePatterns {
		line("%snot: %s", in, p)
	}
	if v.Command != "" {
		line("%scommand: %s", in, indented(strings.TrimSpace(v.Command), in+"         "))
		line("%sexit code: %d", in, v.SuccessExitCode)
	}
	for _, of := range []struct{ name, value string }{{"output contains", v.OutputContains},
		{"output does not contain", v.OutputNotContains}, {"in", v.WorkingDir}, {"model", v.Model}} {
		if of.value != "" {
			line("%s%s: %s", in, of.name, of.value)
		}
	}
	if v.Timeout > 0 {
		line("%stimeout: %d s", in, v.Timeout)
	}
	for i, s := range v.Stages {
		name, method, more := s.Name, s.Method, ""
		if name == "" {
			name = "unnamed"
		}
		if method == "" {
			method = task.StringMatch
		}
		if s.Required != nil && !*s.Required {
			more = ", only warns"
		}
		line("%s%d. %s, by %s%s", in, i+1, name, method, more)
		showVerification(line, in+"   ", s.Config)
	}
}

// indented is a text whose lines but the first are moved to the right.
func indented(text, by string) string {
	return strings.ReplaceAll(text, "\n", "\n"+by)
}
