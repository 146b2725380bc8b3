package serve

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/launch"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
)

const examineTime = 900 * time.Millisecond // a page waits no longer

// examined returns the findings about a repository. While GitHub does not answer, it returns the earlier ones.
func (v source) examined(ctx context.Context, name string) (web.Repository, error) {
	soon, cancel := context.WithTimeout(ctx, examineTime)
	defer cancel()
	key := strings.ToLower(name)
	found, err := v.doctor.of(soon, key, func(ctx context.Context) (web.Repository, error) { return v.look(ctx, name), nil })
	if err == nil || ctx.Err() != nil {
		return found, err
	}
	before := v.doctor.last(key)
	before.Name = cmp.Or(before.Name, name)
	before.Doctor = append([]web.Finding{{Level: "warning", What: "GitHub has not answered yet; trying again",
		Advice: "Load the page again in a moment."}}, before.Doctor...)
	return before, nil
}

// doctorOf looks at one repository: about ten calls.
func (v source) doctorOf(ctx context.Context, name string) web.Repository {
	out := web.Repository{Name: name, Checked: v.o.Clock()}
	app, err := v.in.current(ctx)
	if err != nil {
		out.Doctor = []web.Finding{wrong(err)}
		return out
	}
	owner := accountOf(name)
	var read judged
	report := app.Examine(ctx, repositoryOf(name), github.AppNeeds{
		Permissions: github.Needed(false, false), Labels: []string{v.o.Rules.TriggerLabel},
		OrganisationRepository: config.OrganisationRepository, OrganisationFile: config.OrganisationFile,
		SettingsFile: config.SettingsFile, HasKey: v.models.HasKey,
		Settings: func(shared, own []byte) (github.AppSettings, error) {
			var err error
			read, err = judge(owner, shared, own, v.o.Allow.Of(owner))
			return github.AppSettings{Agent: read.agent, Dispatch: read.inWorkflow}, err
		},
	})
	for _, f := range report.Facts {
		out.Doctor = append(out.Doctor, finding(f, v.o.GitHub.Web()))
	}
	for _, note := range read.notes {
		out.Doctor = append(out.Doctor, web.Finding{Level: "warning", What: note})
	}
	out.Settings = read.rows
	return out
}

// finding is a fact as pages show it.
func finding(f github.Fact, hub string) web.Finding {
	out := web.Finding{Level: "warning", What: f.What + ": " + f.Says, Advice: f.Advice, URL: addressIn(f.Advice, hub)}
	switch f.Grade {
	case github.OK:
		out.Level = "ok"
	case github.Problem:
		out.Level = "error"
	case github.Warning, github.Unknown:
	}
	return out
}

// addressIn is the first address of GitHub in an advice: where to follow it.
func addressIn(advice, hub string) string {
	for _, word := range strings.Fields(advice) {
		if strings.HasPrefix(word, hub+"/") {
			return strings.TrimRight(word, ".,;:)")
		}
	}
	return ""
}

// mostDoctored is how many repositories the setup page looks at: each takes a call.
const mostDoctored = 50

// doctorOfAll looks at the installations and their repositories, for the setup page.
func (p *parts) doctorOfAll(ctx context.Context) (list []web.RepositoryDoctor) {
	app, err := p.in.current(ctx)
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
		findings := []web.Finding{p.grantOf(self, in)}
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
func (p *parts) grantOf(self github.Self, in github.AppInstallation) web.Finding {
	g := github.Grants(self, in, github.Needed(false, false))
	if g.Problem == "" {
		return web.Finding{Level: "ok", What: "the App is installed and may do what ralph needs"}
	}
	return web.Finding{Level: "error", What: g.Problem, Advice: g.Advice, URL: addressIn(g.Advice, p.o.GitHub.Web())}
}

// judged are the settings that a run of a repository would have.
type judged struct {
	rows       []web.Setting // as its page shows them
	notes      []string      // what this server has lowered
	agent      string
	inWorkflow bool // a workflow of the repository does the runs
}

// judge holds the files of an account and a repository, nil for one that does not exist, against each other and what the
// account is allowed. With an error about what is allowed, rows are the requested settings.
func judge(owner string, shared, own []byte, allow config.Allowance) (judged, error) {
	layers, err := layersOf(owner, shared, own)
	if err != nil {
		return judged{}, err
	}
	read, err := config.Explain(layers...)
	if err != nil {
		return judged{}, err
	}
	given, notes, refused := allow.Apply(read)
	if refused == nil {
		read = given
	}
	rows, err := read.Rows(nil)
	out := judged{notes: notes, agent: read.Settings.Agent.Command,
		inWorkflow: read.Settings.Dispatch == config.InWorkflow}
	for _, r := range rows {
		out.rows = append(out.rows, web.Setting{Key: r.Key, Value: r.Value, From: r.From})
	}
	return out, errors.Join(refused, err)
}

// layersOf are the files of an account and, last, of its repository; nil is one that does not exist.
func layersOf(owner string, shared, own []byte) (layers []config.Layer, err error) {
	if shared != nil {
		layer, err := config.Organisation(owner, shared)
		if err != nil {
			return nil, err
		}
		layers = append(layers, layer)
	}
	if own != nil {
		layers = append(layers, config.Layer{Name: config.SettingsFile, JSON: own})
	}
	return layers, nil
}

// source is what is known of repositories.
type source struct {
	*parts
	models launch.Models
	look   func(ctx context.Context, name string) web.Repository // doctorOf
	doctor *lookups[web.Repository]                              // by name in lower case
}

const month = 30 * 24 * time.Hour

func newSource(p *parts, models launch.Models) source {
	v := source{parts: p, models: models, doctor: &lookups[web.Repository]{clock: p.o.Clock}}
	v.look = v.doctorOf
	return v
}

// Self implements web.Repositories.
func (v source) Self() string { return v.in.self() }

// Repository implements web.Repositories.
func (v source) Repository(ctx context.Context, name string) (web.Repository, error) {
	r, err := v.examined(ctx, name)
	if err != nil {
		return r, err
	}
	since := v.o.Clock().Add(-month)
	runs, err := v.s.Runs(ctx, store.Filter{Repositories: []string{name}, Since: since, Limit: 1000})
	if err != nil {
		return r, err
	}
	counted := map[string]bool{} // by the names of the runs: the newest row of one has all that it has taken
	for _, run := range runs {
		if shown := detailOf(run); !counted[shown.Run] {
			counted[shown.Run] = shown.Run != ""
			r.Dollars += shown.Dollars
			r.Tokens += shown.Tokens
		}
		if run.Times.Ended.IsZero() || run.State == declined || run.State == web.Dispatched {
			continue
		}
		r.Ended++
		if run.State == string(loop.Done) {
			r.Done++
		}
	}
	return r, nil
}
