package report

import (
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
)

// stateWord is the run's state in one word.
func (v View) stateWord() string {
	if e := v.State.End; e != nil {
		return string(e.Outcome)
	}
	return "running"
}

var signs = map[string]string{
	"running": "🔄", string(loop.Done): "✅", string(loop.Waiting): "⏸️", string(loop.Interrupted): "⏹️",
	string(loop.Invalid): "⚠️", string(loop.Refused): "⛔",
}

func (v View) sign() string {
	if s, ok := signs[v.stateWord()]; ok {
		return s
	}
	return "❌"
}

func (v View) runningLine() string {
	s := v.State
	switch last := s.Last(); {
	case s.Pause != nil:
		return fmt.Sprintf("Waiting until %s before iteration %d of %d", clock(s.Pause.Until), last.N, s.MaxIterations)
	case s.Turning != nil:
		return joinedBy(": ", fmt.Sprintf("Working: iteration %d of %d", s.Turning.Iteration, s.MaxIterations), v.step())
	case last == nil:
		return "Starting"
	default:
		return joinedBy(": ", fmt.Sprintf("Working: iteration %d of %d", last.N, s.MaxIterations), v.step())
	}
}

// now says in one sentence what a running run does at this moment.
func (v View) now() string {
	s := v.State
	last := s.Last()
	switch {
	case s.Pause != nil:
		return v.text(s.Pause.Reason, 300)
	case v.heeding():
		who := "other workflows found"
		if by := v.code(s.Feedback.By, 60); by != "" {
			who = by + " asked for"
		}
		return fmt.Sprintf("The agent works on what %s since %s.", who, clock(s.Turning.At))
	case s.Turning != nil:
		return fmt.Sprintf("The agent %s since %s.", doing(s.Turning.Mode, v.name(s.Turning.Story, 40)), clock(s.Turning.At))
	case last == nil && !s.Baselined:
		return "The checks run on the base commit first, to know what already fails."
	case last == nil:
		return "The first iteration is about to begin."
	case last.Commit == nil:
		return "What the agent changed is being committed."
	case !last.Judged:
		return sentence(joinedBy(": ", "The checks run on what the agent changed", v.deciders(5)))
	case last.Failure() != nil && last.N < s.MaxIterations:
		return "The next iteration begins with what failed."
	case s.PlanDue:
		return "The plan's file is put right again."
	case s.Plan != nil && v.open() && last.N < s.MaxIterations:
		return "The next iteration is about to begin."
	}
	return "The result is being written down."
}

// heeding reports whether the turn that runs is the first for what a review of people, or other workflows, asked for.
func (v View) heeding() bool {
	s := v.State
	return s.Feedback != nil && s.Turning != nil && s.Turning.Mode == loop.ReviewFix && s.Turning.Iteration == s.Reopened+1
}

// silent says since when a run that should be working has given no sign of life; "" when it has.
func (v View) silent() string {
	s := v.State
	if s.End != nil || s.Lease.IsZero() || v.Now.IsZero() || !v.Now.After(s.Lease) {
		return ""
	}
	return fmt.Sprintf(
		"⚠️ No sign of life since %s; the process that worked on it seems to be gone. %s takes it up again.",
		clock(s.At), v.command("continue"))
}

// doing is what a turn is for, with the story of a plan.
func doing(m loop.Mode, story string) string {
	switch {
	case m == loop.Review && story != "":
		return "reviews " + story
	case m == loop.ReviewFix && story != "":
		return "works on what the review of " + story + " asked for"
	case m == loop.Review:
		return "reviews the change"
	case m == loop.ReviewFix:
		return "works on what the reviewer asked for"
	case story != "":
		return "implements " + story
	}
	return "writes the change"
}

// clock is a time of day; a report is read on the same day or not at all, the table carries the rest.
func clock(t time.Time) string { return t.UTC().Format("15:04 UTC") }

// duration is a length of time in at most two units; below ten seconds with a tenth.
func duration(d time.Duration) string {
	switch {
	case d <= 0:
		return "0s"
	case d < 10*time.Second-50*time.Millisecond && d%time.Second != 0:
		return fmt.Sprintf("%.1fs", max(d.Seconds(), 0.1))
	}
	d = d.Round(time.Second)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm %02ds", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%dh %02dm", d/time.Hour, d%time.Hour/time.Minute)
}

// tokens is a number of tokens in three figures at most.
func tokens(n int64) string {
	switch {
	case n < 1_000:
		return fmt.Sprint(n)
	case n < 10_000:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", n/1e3)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

func dollars(usd float64) string {
	if usd > 0 && usd < 0.01 {
		return "<$0.01"
	}
	return fmt.Sprintf("$%.2f", usd)
}

// spent is a usage in words; "" when nothing is known.
func spent(u loop.Usage) string {
	in := u.Input + u.CacheRead + u.CacheWrite
	switch {
	case in+u.Output == 0 && u.CostUSD == 0:
		return ""
	case in+u.Output == 0:
		return dollars(u.CostUSD)
	}
	text := fmt.Sprintf("%s tokens in (%s from cache), %s out", tokens(in), tokens(u.CacheRead), tokens(u.Output))
	if u.CostUSD > 0 {
		text = dollars(u.CostUSD) + " · " + text
	}
	return text
}
