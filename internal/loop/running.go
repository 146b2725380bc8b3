package loop

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// RunningStep is work that takes time, for which an interruption of the run waits: an agent's turn, a check, the setup.
type RunningStep struct {
	Name     string // for a sentence: "the agent's turn of iteration 2/10"
	Began    time.Time
	Deadline time.Time // when a time limit stops it; zero: none does
	Doing    string    // what its agent did last: "Edit main.go"; empty: no one knows
}

// StepTracker knows the steps that are running. It is safe for use by several goroutines.
type StepTracker struct {
	Clock func() time.Time

	name string // of one of several runs at once: the run's

	mu       sync.Mutex
	running  []*RunningStep // the newest last
	children []*StepTracker // of several runs at once: that of each
	limits   Limits         // of the run
	checks   []CheckStep    // of the last round of checks, in the order they run
}

// Current is the step that began last of those that are running; ok is false when none is. When several runs are at a
// step, its name says how many others are, and its deadline is the last of theirs.
func (t *StepTracker) Current() (step RunningStep, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var newest []RunningStep // of each run
	if n := len(t.running); n > 0 {
		newest = append(newest, *t.running[n-1])
	}
	for _, c := range t.children {
		if s, ok := c.Current(); ok {
			s.Name = c.name + ": " + s.Name
			newest = append(newest, s)
		}
	}
	if len(newest) == 0 {
		return step, false
	}
	step = slices.MaxFunc(newest, func(a, b RunningStep) int { return a.Began.Compare(b.Began) })
	for _, s := range newest {
		if s.Deadline.IsZero() || !step.Deadline.IsZero() && s.Deadline.After(step.Deadline) {
			step.Deadline = s.Deadline
		}
	}
	if others := len(newest) - 1; others > 0 {
		step.Name += fmt.Sprintf(", and %d more", others)
	}
	return step, true
}

// Progress is what a StepTracker knows at a moment, as another process can show it.
type Progress struct {
	Began   time.Time   // when the process started on the run
	Step    RunningStep // the latest
	Running bool        // false: no step is running
	Checks  []CheckStep // of the last iteration, in the order they run; of a verdict only its result
	Limits  Limits      // of the run; zero before it starts
}

// Progress returns what the tracker knows now. The caller sets Began.
func (t *StepTracker) Progress() (p Progress) {
	p.Step, p.Running = t.Current()
	t.mu.Lock()
	defer t.mu.Unlock()
	p.Limits, p.Checks = t.limits, slices.Clone(t.checks)
	for i, c := range p.Checks {
		if v := c.Verdict; v != nil {
			p.Checks[i].Verdict = &Verdict{Pass: v.Pass, Severity: v.Severity, Skipped: v.Skipped}
		}
	}
	return p
}

// RecordLimits tells the tracker of ctx, if it has one, what bounds the run that begins.
func RecordLimits(ctx context.Context, l Limits) {
	StepsOf(ctx).change(func(t *StepTracker) { t.limits = l })
}

type stepTrackerKey struct{}

// WithStepTracker makes a context whose steps are reported to a tracker.
func WithStepTracker(ctx context.Context, t *StepTracker) context.Context {
	return context.WithValue(ctx, stepTrackerKey{}, t)
}

// StepsOf is the tracker of a context; nil: it has none.
func StepsOf(ctx context.Context) *StepTracker {
	t, _ := ctx.Value(stepTrackerKey{}).(*StepTracker)
	return t
}

// Doing tells the tracker of ctx, if it has one, what the newest step's agent does now: one line of the agent's own.
func Doing(ctx context.Context, what string) {
	StepsOf(ctx).change(func(t *StepTracker) {
		if len(t.running) > 0 {
			t.running[len(t.running)-1].Doing = what
		}
	})
}

// BeginStep tells the tracker of ctx that a step has begun, and the returned function that it has ended. The step ends
// at its limit, or with ctx when that has an earlier deadline; 0 is no limit. Without a tracker it does nothing.
func BeginStep(ctx context.Context, name string, limit time.Duration) (end func()) {
	t := StepsOf(ctx)
	if t == nil {
		return func() {}
	}
	step := &RunningStep{Name: name, Began: t.Clock()}
	if limit > 0 {
		step.Deadline = step.Began.Add(limit)
	}
	if all, ok := ctx.Deadline(); ok && (step.Deadline.IsZero() || all.Before(step.Deadline)) {
		step.Deadline = all
	}
	t.change(func(t *StepTracker) { t.running = append(t.running, step) })
	return func() {
		t.change(func(t *StepTracker) {
			t.running = slices.DeleteFunc(t.running, func(s *RunningStep) bool { return s == step })
		})
	}
}

// change changes a tracker, if there is one.
func (t *StepTracker) change(do func(*StepTracker)) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	do(t)
}

// CheckStep is one check of the last round, as far as it has come.
type CheckStep struct {
	Name    string
	Began   time.Time // zero: it has not begun
	Verdict *Verdict  // nil: it has none yet
}

// PlanChecks tells the tracker of ctx, if it has one, which checks a round has that begins now.
func PlanChecks(ctx context.Context, names []string) {
	StepsOf(ctx).change(func(t *StepTracker) {
		t.checks = safetext.Map(names, func(name string) CheckStep { return CheckStep{Name: name} })
	})
}

// BeginCheck is BeginStep for a check.
func BeginCheck(ctx context.Context, name string, limit time.Duration) (end func()) {
	StepsOf(ctx).change(func(t *StepTracker) {
		if c := t.check(name); c != nil {
			c.Began = t.Clock()
		}
	})
	return BeginStep(ctx, "the check "+name, limit)
}

// EndCheck tells the tracker of ctx, if it has one, what a check has said, also of a check that no round had planned,
// which is added if it fails.
func EndCheck(ctx context.Context, v Verdict) {
	StepsOf(ctx).change(func(t *StepTracker) {
		if c := t.check(v.Check); c != nil {
			c.Verdict = &v
		} else if !v.Pass && v.Skipped == "" {
			t.checks = append(t.checks, CheckStep{Name: v.Check, Verdict: &v})
		}
	})
}

// check is the check of a name; nil without one. t is locked.
func (t *StepTracker) check(name string) *CheckStep {
	i := slices.IndexFunc(t.checks, func(c CheckStep) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &t.checks[i]
}

// Child is a tracker of one of several runs at once: its steps are this one's, too, behind the run's name, until end is
// called.
func (t *StepTracker) Child(name string) (child *StepTracker, end func()) {
	t.change(func(t *StepTracker) {
		child = &StepTracker{Clock: t.Clock, name: name}
		t.children = append(t.children, child)
	})
	return child, func() {
		t.change(func(t *StepTracker) {
			t.children = slices.DeleteFunc(t.children, func(c *StepTracker) bool { return c == child })
		})
	}
}
