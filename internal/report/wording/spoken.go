package wording

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/regex"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// claimTag is the sign by which an agent claims to be done; it says nothing to people.
var claimTag = regex.Lazy(`(?is)<(response|promise)>.*?</(response|promise)>`)

func withoutTag(said string) string { return claimTag.ReplaceAllString(said, "") }

// Spoken is what the agent said in an iteration, for people: without the tag of a claim, and a reviewer's verdict in
// words.
func Spoken(it *loop.Iteration) string {
	return withoutTag(verdictInWords(it.Turn.Text))
}

// verdictInWords is a text whose end, where that is a reviewer's JSON object, is its reasons. What is no such object
// stays.
func verdictInWords(text string) string {
	body := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "```"))
	if !strings.HasSuffix(body, "}") {
		return text
	}
	for i := strings.LastIndex(body, "{"); i >= 0; i = strings.LastIndex(body[:i], "{") {
		var a struct {
			Verdict string `json:"verdict"`
			Summary string `json:"summary"`
			Issues  []struct {
				File    string `json:"file"`
				Line    int    `json:"line"`
				Problem string `json:"problem"`
			} `json:"issues"`
		}
		if json.Unmarshal([]byte(body[i:]), &a) != nil || a.Verdict == "" {
			continue
		}
		lines := []string{safetext.OneLine(a.Summary)}
		for _, issue := range a.Issues {
			where := issue.File
			if where != "" && issue.Line > 0 {
				where += fmt.Sprintf(":%d", issue.Line)
			}
			lines = append(lines, JoinedBy(": ", where, safetext.OneLine(issue.Problem)))
		}
		before := strings.TrimSpace(strings.TrimSuffix(
			strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(body[:i]), "```json")), "```"))
		return strings.TrimSpace(before + "\n" + strings.TrimSpace(strings.Join(lines, "\n")))
	}
	return text
}
