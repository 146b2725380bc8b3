package github

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/event"
)

// AppReport is what was found about the App on a repository.
type AppReport struct {
	Facts        []Fact
	Self         Self
	Installation AppInstallation // its ID is 0 if the repository cannot be read
}

// Examine looks at a repository as the App sees it: the App, the installation and what it was granted, the repository
// and its labels. It writes nothing, and what cannot be read is a fact too: there is no error.
func (a *App) Examine(ctx context.Context, repo event.Repo, labels []string) (out AppReport) {
	e := &factCollector{ctx: ctx}
	defer func() { out.Facts = e.report.Facts }()
	var ok bool
	if out.Self, ok = a.examineSelf(e); !ok {
		return out
	}
	in, ok := a.examineInstallation(e, out.Self, repo)
	if !ok {
		return out
	}
	if e.c = a.In(in.ID, repo); e.repository() {
		out.Installation = in
		e.labels(labels)
	}
	return out
}

// examineSelf says who the App is; without an answer there is nothing else to ask.
func (a *App) examineSelf(e *factCollector) (Self, bool) {
	const what = "the App"
	self, err := a.Self(e.ctx)
	if err != nil {
		e.add(what, Problem, err.Error(), "Look at the App ID and the private key that this server has.")
		return self, false
	}
	e.add(what, OK, fmt.Sprintf("It is %s of %s, and writes as %s[bot].", oneLine(self.Name), oneLine(self.Owner),
		oneLine(self.Slug)), "")
	deaf := slices.DeleteFunc(NeededEvents(), func(event string) bool { return slices.Contains(self.Events, event) })
	if len(deaf) > 0 {
		e.add(what, Problem, "It does not hear of "+strings.Join(deaf, ", ")+".",
			"Subscribe it to these events at "+self.Settings+"/permissions.")
	}
	if off := a.ClockOff(); off != 0 {
		e.add("the clock", Warning, fmt.Sprintf("GitHub's clock is %s ahead of this machine's.", off.Round(time.Second)),
			"Set this machine's clock, best by NTP.")
	}
	return self, true
}

// examineInstallation says whether the App is on the repository, and what it was granted there.
func (a *App) examineInstallation(e *factCollector, self Self, repo event.Repo) (AppInstallation, bool) {
	const what = "the installation"
	in, err := a.InstallationOf(e.ctx, repo)
	g := Grants(self, in, Needed(false, false))
	switch {
	case errors.Is(err, ErrNotInstalled):
		e.add(what, Problem, "The App is not installed on "+oneLine(repo.String())+".",
			"Install it, or add the repository, at "+self.Page+".")
	case err != nil:
		e.add(what, Problem, err.Error(), "")
	case in.Suspended:
		e.add(what, Problem, g.Problem, g.Advice)
	case g.Problem == "":
		e.add(what, OK, "The App is installed on "+oneLine(in.Account)+" and has all that ralph needs.", "")
	default:
		e.add("permissions", gradeOf(g.Lacks), g.Problem, g.Advice)
	}
	return in, err == nil && !in.Suspended
}
