package prompt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// shift is the section for a run that repeats itself: the failure, and what not to do again, both from the record.
func shift(s loop.State, border safetext.Border) string {
	spin := s.Spins()
	tried := list(forbidden(s, spin), 1<<10, "- ", "of the same") + "\n\n"
	if trace := trace(spin); trace != "" {
		tried += fmt.Sprintf("The error, %s:\n\n%s\n", line(spin.Told()), verbatim(trace))
	}
	return section("shift.md", asData(border, "what not to do, and the error", tried))
}

// trace is the failure as its tool printed it.
func trace(spin loop.Repetition) string {
	f := spin.Failure
	if f == nil {
		return ""
	}
	for _, text := range []string{f.Output, f.PromptText, f.Reason} {
		if strings.TrimSpace(text) != "" {
			return middle(text, maxTrace)
		}
	}
	return ""
}

// forbidden is what must not be tried again: what the attempts with the same failure changed, and what they concluded.
func forbidden(s loop.State, spin loop.Repetition) []string {
	its := judged(s, max(spin.Over, 1))
	its = its[max(0, len(its)-20):]
	first := fmt.Sprintf("repeat the approach of %s, which changed %s", attemptsOf(its, spin.Over), touched(its))
	if left := errorLine(spin.Failure); left != "" {
		first += " and left: " + left
	}
	out := []string{first}
	if slices.ContainsFunc(its, func(it *loop.Iteration) bool { return it.Turn.Claim.Done && it.Commit != nil && it.Commit.Empty }) {
		out = append(out, "claim again to be done without having changed anything")
	}
	for _, said := range said(its) {
		out = append(out, fmt.Sprintf("continue from what was said then and did not help: %q", said))
	}
	return append(out, "make the failure go away by weakening, skipping or deleting what reports it")
}

func attemptsOf(its []*loop.Iteration, count int) string {
	if len(its) == 0 {
		return "the attempts before"
	}
	last := its[len(its)-1].N
	if count < 2 {
		return fmt.Sprintf("attempt %d", last)
	}
	return fmt.Sprintf("attempts %d to %d", last-count+1, last)
}

// touched names the files that attempts changed between them.
func touched(its []*loop.Iteration) string {
	var files []string
	for _, it := range its {
		if it.Commit == nil {
			continue
		}
		for _, name := range names(it.Commit) {
			if !slices.Contains(files, name) {
				files = append(files, name)
			}
		}
	}
	if len(files) == 0 {
		return "nothing"
	}
	return safetext.AndMore(files, 5)
}

// said is how the last attempts ended their last messages, each once.
func said(its []*loop.Iteration) []string {
	var out []string
	for _, it := range its[max(0, len(its)-loop.Window):] {
		words := lineOf(it.Turn.Text, 120)
		if words != "" && !slices.Contains(out, words) {
			out = append(out, words)
		}
	}
	return out
}

// errorLine is the line of a failure that says most: the first place that it names, otherwise the check's reason.
func errorLine(f *loop.Verdict) string {
	if f == nil {
		return ""
	}
	for _, at := range f.Findings {
		if text := line(strings.Trim(position(at.File, at.Line)+": "+at.Message, ": ")); text != "" {
			return text
		}
	}
	return line(f.Reason)
}
