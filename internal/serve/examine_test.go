package serve

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
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

// TestJudgeSettings: the page says where each value is from, and what this server does not allow.
func TestJudgeSettings(t *testing.T) {
	shared, own := []byte(`{"maxCostUsd": 30, "dispatch": "workflow"}`), []byte(`{"agent": {"command": "codex"}}`)
	got, err := judge("acme", shared, own, config.Allowance{MaxCostUSD: 20})
	if err != nil || got.agent != "codex" || !got.inWorkflow || len(got.notes) != 1 {
		t.Fatalf("%+v %v", got, err)
	}
	from := map[string]string{}
	for _, row := range got.rows {
		from[row.Key] = row.Value + " " + row.From
	}
	for key, want := range map[string]string{"maxCostUsd": "20 " + config.Allowed,
		"agent.command": `"codex" ` + config.SettingsFile, "review": "true default"} {
		if from[key] != want {
			t.Errorf("%s is %q, want %q", key, from[key], want)
		}
	}
	if got, err := judge("acme", nil, own, config.Allowance{Agents: []string{"claude"}}); err == nil || len(got.rows) == 0 {
		t.Errorf("what is not allowed: %+v %v", got, err)
	}
	if _, err := judge("acme", []byte(`{"agent": {"command": "/x"}}`), nil, config.Allowance{}); err == nil {
		t.Error("an account names a program")
	}
}
