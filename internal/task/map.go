package task

import "github.com/ralph-loop/ralph/internal/safetext"

// Map is a copy with f applied to every text in it: to take secrets out before it is stored. A nil completion stays
// nil.
func (c *Completion) Map(f func(string) string) *Completion {
	if c == nil {
		return nil
	}
	out := &Completion{Outcome: f(c.Outcome), Acceptance: safetext.Map(c.Acceptance, f)}
	for _, r := range Roles {
		of := c.For(r)
		if of == nil {
			continue
		}
		copied := *of
		copied.Promise, copied.Description, copied.Config = f(of.Promise), f(of.Description), of.Config.mapped(f)
		out.Set(r, &copied)
	}
	return out
}

func (v *Verification) mapped(f func(string) string) *Verification {
	if v == nil {
		return nil
	}
	out := *v
	out.CheckFor, out.NegativePatterns = safetext.Map(v.CheckFor, f), safetext.Map(v.NegativePatterns, f)
	out.Command, out.OutputContains, out.OutputNotContains = f(v.Command), f(v.OutputContains), f(v.OutputNotContains)
	out.Model, out.WorkingDir = f(v.Model), f(v.WorkingDir)
	out.Stages = append([]Stage(nil), v.Stages...)
	for i := range out.Stages {
		s := &out.Stages[i]
		s.Name, s.Config = f(s.Name), s.Config.mapped(f)
	}
	return &out
}
