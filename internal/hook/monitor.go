package hook

import (
	"fmt"
	"strconv"
)

// Gauge estimates how full an agent's context is from the size of its transcript.
type Gauge struct {
	Window  int64   // tokens
	Divisor float64 // bytes a token
}

// The variables of the environment that set a Gauge.
const (
	WindowVariable  = "CLAUDE_CONTEXT_WINDOW"
	DivisorVariable = "CLAUDE_CONTEXT_DIVISOR"
)

const (
	defaultWindow  = 200_000
	defaultDivisor = 4
	leastDivisor   = 3
	mostDivisor    = 6
)

// ReadGauge reads a Gauge from the environment. What it cannot use it says, one sentence each, and takes the default.
func ReadGauge(environ map[string]string) (Gauge, []string) {
	g := Gauge{Window: defaultWindow, Divisor: defaultDivisor}
	var problems []string
	if text := environ[WindowVariable]; text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err == nil && n > 0 {
			g.Window = n
		} else {
			problems = append(problems, fmt.Sprintf("%s is %q; must be a number of tokens above 0. %d is taken.",
				WindowVariable, text, g.Window))
		}
	}
	if text := environ[DivisorVariable]; text != "" {
		n, err := strconv.ParseFloat(text, 64)
		if err == nil && n >= leastDivisor && n <= mostDivisor {
			g.Divisor = n
		} else {
			problems = append(problems, fmt.Sprintf("%s is %q; must be %d to %d, the bytes a token. %d is taken.",
				DivisorVariable, text, leastDivisor, mostDivisor, defaultDivisor))
		}
	}
	return g, problems
}

// Percent is how much of the window a transcript of a size in bytes fills.
func (g Gauge) Percent(size int64) float64 {
	return float64(size) / g.Divisor / float64(g.Window) * 100
}

// threshold is how full a context must be for a message.
type threshold struct {
	percent  int
	severity string
	text     string
}

const (
	noticeText = "Be mindful of remaining space. Plan to finish your current task within this session. If you " +
		"discover follow-up work, add new stories to tasks.json — the next iteration will pick them up."
	warningText = "Finish your current task and commit soon. Do not start additional tasks. If work remains, create " +
		"new stories in tasks.json for the next iteration and capture any implementation details or insights in " +
		"progress.txt so the next iteration has full context."
	criticalText = "Wrap up immediately. Do NOT start new work. Instead: (1) create tasks in tasks.json for any " +
		"remaining work, (2) write implementation details, insights, and handoff notes to progress.txt, (3) commit all " +
		"changes, (4) stop. The next iteration will continue from where you left off."
)

var thresholds = []threshold{
	{50, "NOTICE", noticeText},
	{60, "NOTICE", noticeText},
	{70, "WARNING", warningText},
	{80, "WARNING", warningText},
	{90, "CRITICAL", criticalText},
}

// Monitor returns the message for an agent whose context is so full, and the highest threshold in percent that has been
// passed by then. Each has one message a session; of several, only the highest has. said is the highest with an earlier
// message, 0 without one.
func Monitor(event string, percent float64, said int) (Answer, int) {
	var last threshold
	for _, t := range thresholds {
		if percent >= float64(t.percent) && t.percent > said {
			last = t
		}
	}
	if last.percent == 0 {
		return Answer{}, said
	}
	if event == "" {
		event = "PostToolUse"
	}
	text := fmt.Sprintf("[%s] About %.0f%% of the context window is used. %s", last.severity, min(percent, 100), last.text)
	return Answer{Specific: &specific{Event: event, AdditionalContext: text}}, last.percent
}
