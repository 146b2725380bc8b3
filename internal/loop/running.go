package loop

import (
	"context"
	"slices"
	"sync"
	"time"
)

// RunningStep is work that takes its time and that whoever interrupts a run has to wait for: an agent's turn, a check,
// the setup.
type RunningStep struct {
	Name     string    // for a sentence: "the agent's turn of iteration 2/10"
	Deadline time.Time // when a time limit stops it; zero: none does
}

// StepTracker knows the steps that are running. It is safe for use by several goroutines.
type StepTracker struct {
	Clock func() time.Time

	mu      sync.Mutex
	running []*RunningStep // the newest last
}

// Current is the step that began last of those that are running; ok is false when none is.
func (t *StepTracker) Current() (step RunningStep, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.running) == 0 {
		return RunningStep{}, false
	}
	return *t.running[len(t.running)-1], true
}

type stepTrackerKey struct{}

// WithStepTracker makes a context whose steps a tracker is told of.
func WithStepTracker(ctx context.Context, t *StepTracker) context.Context {
	return context.WithValue(ctx, stepTrackerKey{}, t)
}

// BeginStep tells the tracker of ctx that a step has begun, and the returned function that it has ended. The step ends
// at its limit, or with ctx when that has an earlier deadline; a limit of 0 is none. Without a tracker it does nothing.
func BeginStep(ctx context.Context, name string, limit time.Duration) (end func()) {
	t, ok := ctx.Value(stepTrackerKey{}).(*StepTracker)
	if !ok {
		return func() {}
	}
	step := &RunningStep{Name: name}
	if limit > 0 {
		step.Deadline = t.Clock().Add(limit)
	}
	if all, ok := ctx.Deadline(); ok && (step.Deadline.IsZero() || all.Before(step.Deadline)) {
		step.Deadline = all
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running = append(t.running, step)
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.running = slices.DeleteFunc(t.running, func(s *RunningStep) bool { return s == step })
	}
}
