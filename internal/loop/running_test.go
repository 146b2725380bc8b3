package loop

import (
	"context"
	"testing"
	"time"
)

func TestStepTracker(t *testing.T) {
	tracker := &StepTracker{Clock: func() time.Time { return noon }}
	ctx := WithStepTracker(context.Background(), tracker)
	expect := func(want RunningStep, running bool) {
		t.Helper()
		if got, ok := tracker.Current(); got != want || ok != running {
			t.Errorf("the step is %+v, %v; want %+v, %v", got, ok, want, running)
		}
	}
	expect(RunningStep{}, false)
	BeginStep(context.Background(), "nobody looks", time.Minute)()

	endOuter := BeginStep(ctx, "outer", 0)
	expect(RunningStep{Name: "outer", Began: noon}, true)
	endInner := BeginStep(ctx, "inner", time.Minute)
	expect(RunningStep{Name: "inner", Began: noon, Deadline: noon.Add(time.Minute)}, true)
	endOuter() // in any order
	expect(RunningStep{Name: "inner", Began: noon, Deadline: noon.Add(time.Minute)}, true)
	endInner()
	endInner()
	expect(RunningStep{}, false)

	bounded, cancel := context.WithDeadline(ctx, noon.Add(time.Second))
	defer cancel()
	for _, limit := range []time.Duration{0, time.Hour} {
		end := BeginStep(bounded, "bounded", limit)
		expect(RunningStep{Name: "bounded", Began: noon, Deadline: noon.Add(time.Second)}, true)
		end()
	}
	var ends []func()
	for _, run := range []string{"a", "b"} { // of two at once
		child, over := tracker.Child(run)
		BeginStep(WithStepTracker(bounded, child), "turn", 0)
		ends = append(ends, over)
	}
	expect(RunningStep{Name: "a: turn, and 1 more", Began: noon, Deadline: noon.Add(time.Second)}, true)
	end := BeginStep(bounded, "short", time.Millisecond)
	expect(RunningStep{Name: "short, and 2 more", Began: noon, Deadline: noon.Add(time.Second)}, true)
	end()
	for _, end := range ends { // whatever steps it was at
		end()
	}
	expect(RunningStep{}, false)
}
