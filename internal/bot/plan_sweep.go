package bot

import (
	"context"
	"fmt"
	"iter"
	"path"
	"slices"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/planrun"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// plans are the plan files of the settings that are not complete and that no one works on. One whose last run has ended
// is left alone until someone changes the file: more of the same would end as that did, and what is done waits for its
// merge.
func (a *Action) plans(ctx context.Context, ev event.Event, facts event.Facts, left func() (github.Pending, error),
	runs []loop.State, held map[string]bool) iter.Seq2[pending, error] {
	return func(yield func(pending, error) bool) {
		if a.Inputs.Issue != 0 {
			return
		}
		set, err := a.settingsLeft(ctx, a.baseBranch(ev), left)
		if err != nil {
			a.log("the plans of the settings are skipped: %v", err)
			return
		}
		for _, file := range set.Plans {
			a.github.Recount()
			if file = path.Clean(file); !a.wantsPlan(file) || ctx.Err() != nil {
				continue
			}
			wanted, why := a.openPlan(ctx, planRequest(ev, file), set, runs, held)
			if wanted == nil {
				a.log("%s is skipped: %s", file, why)
				continue
			}
			held[wanted.ID] = true
			if !yield(pending{request: planRequest(ev, file), facts: facts, plan: wanted, why: why}, nil) {
				return
			}
		}
	}
}

// openPlan is a plan of the settings with what is left of it, or nil and why it is left alone.
func (a *Action) openPlan(ctx context.Context, request event.Request, set config.Settings, runs []loop.State,
	held map[string]bool) (*workRequest, string) {
	wanted, err := a.planFileRequest(ctx, request)
	if err != nil {
		return nil, err.Error()
	}
	p, _, err := plan.Read(request.PlanFile, wanted.plan.Content)
	if err != nil {
		return nil, err.Error()
	}
	rules := planrun.Rules(set)
	last := slices.IndexFunc(runs, func(s loop.State) bool { return s.Start.Task == wanted.ID })
	var recorded []plan.RecordedReview
	if last >= 0 {
		recorded = runs[last].OnRecord()
	}
	says := p
	p, _, claims := p.Bound(rules, recorded)
	switch {
	case p.Complete(rules):
		return nil, "it is complete" + p.Marks()
	case says.Complete(rules): // no one has asked for the reviews that are missing
		return nil, fmt.Sprintf("it says that it is complete, but no record has an approval of %s; run it to review those", safetext.FirstN(planrun.Claimed(claims), 10))
	case held[wanted.ID]:
		return nil, "its run is alive"
	case last >= 0 && runs[last].End != nil && samePlan(runs[last], wanted.plan.Content):
		return nil, fmt.Sprintf("its run %s ended %s, and the file has not changed since", runs[last].Start.Run,
			runs[last].End.Outcome)
	}
	return &wanted, fmt.Sprintf("%d of its %s left to do", len(p.Stories)-p.Passed(),
		safetext.Counted(len(p.Stories), "story is", "stories are"))
}

// settingsLeft are the settings of a branch, of the call that has brought them, else of one of their own.
func (a *Action) settingsLeft(ctx context.Context, branch string,
	left func() (github.Pending, error)) (config.Settings, error) {
	is, err := left()
	if err != nil || is.Partial {
		return a.settingsAt(ctx, branch)
	}
	return a.settingsOf(is.Content, is.Content != nil)
}

// settingsAt are the settings of a branch as it is now. A run reads those of its base commit again.
func (a *Action) settingsAt(ctx context.Context, branch string) (config.Settings, error) {
	content, ok, err := a.github.File(ctx, branch, config.SettingsFile)
	if err != nil {
		return config.Settings{}, err
	}
	return a.settingsOf(content, ok)
}

// settingsOf are the settings with those of a file, if there is one.
func (a *Action) settingsOf(content []byte, ok bool) (config.Settings, error) {
	layers := a.Server.layers()
	if ok {
		layers = append(layers, config.Layer{Name: config.SettingsFile, JSON: content})
	}
	return a.allowed(append(layers, a.Inputs.Layers()...))
}
