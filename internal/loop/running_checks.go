package loop

import (
	"context"
	"slices"
	"time"
)

// CheckStep is one check of the last round, as far as it has come.
type CheckStep struct {
	Name    string
	Began   time.Time // zero: it has not begun
	Verdict *Verdict  // nil: it has none yet
}

// PlanChecks tells the tracker of ctx, if it has one, which checks a round has that begins now.
func PlanChecks(ctx context.Context, names []string) {
	t := StepsOf(ctx)
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.checks = make([]CheckStep, len(names))
	for i, name := range names {
		t.checks[i].Name = name
	}
}

// BeginCheck is BeginStep for a check.
func BeginCheck(ctx context.Context, name string, limit time.Duration) (end func()) {
	end = BeginStep(ctx, "the check "+name, limit)
	if t := StepsOf(ctx); t != nil {
		t.ofCheck(name, func(c *CheckStep) { c.Began = t.Clock() })
	}
	return end
}

// EndCheck tells the tracker of ctx, if it has one, what a check has said, also of one that no round had planned: that
// is heard of when it fails.
func EndCheck(ctx context.Context, v Verdict) {
	t := StepsOf(ctx)
	if t == nil {
		return
	}
	if !t.ofCheck(v.Check, func(c *CheckStep) { c.Verdict = &v }) && !v.Pass && v.Skipped == "" {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.checks = append(t.checks, CheckStep{Name: v.Check, Verdict: &v})
	}
}

// ofCheck changes the check of a name, and reports whether there is one.
func (t *StepTracker) ofCheck(name string, change func(*CheckStep)) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.IndexFunc(t.checks, func(c CheckStep) bool { return c.Name == name })
	if i >= 0 {
		change(&t.checks[i])
	}
	return i >= 0
}
