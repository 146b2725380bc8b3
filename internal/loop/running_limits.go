package loop

import "context"

// RecordLimits tells the tracker of ctx, if it has one, what bounds the run that begins.
func RecordLimits(ctx context.Context, l Limits) {
	t := StepsOf(ctx)
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.limits = l
}

// Limits are what bounds the run; zero before it has begun.
func (t *StepTracker) Limits() Limits {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.limits
}
