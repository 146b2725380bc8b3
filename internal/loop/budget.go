package loop

import (
	"fmt"
	"strings"
	"time"
)

// Left is what a run may still spend. A field of 0 is any amount.
type Left struct {
	CostUSD float64
	Tokens  int64
	OfIssue bool // CostUSD is what is left of what all runs of the issue may cost
}

// Setting is the setting that bounds CostUSD.
func (l Left) Setting() string {
	if l.OfIssue {
		return "maxCostUsdPerIssue"
	}
	return "maxCostUsd"
}

// Left says what a run whose records add up to s may still spend, and why that is nothing; why is empty while there is
// some. What it has spent since its last request counts against its own limits, and the spending of all runs of its
// issue against that of the issue.
func (l Limits) Left(s State) (left Left, why string) {
	run, issue := s.Spent(), s.OnIssue().CostUSD
	switch {
	case l.CostUSD > 0 && run.CostUSD >= l.CostUSD:
		why = "cost limit reached: " + dollarsOf(run.CostUSD, l.CostUSD)
	case l.IssueCostUSD > 0 && issue >= l.IssueCostUSD:
		why = "cost limit of the issue reached: " + dollarsOf(issue, l.IssueCostUSD)
	case l.Tokens > 0 && run.Tokens() >= l.Tokens:
		why = fmt.Sprintf("token limit reached: %d of %d used", run.Tokens(), l.Tokens)
	}
	if why != "" {
		return left, why
	}
	if l.CostUSD > 0 {
		left.CostUSD = l.CostUSD - run.CostUSD
	}
	if rest := l.IssueCostUSD - issue; l.IssueCostUSD > 0 && (left.CostUSD == 0 || rest < left.CostUSD) {
		left.CostUSD, left.OfIssue = rest, true
	}
	if l.Tokens > 0 {
		left.Tokens = l.Tokens - run.Tokens()
	}
	return left, ""
}

// Warning names the first limit of which 80% are used, and how much of it; empty if all have more left.
func (l Limits) Warning(s State) string {
	run, issue := s.Spent(), s.OnIssue().CostUSD
	switch {
	case nearLimit(run.CostUSD, l.CostUSD):
		return dollarsOf(run.CostUSD, l.CostUSD)
	case nearLimit(issue, l.IssueCostUSD):
		return dollarsOf(issue, l.IssueCostUSD) + " for all runs of the issue"
	case nearLimit(float64(run.Tokens()), float64(l.Tokens)):
		return fmt.Sprintf("%d of %d tokens used", run.Tokens(), l.Tokens)
	}
	return ""
}

func nearLimit(spent, limit float64) bool { return limit > 0 && spent >= limit*4/5 }

// Dollars writes an amount as people do, "$4.10"; one that has no whole cents keeps four digits, so that a little is
// not nothing.
func Dollars(usd float64) string {
	if short := fmt.Sprintf("%.2f", usd); fmt.Sprintf("%.4f", usd) == short+"00" {
		return "$" + short
	}
	return fmt.Sprintf("$%.4f", usd)
}

// dollarsOf writes what is spent and its limit with the same digits.
func dollarsOf(spent, limit float64) string {
	a, b := Dollars(spent), Dollars(limit)
	if len(a)-strings.IndexByte(a, '.') != len(b)-strings.IndexByte(b, '.') {
		a, b = fmt.Sprintf("$%.4f", spent), fmt.Sprintf("$%.4f", limit)
	}
	return a + " of " + b + " spent"
}

// overspent says why no turn may begin, of a run whose newest turn was stopped because of what it spent, or that has
// spent all it may.
func (s State) overspent(limits Limits) (stopped, why string) {
	_, why = limits.Left(s)
	if last := s.Last(); s.Turning == nil && last != nil && last.N > s.Reopened && last.Turn.Class == Spent &&
		last.Turn.Ours {
		if why == "" {
			return last.Turn.Reason, why
		}
		return fmt.Sprintf("%s, in the middle of iteration %d", why, last.N), why
	}
	return "", why
}

// Limits are what stops a run that does not finish.
type Limits struct {
	Deadline         time.Time     // zero: none
	Wall             time.Duration // what Deadline came from, for the sentence
	Soft             time.Time     // when to warn that the deadline comes near; zero: never
	NoWait           bool          // do not wait for a usage limit's reset inside the run
	NoStuckDetection bool          // however often a failure repeats itself: a run of a prompt
	// What may be spent since the last request for the run, and on its issue over all runs; 0: any amount.
	CostUSD      float64
	Tokens       int64
	IssueCostUSD float64
}

func (l Limits) over(at time.Time) bool { return !l.Deadline.IsZero() && !at.Before(l.Deadline) }
