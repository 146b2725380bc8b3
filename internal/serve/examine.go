package serve

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/web"
)

// How long what was found out about a repository is shown without asking GitHub again. What is wrong is looked at again
// soon, since somebody may be mending it.
const (
	keepGood     = 5 * time.Minute
	keepBad      = time.Minute
	mostExamined = 2000 // repositories that are remembered
	examineTime  = 30 * time.Second
)

// examiner remembers what the doctor found out about repositories, so that pages cost no calls. It is safe for
// concurrent use.
type examiner struct {
	look  func(ctx context.Context, repository string) web.Repository
	clock func() time.Time

	one  singleflight.Group // however many ask for a repository, it is looked at once
	mu   sync.Mutex
	kept map[string]web.Repository // by name in lower case
}

// of is what is known of a repository, which is looked at when that is too old.
func (x *examiner) of(ctx context.Context, name string) (web.Repository, error) {
	key := strings.ToLower(name)
	if known, ok := x.known(key); ok && x.clock().Sub(known.Checked) < keeps(known) {
		return known, nil
	}
	looked := x.one.DoChan(key, func() (any, error) { // who asked first may leave: others wait, too
		looking, cancel := context.WithTimeout(context.WithoutCancel(ctx), examineTime)
		defer cancel()
		found := x.look(looking, name)
		x.keep(key, found)
		return found, nil
	})
	select {
	case <-ctx.Done():
		return web.Repository{}, ctx.Err()
	case result := <-looked:
		found, _ := result.Val.(web.Repository) // nothing else is returned
		return found, nil
	}
}

func keeps(r web.Repository) time.Duration {
	for _, f := range r.Doctor {
		if f.Level == "error" {
			return keepBad
		}
	}
	return keepGood
}

// known is what was found out, however old.
func (x *examiner) known(name string) (web.Repository, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	r, ok := x.kept[strings.ToLower(name)]
	return r, ok
}

func (x *examiner) keep(key string, r web.Repository) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.kept == nil || len(x.kept) >= mostExamined {
		x.kept = map[string]web.Repository{}
	}
	x.kept[key] = r
}

// doctorOf looks at one repository: about ten calls.
func (sv *Server) doctorOf(ctx context.Context, name string) web.Repository {
	out := web.Repository{Name: name, Checked: sv.o.Clock()}
	app, _, err := sv.in.current(ctx)
	if err != nil {
		out.Doctor = []web.Finding{wrong(err)}
		return out
	}
	owner := accountOf(name)
	var read judged
	report := app.Examine(ctx, repositoryOf(name), github.AppNeeds{
		Permissions: github.Needed(false, false), Labels: []string{sv.o.Rules.TriggerLabel},
		OrganisationRepository: config.OrganisationRepository, OrganisationFile: config.OrganisationFile,
		SettingsFile: config.SettingsFile, HasKey: sv.worker.models.HasKey,
		Settings: func(shared, own []byte) (github.AppSettings, error) {
			var err error
			read, err = judge(owner, shared, own, sv.o.Allow.Of(owner))
			return github.AppSettings{Agent: read.agent, Dispatch: read.inWorkflow}, err
		},
	})
	for _, f := range report.Facts {
		out.Doctor = append(out.Doctor, finding(f, sv.o.GitHub.Web()))
	}
	for _, note := range read.notes {
		out.Doctor = append(out.Doctor, web.Finding{Level: "warning", What: note})
	}
	out.Settings, out.Limits = read.rows, limitsOf(read.rows)
	return out
}

// finding is a fact as pages show it.
func finding(f github.Fact, hub string) web.Finding {
	out := web.Finding{Level: "warning", What: f.What + ": " + f.Says, Advice: f.Advice}
	switch f.Grade {
	case github.OK:
		out.Level = "ok"
	case github.Problem:
		out.Level = "error"
	case github.Warning, github.Unknown:
	}
	for _, word := range strings.Fields(f.Advice) { // the first address is where to do it
		if strings.HasPrefix(word, hub+"/") {
			out.URL = strings.TrimRight(word, ".,;:)")
			break
		}
	}
	return out
}

// limitsOf are the settings that limit what a run takes.
func limitsOf(rows []web.Setting) (limits []web.Limit) {
	for _, l := range []struct{ key, what, value string }{
		{"maxCostUsd", "cost of a run", "$%s"}, {"maxCostUsdPerIssue", "cost of all runs of an issue", "$%s"},
		{"maxTokens", "tokens of a run", "%s"}, {"maximumIterations", "iterations of a run", "%s"},
		{"timeoutMinutes", "minutes of a run", "%s"},
	} {
		for _, row := range rows {
			if row.Key == l.key && row.Value != "0" && row.Value != "null" {
				limits = append(limits, web.Limit{What: l.what, Value: fmt.Sprintf(l.value, row.Value), From: row.From})
			}
		}
	}
	return limits
}
