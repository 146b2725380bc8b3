package bot

import (
	"context"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
)

// view shows a state as this job's reports do.
func (a *Action) view(s loop.State) report.View {
	v := report.View{
		State: s, Now: a.Clock(), ServerURL: a.Env.ServerURL, Repo: a.Env.Repository, Phrase: a.rules.TriggerPhrase,
		Redact: a.redact,
	}
	if a.github != nil {
		v.TokenNote = a.github.TokenNote()
	}
	switch {
	case s.RunURL != "" && a.Server != nil:
		v.ReportURL = s.RunURL
	case s.RunURL != "":
		v.ReportURL = s.RunURL + "#artifacts"
	}
	return v
}

// viewOn is a view with what the repository says of how pull requests are written here. It is read once, from the base
// commit; what cannot be read is left out.
func (a *Action) viewOn(ctx context.Context, spec *engine.Spec, ev event.Event) func(loop.State) report.View {
	template, err := pullTemplate(ctx, spec)
	a.warn("reading the template for pull requests", err)
	subjects, err := spec.Tree.Subjects(ctx, spec.Tree.Base(), 50)
	a.warn("reading how commits are written here", err)
	on := labels(ev)
	return func(s loop.State) report.View {
		v := a.view(s)
		v.Template, v.Subjects, v.Labels = template, subjects, on
		v.Limits = loop.Limits{CostUSD: spec.Settings.MaxCostUSD, Tokens: int64(spec.Settings.MaxTokens),
			IssueCostUSD: spec.Settings.MaxCostUSDPerIssue}
		v.Worktree = spec.Tree.Dir()
		return v
	}
}

// pullTemplate is the repository's own template for pull requests; empty when it has none.
func pullTemplate(ctx context.Context, spec *engine.Spec) (string, error) {
	files, err := spec.Tree.Files(ctx, spec.Tree.Base())
	if err != nil {
		return "", err
	}
	for _, path := range report.TemplatePaths {
		i := slices.IndexFunc(files, func(f git.Entry) bool { return strings.EqualFold(f.Path, path) })
		if i < 0 {
			continue
		}
		content, _, err := spec.Tree.Read(ctx, spec.Tree.Base(), files[i].Path, 64<<10)
		return string(content), err
	}
	return "", nil
}
