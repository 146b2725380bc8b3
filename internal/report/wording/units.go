// Package wording puts what a run is made of in words: times, sums, iterations, findings, and Markdown of ours.
package wording

import (
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Clock is a time of day; a report is read on the same day or not at all, the table carries the rest.
func Clock(t time.Time) string { return t.UTC().Format("15:04 UTC") }

// Duration is safetext.Duration.
func Duration(d time.Duration) string { return safetext.Duration(d) }

// Tokens is a number of tokens in three figures at most.
func Tokens(n int64) string {
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

func Dollars(usd float64) string {
	if usd > 0 && usd < 0.01 {
		return "<$0.01"
	}
	return fmt.Sprintf("$%.2f", usd)
}

// AgentUsage says what the agent itself counted in its turn, where the answers of its model say something else; "" otherwise.
func AgentUsage(t loop.Turn) string {
	if t.AgentUsage == nil {
		return ""
	}
	return "in its turn the agent counted " + UsageText(*t.AgentUsage) + ", and its model's answers say " + UsageText(t.Usage)
}

// UsageText is a usage in words; "" when nothing is known.
func UsageText(u loop.Usage) string {
	in := u.Input + u.CacheRead + u.CacheWrite
	switch {
	case in+u.Output == 0 && u.CostUSD == 0:
		return ""
	case in+u.Output == 0:
		return Dollars(u.CostUSD)
	}
	text := fmt.Sprintf("%s tokens in (%s from cache), %s out", Tokens(in), Tokens(u.CacheRead), Tokens(u.Output))
	if u.CostUSD > 0 {
		text = Dollars(u.CostUSD) + " · " + text
	}
	return text
}
