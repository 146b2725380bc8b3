package config

import (
	"strconv"
	"strings"
	"time"
)

// Iteration caps where no layer sets maximumIterations.
const (
	PromptIterations = 10 // ralph run -p/-f
	TaskIterations   = 5  // an issue or a single task
	PlanIterations   = 15

	// Unlimited is the cap of a run whose maximumIterations is 0: only its time ends it. It is far below the largest int
	// of a small machine, so that adding iterations to it does not overflow.
	Unlimited = 1 << 30
)

// Iterations is the cap of a run: what was set, Unlimited when that is 0, and otherwise when no layer set anything.
func (s Settings) Iterations(otherwise int) int {
	switch {
	case s.MaximumIterations == nil:
		return s.AtMost(otherwise)
	case *s.MaximumIterations == 0:
		return s.AtMost(Unlimited)
	}
	return s.AtMost(*s.MaximumIterations)
}

// AtMost is how many of the wanted iterations a run may take.
func (s Settings) AtMost(wanted int) int {
	if s.MostIterations > 0 {
		return min(wanted, s.MostIterations)
	}
	return wanted
}

// Timeout bounds a whole run. TimeoutMultiplier does not touch it.
func (s Settings) Timeout() time.Duration { return time.Duration(s.TimeoutMinutes) * time.Minute }

// TurnTimeout bounds one turn of the agent.
func (s Settings) TurnTimeout() time.Duration { return s.Scaled(time.Duration(s.Agent.Timeout)) }

// IdleTimeout is how long the agent may say nothing.
func (s Settings) IdleTimeout() time.Duration { return s.Scaled(time.Duration(s.Agent.IdleTimeout)) }

// ReviewTimeout bounds one turn of the reviewer.
func (s Settings) ReviewTimeout() time.Duration { return s.Scaled(time.Duration(s.Reviewer.Timeout)) }

// ReviewIdleTimeout is how long the reviewer may say nothing.
func (s Settings) ReviewIdleTimeout() time.Duration {
	return s.Scaled(time.Duration(s.Reviewer.IdleTimeout))
}

// CheckTimeout bounds a guardrail.
func (s Settings) CheckTimeout(g Guardrail) time.Duration { return s.Scaled(time.Duration(g.Timeout)) }

// CheckWarning is after how long of a guardrail the log warns: half of its limit, as for tests, two thirds of that of a
// soft one, as for what looks at quality.
func (s Settings) CheckWarning(g Guardrail) time.Duration {
	switch {
	case g.SoftTimeout != 0:
		return s.Scaled(time.Duration(g.SoftTimeout))
	case g.Severity == Soft:
		return s.CheckTimeout(g) * 2 / 3
	}
	return s.CheckTimeout(g) / 2
}

// Scaled is a limit of a turn or a check times TimeoutMultiplier.
func (s Settings) Scaled(limit time.Duration) time.Duration {
	return time.Duration(float64(limit) * s.TimeoutMultiplier)
}

// Duration is a time.Duration written as Go writes it: "90s", "10m", "1h30m".
type Duration time.Duration

// UnmarshalText reads "10m".
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = Duration(parsed)
	return err
}

// MarshalText writes "10m", without the zeros that Go puts behind it.
func (d Duration) MarshalText() ([]byte, error) {
	text := time.Duration(d).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return []byte(text), nil
}

// Size is an amount of bytes: "512MiB", "16GiB", "2TiB", or "none" for any amount.
type Size string

// Bytes is how many that are; 0: any amount, and of an empty Size.
func (s Size) Bytes() int64 {
	for i, unit := range []string{"MiB", "GiB", "TiB"} {
		if number, ok := strings.CutSuffix(string(s), unit); ok {
			n, _ := strconv.ParseInt(number, 10, 64) // the settings are checked
			return n << (20 + 10*i)
		}
	}
	return 0
}

// The usual number of processes and threads: some, or so many for each processor.
const (
	usualProcesses = 4096
	processesEach  = 256
)

// MostProcesses is how many there may be on a machine with so many processors; 0: any number.
func (l Limits) MostProcesses(processors int) int {
	if l.Processes != nil {
		return *l.Processes
	}
	return max(usualProcesses, processesEach*processors)
}

// MostMemory is how many bytes of memory there may be where there are so many; 0: any amount.
func (l Limits) MostMemory(there int64) int64 {
	if l.Memory != "" {
		return l.Memory.Bytes()
	}
	return there / 10 * 9
}
