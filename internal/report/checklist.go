package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/wording"
)

// checkList says what decides, before and while it does.
func (v View) checkList(most int) string {
	names := v.deciders(most)
	if names == "" {
		return ""
	}
	text := "**Checks that decide:** " + names
	if v.State.Start.Detected != "" {
		text += "\n" + wording.Sentence(v.Text(v.State.Start.Detected, 300))
	}
	return text
}

// deciders are the checks in their order, and the review.
func (v View) deciders(most int) string {
	s := v.State.Start
	var names []string
	for i, c := range s.Checks {
		if i == most {
			names = append(names, fmt.Sprintf("%d more", len(s.Checks)-most))
			break
		}
		names = append(names, v.Code(c, 100))
	}
	switch {
	case v.State.Plan != nil && !v.State.Rules().SkipReview:
		names = append(names, "for each story a review by a fresh agent")
	case v.State.Plan == nil && s.Review:
		names = append(names, "a review by a fresh agent")
	}
	return strings.Join(names, ", ")
}

// baseline names the checks that already failed before the run, those apart that pass by now.
func (v View) baseline() string {
	var failing, passing []string
	for _, c := range v.State.Baseline {
		switch {
		case c.Skipped != "" || c.Pass || len(failing)+len(passing) == 10:
		case v.passes(c.Check):
			passing = append(passing, v.Code(c.Check, 80))
		default:
			failing = append(failing, v.Code(c.Check, 80))
		}
	}
	text := ""
	if len(failing) > 0 {
		text = "**Already failing before this run:** " + strings.Join(failing, ", ") + "\n\n"
	}
	if len(passing) > 0 {
		text += "**Failed before this run, and passes now:** " + strings.Join(passing, ", ")
	}
	return strings.TrimSpace(text)
}

// passes reports whether a check passed in the newest judged iteration.
func (v View) passes(check string) bool {
	it := v.Judged()
	return it != nil && slices.ContainsFunc(it.Verdicts,
		func(c loop.Verdict) bool { return c.Check == check && c.Pass && c.Skipped == "" })
}
