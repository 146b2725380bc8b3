// Package wording puts what a run is made of in words: times, sums, iterations, findings, and Markdown of ours.
package wording

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/regex"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Clock is a time of day; a report is read on the same day or not at all, the table carries the rest.
func Clock(t time.Time) string { return t.UTC().Format("15:04 UTC") }

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

// claimTag is the sign by which an agent claims to be done; it says nothing to people.
var claimTag = regex.Lazy(`(?is)<(response|promise)>.*?</(response|promise)>|</?question>`)

func withoutTag(said string) string { return claimTag.ReplaceAllString(said, "") }

// Spoken is what the agent said in an iteration, for people: without the tag of a claim, and a reviewer's verdict in
// words.
func Spoken(it *loop.Iteration) string {
	return withoutTag(verdictInWords(it.Turn.Text))
}

// verdictInWords is a text whose end, where that is a reviewer's JSON object, is its reasons. What is no such object
// stays.
func verdictInWords(text string) string {
	object := safetext.LastObject(text, "verdict")
	var a struct {
		Verdict string `json:"verdict"`
		Summary string `json:"summary"`
		Issues  []struct {
			File    string `json:"file"`
			Line    int    `json:"line"`
			Problem string `json:"problem"`
		} `json:"issues"`
	}
	if json.Unmarshal([]byte(object), &a) != nil || a.Verdict == "" {
		return text
	}
	before := strings.TrimSpace(text[:strings.LastIndex(text, object)])
	lines := []string{strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(before, "```json"), "```")), safetext.OneLine(a.Summary)}
	for _, issue := range a.Issues {
		lines = append(lines, JoinedBy(": ", Place(loop.Finding{File: issue.File, Line: issue.Line}), safetext.OneLine(issue.Problem)))
	}
	return JoinedBy("\n", lines...)
}
