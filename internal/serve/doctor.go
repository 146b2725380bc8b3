package serve

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/event"
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
		findings := grantOf(self, in, false)
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

// doctorOf looks at one repository.
func (sv *Server) doctorOf(ctx context.Context, name string) (web.Repository, error) {
	out := web.Repository{Name: name, Checked: sv.o.Clock()}
	app, _, err := sv.in.current(ctx)
	if err != nil {
		return web.Repository{Name: name, Doctor: []web.Finding{wrong(err)}}, nil
	}
	owner, short, _ := strings.Cut(name, "/")
	in, err := app.InstallationOf(ctx, event.Repo{Owner: owner, Name: short})
	switch {
	case errors.Is(err, github.ErrNotInstalled):
		out.Doctor = []web.Finding{{Level: "error", What: "the App is not installed on it",
			Advice: "Add it to the App's installation."}}
		return out, nil
	case err != nil:
		out.Doctor = []web.Finding{wrong(err)}
		return out, nil
	}
	self, err := app.Self(ctx)
	if err != nil {
		out.Doctor = []web.Finding{wrong(err)}
		return out, nil
	}
	list, findings := settingsOf(ctx, app, job{Repository: name, Installation: in.ID}, sv.o.Allow.Of(owner))
	dispatch := slices.ContainsFunc(list, func(s web.Setting) bool {
		return s.Key == "dispatch" && s.Value == `"workflow"`
	})
	out.Settings, out.Doctor = list, append(grantOf(self, in, dispatch), findings...)
	return out, nil
}

// grantOf says whether an installation was granted what ralph needs, with dispatch also to start workflows.
func grantOf(self github.Self, in github.AppInstallation, dispatch bool) []web.Finding {
	g := github.Grants(self, in, github.Needed(false, dispatch))
	if g.Says == "" {
		return []web.Finding{{Level: "ok", What: "the App is installed and may do what ralph needs"}}
	}
	f := web.Finding{Level: "error", What: g.Says, Advice: g.Advice}
	if len(g.Pages) > 0 {
		f.URL = g.Pages[0]
	}
	return []web.Finding{f}
}

// drift is how far our clock is off GitHub's, as far as an answer has told.
func (sv *Server) drift() (time.Duration, bool) {
	app, _, err := sv.in.current(context.Background())
	if err != nil {
		return 0, false
	}
	return app.ClockOff(), true
}
