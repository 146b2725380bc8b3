package status

import (
	_ "embed" // the text
	"fmt"
	"slices"
	"strings"
	"sync"
	"text/template"

	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// mostStories and mostVerifications are how many of them a terminal shows; the JSON has all.
const (
	mostStories       = 12
	mostVerifications = 10
)

//go:embed run.txt
var runText string

var runTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("run").Funcs(template.FuncMap{
		"line": func(name string, text ...string) string {
			if text := strings.TrimSpace(strings.Join(text, " ")); text != "" {
				return fmt.Sprintf("%-11s %s\n", name, text)
			}
			return ""
		},
		"brief":    func(most int, text string) string { return wording.Brief(text, most) },
		"joined":   func(parts ...string) string { return wording.JoinedBy(" — ", parts...) },
		"words":    func(parts ...string) string { return wording.JoinedBy(" ", parts...) },
		"string":   func(v any) string { return fmt.Sprint(v) },
		"feedback": func(text string) string { return strings.TrimPrefix(text, plan.AtCap) },
		"atCap":    func() string { return plan.AtCap },
		"count":    safetext.Count,
		"clock":    wording.Clock,
	}).Parse(runText))
})

// Text is the standing for people at a terminal. What others wrote is on one line each, and not yet made harmless for a
// terminal.
func (st RunStatus) Text() string {
	if st.State == "none" {
		return st.Reason + "\n"
	}
	open := slices.DeleteFunc(slices.Clone(st.Stories), func(s StandingStory) bool { return s.Done && !s.AtCap })
	earlier, more := max(0, len(st.Verifications)-mostVerifications), max(0, len(open)-mostStories)
	return filled(runTemplate(), struct {
		RunStatus

		Cost, Tally   string
		Open          []StandingStory // those that are not done, and those at the cap
		More, Earlier int             // that are not shown
		Verified      []report.Verified
	}{st, st.cost, st.stories, open[:len(open)-more], more, earlier, st.Verifications[earlier:]})
}

// filled is what one of our own templates makes of a value, into memory: it fails only when it is written wrongly.
func filled(t *template.Template, value any) string {
	var b strings.Builder
	if err := t.Execute(&b, value); err != nil {
		panic(err)
	}
	return b.String()
}

// Line is the standing in one line.
func (st RunStatus) Line() string {
	at := fmt.Sprintf("iteration %d", st.Iteration)
	if st.MaxIterations > 0 {
		at = fmt.Sprintf("iteration %d/%d", st.Iteration, st.MaxIterations)
	}
	switch {
	case st.State == "none":
		return st.Reason
	case st.Iteration == 0:
		at = "before the first iteration"
	}
	text := st.State + ": " + at
	if st.Doing != "" {
		text += ", " + st.Doing
	}
	if st.LockIsRun {
		text += fmt.Sprintf(" (process %d)", st.LockPID)
	}
	if !st.Until.IsZero() {
		text += ", until " + st.Until.Format("2006-01-02 15:04 UTC")
	}
	if st.Reason != "" {
		text += "; " + wording.Brief(st.Reason, 300)
	}
	return text
}
