package serve

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/launch"
	"github.com/ralph-loop/ralph/internal/web"
)

// TestExamineOnce: however many look at a repository, GitHub is asked once a minute. While it does not answer, a page shows what was known.
func TestExamineOnce(t *testing.T) {
	var looks atomic.Int32
	now, began := time.Unix(0, 0), make(chan struct{})
	x := source{doctor: &lookups[web.Repository]{clock: func() time.Time { return now }}}
	x.look = func(_ context.Context, name string) web.Repository {
		looks.Add(1)
		<-began
		return web.Repository{Name: name, Checked: now}
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := x.examined(gone, "a/b"); err == nil {
		t.Error("somebody who is gone gets an answer")
	}
	if r, err := x.examined(t.Context(), "a/b"); err != nil || r.Name != "a/b" || r.Doctor[0].Level != "warning" {
		t.Errorf("while GitHub does not answer: %+v %v", r, err)
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if r, err := x.examined(t.Context(), "A/b"); err != nil || r.Checked != now {
				t.Errorf("%+v %v", r, err)
			}
		})
	}
	close(began)
	all.Wait()
	for after, want := range []int32{1, 2} { // in minutes
		now = now.Add(time.Duration(after) * time.Minute)
		if _, err := x.examined(t.Context(), "a/b"); err != nil || looks.Load() != want {
			t.Errorf("%d looks after %d minutes, want %d; %v", looks.Load(), after, want, err)
		}
	}
}

// TestExamineSettings: the page says what is wrong with the settings of a repository, where each value is from, what this
// server does not allow, and whether runs can start.
func TestExamineSettings(t *testing.T) {
	const shared, own = "acme/.github: ralph.json", config.SettingsFile
	for _, c := range []struct {
		name        string
		shared, own string
		allow       config.Allowance
		granted     fake.Permissions
		level, what string // of a finding
		key, value  string // of a setting
	}{
		{name: "no file", level: "ok", what: "the defaults apply", key: "review", value: "true default"},
		{name: "both", shared: `{"maxCostUsd": 30}`, own: `{"agent": {"command": "codex"}}`, level: "ok", what: shared + ", then " + own,
			key: "agent.command", value: `"codex" ` + own},
		{name: "the account's alone", shared: `{"maxCostUsd": 30}`, level: "ok", what: "settings: " + shared},
		{name: "lowered", own: `{"maxCostUsd": 30}`, allow: config.Allowance{MaxCostUSD: 20}, level: "warning",
			what: "this server allows 20", key: "maxCostUsd", value: "20 " + config.Allowed},
		{name: "broken", own: "broken", level: "error", what: own},
		{name: "not allowed", own: `{"agent": {"command": "codex"}}`, allow: config.Allowance{Agents: []string{"claude"}},
			level: "error", what: "this server allows claude", key: "agent.command", value: `"codex" ` + own},
		{name: "an account names a program", shared: `{"agent": {"command": "/x"}}`, level: "error", what: shared},
		{name: "a key", level: "ok", what: "has a key for claude"},
		{name: "no key", own: `{"agent": {"command": "codex"}}`, level: "error", what: "no key for codex"},
		{name: "a workflow that nobody may start", own: `{"dispatch": "workflow"}`, granted: fake.Permissions(github.Needed(false, false)),
			level: "error", what: "A workflow does the runs"},
		{name: "a workflow", own: `{"dispatch": "workflow"}`, level: "ok", what: own},
		{name: "GitHub away", own: "away", level: "warning", what: "GitHub has trouble of its own"},
	} {
		t.Run(c.name, func(t *testing.T) {
			hub, in := anApp(t, time.Now, fake.App{Owner: "acme", InstallationID: 70, Permissions: c.granted})
			for repository, files := range map[string]map[string]string{".github": {config.OrganizationFile: c.shared}, "demo": {own: c.own}} {
				must(t, hub.AddRepo("acme", repository, "main"))
				maps.DeleteFunc(files, func(_, text string) bool { return text == "" })
				_, err := hub.CommitFiles("acme", repository, "main", "settings", files)
				must(t, err)
			}
			if c.own == "away" {
				hub.Fail(fake.Fault{Match: "GET /repos/.../contents/...", Status: 502, Times: -1})
			}
			in.o.Allow = config.Allowances{"*": c.allow}
			got := newSource(&parts{in.o, in.s, in}, launch.Models{Environ: []string{"ANTHROPIC_API_KEY=x"}}).doctorOf(t.Context(), "acme/demo")
			if !slices.ContainsFunc(got.Doctor, func(f web.Finding) bool { return f.Level == c.level && strings.Contains(f.What, c.what) }) {
				t.Errorf("no %s with %q: %+v", c.level, c.what, got.Doctor)
			}
			if c.key != "" && !slices.ContainsFunc(got.Settings, func(s web.Setting) bool {
				return s.Key == c.key && s.Value+" "+s.From == c.value
			}) {
				t.Errorf("%s is not %q: %+v", c.key, c.value, got.Settings)
			}
		})
	}
}
