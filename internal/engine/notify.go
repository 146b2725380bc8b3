package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/notify"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/report"
)

// Notify tells the places of the environment and the setting notify how the run ended. page is the job's; empty: there
// is none. What fails is logged: the run is what it is, whoever was told.
func (run *Run) Notify(ctx context.Context, v report.View, page string) {
	kind := v.Tells()
	if kind == "" {
		return
	}
	for _, place := range run.notified(kind) {
		err := place.Tell(ctx, message(v, kind, page), proc.Environment(run.Parent, proc.Allowed))
		if err != nil {
			run.Log("%v", err)
		}
	}
}

// notified are the places that want to know of an outcome of this kind.
func (run *Run) notified(kind string) []notify.Place {
	places := notify.Places(run.Parent)
	wanted := run.Settings.Notify
	if len(wanted) == 0 {
		return places
	}
	var told []notify.Place
	for _, w := range wanted {
		if len(w.On) > 0 && !slices.Contains(w.On, kind) {
			continue
		}
		i := slices.IndexFunc(places, func(p notify.Place) bool { return p.Name == w.To })
		if i < 0 {
			run.Log("nobody was told by %s: the environment variable is not set", w.To)
			continue
		}
		told = append(told, places[i])
	}
	return told
}

// message is what the run came to.
func message(v report.View, kind, page string) notify.Message {
	s := v.State
	outcome, cause := report.PlainOutcome(v)
	title := "ralph: " + outcome
	if about := v.PlainTitle(); about != "" {
		title = "ralph: " + strings.TrimSuffix(about, ".") + ": " + outcome
	}
	m := notify.Message{
		Kind: kind, Title: title, Text: cause, Outcome: string(s.End.Outcome), Repository: v.Repo, Task: s.Start.Task,
		Run: s.Start.Run, Branch: s.Branch().Name(), PullRequest: v.PullPage(), Page: page, Iterations: len(s.Iterations),
	}
	if s.Usage.CostUSD > 0 {
		m.CostUSD = &s.Usage.CostUSD
	}
	return m
}
