package engine

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
)

// ResolveGoal works out a run's goal: the task's criteria over those of the settings, the flags' over both. trusted
// says that the task's text is the user's own; an issue's is a stranger's, and brings no commands that the settings do
// not have.
func (rules Rules) ResolveGoal(
	t task.Task, flags *task.Completion, trusted bool, log func(format string, args ...any),
) (Goal, error) {
	var common *task.Completion
	if len(rules.Settings.Completion) > 0 {
		var err error
		if common, err = task.ParseCompletion("the setting completion", rules.Settings.Completion); err != nil {
			return Goal{}, invalid.Mark(err)
		}
	}
	if !trusted {
		if err := rules.refuseCommands(t, common); err != nil {
			return Goal{}, err
		}
		t.Completion = limitedTo(t.Completion, common, task.Method(rules.Settings.Verification))
	}
	said := task.Merge(task.Merge(common, t.Completion), flags)
	if err := said.Validate("the completion criteria of " + t.ID); err != nil {
		return Goal{}, invalid.Mark(err)
	}
	if said == nil || len(said.Acceptance) == 0 {
		if rules.Settings.Strict {
			return Goal{}, invalid.Errorf(
				"%s has no acceptance criteria, and strict is set; say when it is done: a list under \"Acceptance criteria\", or "+
					"--acceptance",
				t.ID,
			)
		}
		log("warning: %s has no acceptance criteria; %s", t.ID, rules.whoDecides())
	}
	goal := rules.resolve(t, said)
	goal.Asking = asking(rules.Settings, t, flags)
	return goal, rules.MustJudge(goal)
}

// asking is a key of the request besides the task's text; empty if there is only the text.
func asking(set config.Settings, t task.Task, flags *task.Completion) string {
	if len(set.Completion) == 0 && t.Completion == nil && flags == nil && set.Pipeline == nil {
		return ""
	}
	text, err := json.Marshal([]any{set.Completion, t.Completion, flags, set.Pipeline, set.Verification})
	if err != nil { // texts and numbers
		panic(err)
	}
	return ShortHash(string(text))
}

// SameRequest reports whether a run's request was the same as the present one.
func SameRequest(before loop.State, set config.Settings, t task.Task, flags *task.Completion) bool {
	return before.Start.Spec == t.Spec && before.Start.Title == t.Title &&
		before.Start.RequestKey == asking(set, t, flags)
}

// whoDecides says what a run without criteria is judged by.
func (rules Rules) whoDecides() string {
	if rules.Settings.Review {
		return "only the checks and the reviewer decide when it is done"
	}
	return "only the checks decide when it is done"
}

// resolve says who acts, with what criteria and how often.
func (rules Rules) resolve(t task.Task, said *task.Completion) Goal {
	set := rules.Settings
	g := Goal{Completion: said, Most: set.Iterations(config.TaskIterations)}
	named := func(r task.Role) bool {
		return said.For(r) != nil || slices.Contains(set.Pipeline, string(r))
	}
	if !slices.ContainsFunc(task.Roles, named) && set.Verification != string(task.Semantic) {
		return g
	}
	resolved := *cmp.Or(said, &task.Completion{})
	for _, r := range task.Roles {
		if !rules.acts(r, said) {
			continue
		}
		g.Pipeline = append(g.Pipeline, r)
		if r == task.Coder || named(r) {
			resolved.Set(r, new(said.For(r).Resolve(r, t.Title, resolved.Acceptance, task.Method(set.Verification))))
		}
	}
	g.Completion = &resolved
	if set.MaximumIterations == nil {
		g.Caps, g.Most = caps(g.Pipeline, &resolved)
		g.Most = set.AtMost(g.Most)
	}
	return g
}

// acts reports whether a role takes part: as the setting pipeline says; without it the coder, the reviewer and every
// role that the task has criteria for. A review that is switched off stays off.
func (rules Rules) acts(r task.Role, said *task.Completion) bool {
	set := rules.Settings
	switch {
	case r == task.Reviewer && !set.Review:
		return false
	case set.Pipeline != nil:
		return slices.Contains(set.Pipeline, string(r))
	}
	return r == task.Coder || r == task.Reviewer || said.For(r) != nil
}

// caps are how many turns each role may take, and how many iterations that makes at most.
func caps(pipeline []task.Role, c *task.Completion) (each map[task.Role]int, most int) {
	each = map[task.Role]int{}
	for _, r := range pipeline {
		each[r] = r.Cap()
		if of := c.For(r); of != nil && of.MaxIterations > 0 {
			each[r] = of.MaxIterations
		}
		if !r.ReadOnly() {
			most += each[r]
		}
	}
	return each, most
}

// refuseCommands refuses a text of strangers that brings commands of its own: what is run is for those to say who may
// write to the repository.
func (rules Rules) refuseCommands(t task.Task, common *task.Completion) error {
	allowed := append(CommandLines(rules.Settings.Guardrails), common.Commands()...)
	for _, command := range t.Completion.Commands() {
		if !slices.ContainsFunc(
			allowed, func(a string) bool { return strings.TrimSpace(a) == strings.TrimSpace(command) },
		) {
			return invalid.Errorf(
				"%s wants %q to be run, and nothing runs what an issue says; put the command under guardrails or completion in "+
					"%s, or into a task file",
				t.ID, safetext.Shorten(command, 100), config.SettingsFile,
			)
		}
	}
	return nil
}

// judges reports whether the goal brings a judge of its own: a role that reads, or a verification that does not take
// the agent's word.
func (g Goal) judges() bool {
	return slices.ContainsFunc(g.Pipeline, func(r task.Role) bool {
		of := g.Completion.For(r)
		return r.ReadOnly() || of != nil && of.Method != task.StringMatch
	})
}

// limitedTo is what a stranger's text may say: what done means, and more to verify; not less than the settings ask for,
// and no more turns than a role has anyhow.
func limitedTo(theirs, common *task.Completion, least task.Method) *task.Completion {
	if theirs == nil {
		return nil
	}
	out := *theirs
	for _, r := range task.Roles {
		of := out.For(r)
		switch {
		case of == nil:
		case common.For(r) != nil:
			out.Set(r, nil)
		default:
			less := *of
			less.MaxIterations = min(of.MaxIterations, r.Cap())
			if less.Method == task.StringMatch && least != task.StringMatch { // less than the settings require
				less.Method = ""
			}
			out.Set(r, &less)
		}
	}
	return &out
}

// into puts what was settled into a run's first record.
func (g Goal) into(s *loop.Start) {
	s.Completion, s.Pipeline, s.Caps, s.MaxIterations, s.RequestKey = g.Completion, g.Pipeline, g.Caps, g.Most, g.Asking
}

// ShortHash are eight hexadecimal digits of a text's hash.
func ShortHash(s string) string { return fmt.Sprintf("%.4x", sha256.Sum256([]byte(s))) }

// MustJudge refuses rules by which nothing would judge the work but the agent itself.
func (rules Rules) MustJudge(goal Goal) error {
	hard := slices.ContainsFunc(
		rules.Settings.Guardrails, func(g config.Guardrail) bool { return g.Severity != config.Soft },
	)
	if hard || rules.Settings.Review || goal.judges() {
		return nil
	}
	return invalid.Errorf(
		"%s: no guardrail is hard, review is false and no criteria are verified, so nothing would judge the work; name a "+
			"command, or let a reviewer look",
		cmp.Or(rules.Settings.GuardrailsFrom, config.SettingsFile),
	)
}
