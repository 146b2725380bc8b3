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

// AppNeeds is what Examine holds the App, its installation and a repository against.
type AppNeeds struct {
	Permissions Permissions // see Needed
	Labels      []string
	// The files that settings are read from: of the owner's repository for all (".github", "ralph.json"), and of the
	// repository itself.
	OrganisationRepository, OrganisationFile, SettingsFile string
	// Settings judges both files, nil for one that does not exist. Its error is what is wrong with them, or not allowed.
	Settings func(organisation, own []byte) (AppSettings, error)
	// HasKey reports whether the server has a key for the model of an agent, as far as it is known which one that needs.
	HasKey func(agent string) (has, known bool)
}

// AppSettings is what settings ask for, as far as an App has to be granted it and a server has to have it.
type AppSettings struct {
	Agent    string // "claude", or the path of a program
	Dispatch bool   // a workflow of the repository does the runs: the server needs no key, and must start it
}

// fewCalls is the part of a budget below which a run may have to wait.
const fewCalls = 10

// Examine looks at a repository as the App sees it: the App, the installation and what it was granted,
// the repository, its labels and settings, the key of its agent, and how many calls are left. It writes nothing, and
// what cannot be read is a fact too: there is no error.
func (a *App) Examine(ctx context.Context, repo event.Repo, need AppNeeds) Report {
	x := &appExamination{a: a, need: need, repo: repo, e: factCollector{ctx: ctx}}
	self, ok := x.self()
	if !ok {
		return x.e.report
	}
	in, ok := x.installation(self)
	if !ok {
		return x.e.report
	}
	if x.client(in, self) && x.e.repository() {
		x.e.labels(need.Labels)
		x.settings(self, in)
	}
	x.budget(in)
	return x.e.report
}

type appExamination struct {
	a    *App
	need AppNeeds
	repo event.Repo
	e    factCollector
}

// self says who the App is; without an answer there is nothing else to ask.
func (x *appExamination) self() (Self, bool) {
	const what = "the App"
	self, err := x.a.Self(x.e.ctx)
	if err != nil {
		x.e.add(what, Problem, err.Error(), "Look at the App ID and the private key that this server has.")
		return self, false
	}
	x.e.add(what, OK, fmt.Sprintf("It is %s of %s, and writes as %s[bot].", oneLine(self.Name), oneLine(self.Owner),
		oneLine(self.Slug)), "")
	var deaf []string
	for _, event := range NeededEvents() {
		if !slices.Contains(self.Events, event) {
			deaf = append(deaf, event)
		}
	}
	if len(deaf) > 0 {
		x.e.add(what, Problem, "It does not hear of "+strings.Join(deaf, ", ")+".",
			"Subscribe it to these events at "+self.Settings+"/permissions.")
	}
	if off := x.a.ClockOff(); off != 0 {
		x.e.add("the clock", Warning, fmt.Sprintf("GitHub's clock is %s ahead of this machine's.", off.Round(time.Second)),
			"Set this machine's clock, best by NTP.")
	}
	return self, true
}

// installation says whether the App is on the repository, and what it was granted there.
func (x *appExamination) installation(self Self) (AppInstallation, bool) {
	const what = "the installation"
	in, err := x.a.InstallationOf(x.e.ctx, x.repo)
	switch {
	case errors.Is(err, ErrNotInstalled):
		x.e.add(what, Problem, "The App is not installed on "+oneLine(x.repo.String())+".",
			"Install it, or add the repository, at "+self.Page+".")
		return in, false
	case err != nil:
		x.e.add(what, Problem, err.Error(), "")
		return in, false
	}
	g := Grants(self, in, x.need.Permissions)
	switch {
	case in.Suspended:
		x.e.add(what, Problem, g.Problem, g.Advice)
		return in, false
	case g.Problem == "":
		x.e.add(what, OK, "The App is installed on "+oneLine(in.Account)+" and has all that ralph needs.", "")
	case lacksMuch(g.Lacks):
		x.e.add("permissions", Problem, g.Problem, g.Advice)
	default:
		x.e.add("permissions", Warning, g.Problem, g.Advice)
	}
	return in, true
}

// client makes the one that reads the repository.
func (x *appExamination) client(in AppInstallation, self Self) bool {
	installed, err := x.a.as(in.ID)
	if err == nil {
		x.e.c, err = newClient(Options{APIURL: x.a.o.APIURL, Repo: x.repo, Log: x.a.o.Log, Sleep: x.a.o.Sleep,
			Timeout: x.a.o.Timeout, DryRun: true,
			As: &Installation{Login: self.Slug + "[bot]", Token: installed.source.Token}})
	}
	if err != nil {
		x.e.add("the repository", Problem, err.Error(), "")
	}
	return err == nil
}

// settings says whether the settings can be read and what is wrong with them, and whether their agent's key is known.
func (x *appExamination) settings(self Self, in AppInstallation) {
	const what = "settings"
	if x.need.Settings == nil {
		return
	}
	shared := event.Repo{Owner: x.repo.Owner, Name: x.need.OrganisationRepository}
	organisation, err := x.a.File(x.e.ctx, in.ID, shared, x.need.OrganisationFile)
	var own []byte
	if err == nil {
		own, err = x.a.File(x.e.ctx, in.ID, x.repo, x.need.SettingsFile)
	}
	if err != nil {
		x.e.unread(what, err, "Grant the App the permission contents: read.")
		return
	}
	asked, err := x.need.Settings(organisation, own)
	if err != nil {
		x.e.add(what, Problem, oneLine(err.Error()), "Correct it on the default branch.")
		return
	}
	switch {
	case organisation == nil && own == nil:
		x.e.add(what, OK, "No settings: the defaults apply.", "")
	case own == nil:
		x.e.add(what, OK, "Those of "+shared.String()+" count; the repository has none of its own.", "")
	case organisation == nil:
		x.e.add(what, OK, "Those of "+x.need.SettingsFile+" can be read.", "")
	default:
		x.e.add(what, OK, "Those of "+x.need.SettingsFile+" can be read, and count over those of "+shared.String()+".", "")
	}
	x.worker(self, in, asked)
}

// worker reports whether the runs can start: on the server with a key, in a workflow with the permission to start it.
func (x *appExamination) worker(self Self, in AppInstallation, asked AppSettings) {
	if asked.Dispatch {
		if g := Grants(self, in, Permissions{"actions": "write"}); len(g.Lacks) > 0 {
			x.e.add("permissions", Problem, "A workflow does the runs, and the App cannot start it. "+g.Problem, g.Advice)
		}
		return
	}
	if x.need.HasKey == nil {
		return
	}
	switch has, known := x.need.HasKey(asked.Agent); {
	case !known:
	case has:
		x.e.add("the agent's key", OK, "This server has a key for "+oneLine(asked.Agent)+".", "")
	default:
		x.e.add("the agent's key", Problem, "This server has no key for "+oneLine(asked.Agent)+".",
			"Give the server the key of its model, or name another agent in the settings.")
	}
}

// budget warns when few calls are left, as the answers to this examination have said.
func (x *appExamination) budget(in AppInstallation) {
	const what = "GitHub's budget of calls"
	switch b := x.a.Budgets()[in.ID]; {
	case b.Limit == 0:
	case b.Left*100 < b.Limit*fewCalls:
		x.e.add(what, Warning, fmt.Sprintf("%d of %d calls are left until %s.", b.Left, b.Limit,
			b.Resets.UTC().Format("15:04 UTC")), "Wait until then, or look which repository uses so many.")
	default:
		x.e.add(what, OK, fmt.Sprintf("%d of %d calls are left in this hour.", b.Left, b.Limit), "")
	}
}

// File reads a file of a repository's default branch; nil if none exists, or the App may not see the repository.
func (a *App) File(ctx context.Context, installation int64, repo event.Repo, path string) ([]byte, error) {
	in, err := a.as(installation)
	if err != nil {
		return nil, err
	}
	c := &Client{o: Options{Repo: repo}, api: in.api}
	content, ok, err := c.File(ctx, "", path)
	if ok && content == nil { // an empty file is there
		content = []byte{}
	}
	return content, err
}
