package loop

import (
	"fmt"
	"time"
)

// Child is a tracker of one of several runs at once: its steps are this one's, too, behind the run's name.
func (t *StepTracker) Child(name string) *StepTracker {
	if t == nil {
		return nil
	}
	return &StepTracker{Clock: t.Clock, above: t, name: name}
}

// beginIn is a step in the tracker above, until end is called.
func (t *StepTracker) beginIn(step RunningStep) (end func()) {
	if t.above == nil {
		return func() {}
	}
	step.Name, step.of = t.name+": "+step.Name, t.name
	return t.above.begin(&step)
}

// withOthers is the newest step, with how many other runs are at a step, and when the last of them ends.
func withOthers(running []*RunningStep) RunningStep {
	newest := *running[len(running)-1]
	others := map[string]bool{}
	for _, s := range running {
		if s.of == newest.of {
			continue
		}
		others[s.of] = true
		if s.Deadline.IsZero() || newest.Deadline.IsZero() {
			newest.Deadline = time.Time{}
		} else if s.Deadline.After(newest.Deadline) {
			newest.Deadline = s.Deadline
		}
	}
	if len(others) > 0 {
		newest.Name += fmt.Sprintf(", and %d more", len(others))
	}
	return newest
}
