package serve

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/launch"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
)

const examineTime = 900 * time.Millisecond // a page waits no longer

const inAMoment = "Load the page again in a moment."

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
	before.Doctor = append([]web.Finding{{Level: "warning", What: "GitHub has not answered yet; trying again", Advice: inAMoment}},
		before.Doctor...)
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
	report := app.Examine(ctx, repositoryOf(name), []string{v.o.Rules.TriggerLabel})
	if out.Doctor = v.facts(report.Facts); report.Installation.ID != 0 {
		v.examineSettings(ctx, app, report, &out)
	}
	return out
}

// examineSettings says whether the settings can be read and what is wrong with them, and whether runs can start: on this
// server with a key of their agent, in a workflow with the permission to start it.
func (v source) examineSettings(ctx context.Context, app *github.App, on github.AppReport, out *web.Repository) {
	add := func(level, what, advice string) {
		out.Doctor = append(out.Doctor, v.found(level, what, advice))
	}
	found, err := v.settingsOf(ctx, app, on.Installation.ID, out.Name)
	if err != nil {
		add("warning", "settings: "+brief(err, 300), "")
		return
	}
	for _, note := range found.notes {
		add("warning", note, "")
	}
	if out.Settings = found.rows; found.mistake != nil {
		add("error", "settings: "+safetext.OneLine(found.mistake.Error()), "Correct it on the default branch.")
		return
	}
	add("ok", "settings: "+cmp.Or(strings.Join(found.files, ", then "), "no file, so the defaults apply"), "")
	if found.Dispatch == config.InWorkflow {
		if g := github.Grants(on.Self, on.Installation, github.Permissions{"actions": "write"}); len(g.Lacks) > 0 {
			add("error", "permissions: A workflow does the runs, and the App cannot start it. "+g.Problem, g.Advice)
		}
		return
	}
	switch has, known := v.models.HasKey(found.Agent.Command); {
	case !known:
	case has:
		add("ok", "this server has a key for "+found.Agent.Command, "")
	default:
		add("error", "this server has no key for "+found.Agent.Command,
			"Give the server the key of its model, or name another agent in the settings.")
	}
}

// levels are the grades of facts in the words of pages.
var levels = map[github.Grade]string{github.OK: "ok", github.Problem: "error", github.Warning: "warning", github.Unknown: "warning"}

// facts are facts as pages show them.
func (p *parts) facts(list []github.Fact) []web.Finding {
	return safetext.Map(list, func(f github.Fact) web.Finding { return p.found(levels[f.Grade], f.What+": "+f.Says, f.Advice) })
}

func (p *parts) found(level, what, advice string) web.Finding {
	return web.Finding{Level: level, What: what, Advice: advice, URL: addressIn(advice, p.o.GitHub.Web())}
}

// addressIn is the first address of GitHub in an advice: where to follow it.
func addressIn(advice, hub string) string {
	return regexp.MustCompile(regexp.QuoteMeta(hub+"/") + `\S*[^\s.,;:)]`).FindString(advice)
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
		return p.found("ok", "the App is installed and may do what ralph needs", "")
	}
	return p.found("error", g.Problem, g.Advice)
}

// settings are those that a run of a repository would have.
type settings struct {
	config.Settings                // with what the account is allowed; the requested ones if that is refused
	shared          []config.Layer // of the account's file; empty: none exists
	files           []string       // that were read
	rows            []web.Setting  // as the page shows them
	notes           []string       // what this server has lowered
	own             bool           // the mistake is in the repository's file, as its default branch has it
	mistake         error          // in a file, or what is not allowed
}

// settingsOf reads the settings of a repository as they are now.
func (p *parts) settingsOf(ctx context.Context, app *github.App, installation int64, name string) (settings, error) {
	owner := accountOf(name)
	shared, _, err := app.In(installation, event.Repo{Owner: owner, Name: config.OrganizationRepository}).File(ctx, "",
		config.OrganizationFile)
	if err != nil {
		return settings{}, err
	}
	own, _, err := app.In(installation, repositoryOf(name)).File(ctx, "", config.SettingsFile)
	return judge(owner, shared, own, p.o.Allow.Of(owner)), err
}

// judge holds the files of an account and a repository, nil for one that does not exist, against each other and what the
// account is allowed.
func judge(owner string, shared, own []byte, allow config.Allowance) (s settings) {
	if shared != nil {
		var layer config.Layer
		if layer, s.mistake = config.Organization(owner, shared); s.mistake != nil {
			return s
		}
		s.shared = []config.Layer{layer}
	}
	layers := s.shared
	if own != nil {
		layers = append(slices.Clip(layers), config.Layer{Name: config.SettingsFile, JSON: own})
	}
	s.files = safetext.Map(layers, func(l config.Layer) string { return l.Name })
	read, err := config.Explain(layers...)
	if err != nil {
		s.own, s.mistake = true, err
		return s
	}
	given, notes, refused := allow.Apply(read)
	if refused == nil {
		read = given
	}
	rows, err := read.Rows(nil)
	s.rows = safetext.Map(rows, func(r config.Row) web.Setting { return web.Setting{Key: r.Key, Value: r.Value, From: r.From} })
	s.Settings, s.notes, s.mistake = read.Settings, notes, errors.Join(refused, err)
	return s
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
	shown := safetext.Map(runs, func(row store.Run) web.Run { return web.Run{Run: row, Shown: detailOf(row).Shown} })
	r.Took = web.TookBy(shown, func(web.Run) string { return "" })[""]
	for _, run := range runs {
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
