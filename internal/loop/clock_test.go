package loop

import (
	"testing"
	"time"
)

// A clock that is set anew while a run waits for a busy model holds up nothing. A reset that a provider told is a time
// of day, and is waited for by whatever the clock says now.
func TestPausesOutliveClockChanges(t *testing.T) {
	day := 24 * time.Hour
	busy := failing(8, Turn{Class: Overloaded}, &Pause{Until: noon.Add(mostPause)})
	for name, c := range map[string]struct {
		state State
		now   time.Time
		want  Do
	}{
		"as it was":                {busy, noon, Wait},
		"a little back":            {busy, noon.Add(-20 * time.Second), Wait},
		"a day back":               {busy, noon.Add(-day), TakeTurn},
		"a day back, not yet told": {failing(1, Turn{Class: Network}, nil), noon.Add(-day), TakeTurn},
		"a day on":                 {busy, noon.Add(day), TakeTurn},
		"a limit, an hour back": {failing(1, Turn{Class: UsageLimit, ResetAt: noon.Add(time.Hour)}, nil),
			noon.Add(-time.Hour), Wait},
		"a limit, two hours on": {failing(1, Turn{Class: UsageLimit, ResetAt: noon.Add(time.Hour)}, nil),
			noon.Add(2 * time.Hour), TakeTurn},
		"a limit, a day back": {failing(1, Turn{Class: UsageLimit, ResetAt: noon.Add(time.Hour)}, nil), noon.Add(-day),
			Stop},
	} {
		if step := Next(c.state, Limits{}, c.now); step.Do != c.want {
			t.Errorf("%s: %+v, want %s", name, step, c.want)
		}
	}
}
