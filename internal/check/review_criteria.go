package check

import (
	"slices"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// unmet are the criteria that the reviewer says are not met.
func (a Answer) unmet() (list []loop.Criterion) {
	for _, c := range a.Criteria {
		if !c.Met {
			list = append(list, c)
		}
	}
	return list
}

// What a verdict keeps of the criteria.
const (
	maxCriteria  = 50
	maxCriterion = 500 // bytes of a criterion, and of its reason
)

// judged are the criteria as a verdict keeps them, those that are not met before the others when there are too many.
func (a Answer) judged() []loop.Criterion {
	list := a.Criteria
	if len(list) > maxCriteria {
		list = slices.Clone(list)
		slices.SortStableFunc(list, func(a, b loop.Criterion) int {
			switch {
			case a.Met == b.Met:
				return 0
			case a.Met:
				return 1
			}
			return -1
		})
		list = list[:maxCriteria]
	}
	var kept []loop.Criterion
	for _, c := range list {
		kept = append(kept, loop.Criterion{Text: safetext.ShortenBytes(safetext.OneLine(c.Text), maxCriterion), Met: c.Met,
			Reason: safetext.ShortenBytes(safetext.OneLine(c.Reason), maxCriterion)})
	}
	return kept
}

// Acceptances are the findings that a reader accepts by name with a reason. "all" is no name here: each wants a look.
func (a Answer) Acceptances(by string) (list []loop.Acceptance) {
	for _, one := range a.Accepts[:min(len(a.Accepts), 2*loop.MaxConcerns)] {
		name, reason := loop.ConcernName(one.Name), safetext.ShortenBytes(safetext.OneLine(one.Reason), maxCriterion)
		if name != loop.AcceptAll && name != "" && reason != "" {
			list = append(list, loop.Acceptance{Name: name, Reason: reason, By: by})
		}
	}
	return list
}
