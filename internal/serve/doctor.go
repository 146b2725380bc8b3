package serve

import (
	"context"
	"time"

	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/web"
)

// mostDoctored is how many repositories the setup page looks at: each takes a call.
const mostDoctored = 50

// doctorOfAll looks at the installations and their repositories, for the setup page.
func (sv *Server) doctorOfAll(ctx context.Context) (list []web.RepositoryDoctor) {
	app, _, err := sv.in.current(ctx)
	if err != nil {
		return nil
	}
	self, err := app.Self(ctx)
	if err != nil {
		return nil
	}
	all, err := app.Installations(ctx)
	if err != nil {
		return []web.RepositoryDoctor{{Repository: "the installations", Findings: []web.Finding{wrong(err)}}}
	}
	for _, in := range all {
		findings := grantOf(self, in)
		repositories, err := app.Repositories(ctx, in.ID)
		if err != nil {
			list = append(list, web.RepositoryDoctor{Repository: in.Account, Findings: append(findings, wrong(err))})
			continue
		}
		for _, r := range repositories {
			if len(list) == mostDoctored {
				return list
			}
			list = append(list, web.RepositoryDoctor{Repository: r.Repo.String(), Findings: findings})
		}
	}
	return list
}

// grantOf says whether an installation was granted what ralph needs.
func grantOf(self github.Self, in github.AppInstallation) []web.Finding {
	g := github.Grants(self, in, github.Needed(false, false))
	if g.Problem == "" {
		return []web.Finding{{Level: "ok", What: "the App is installed and may do what ralph needs"}}
	}
	f := web.Finding{Level: "error", What: g.Problem, Advice: g.Advice}
	if len(g.Pages) > 0 {
		f.URL = g.Pages[0]
	}
	return []web.Finding{f}
}

// drift is how far our clock is off GitHub's, as far as an answer has told. While it seems to be far off GitHub is asked
// again: someone may have set it meanwhile.
func (sv *Server) drift(ctx context.Context) (time.Duration, bool) {
	app, _, err := sv.in.current(ctx)
	if err != nil {
		return 0, false
	}
	if app.ClockOff().Abs() > mostDrift {
		_, _ = app.Self(ctx)
	}
	return app.ClockOff(), true
}
