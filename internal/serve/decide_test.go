package serve

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
)

const (
	where    = `"repository":{"name":"demo","full_name":"alice/demo","owner":{"login":"alice"},"default_branch":"main"}`
	person   = `"sender":{"login":"bob","type":"User"}`
	place    = where + `,` + person + `,"installation":{"id":70}`
	anIssue  = `"issue":{"number":42,"title":"Add it","state":"open","user":{"login":"eve"}}`
	aComment = `{"action":"created",` + anIssue + `,"comment":{"id":1,"body":"BODY","user":{"login":"bob"},` +
		`"created_at":"2026-11-23T00:00:00Z","updated_at":"2026-11-23T00:00:00Z"},` + place + `}`
)

// TestDecide: what a delivery comes to before GitHub is asked anything.
func TestDecide(t *testing.T) {
	labeled := `{"action":"labeled",` + anIssue + `,"label":{"name":"LABEL"},` + place + `}`
	ended := `{"action":"completed","workflow_run":{"head_branch":"BRANCH","check_suite_id":7,` +
		`"head_repository":{"full_name":"alice/demo"}},` + place + `}`
	sv, now := aServer(t)
	must(t, sv.s.PutRun(t.Context(), store.Run{ID: "d-0", Repository: "alice/demo", State: web.Dispatched,
		Times: store.Times{Created: *now}}))
	for _, c := range []struct {
		name, event, payload string
		step, why, key       string
		quick, stops         bool
	}{
		{"the label", "issues", strings.Replace(labeled, "LABEL", "ralph", 1), stepHanded, "", "alice/demo#42", false, false},
		{"a retry", "issue_comment", strings.Replace(aComment, "BODY", "/ralph retry", 1), stepHanded, "", "d-1", false, false},
		{"a stop does not wait", "issue_comment", strings.Replace(aComment, "BODY", "/ralph stop", 1), stepHanded, "", "d-1",
			true, true},
		{"help", "issue_comment", strings.Replace(aComment, "BODY", "/ralph help", 1), stepHanded, "", "d-1", true, false},
		{"what is no command is answered", "issue_comment", strings.Replace(aComment, "BODY", "/ralph dance", 1), stepHanded, "",
			"d-1", true, false},
		{"another workflow on a branch of ours", "workflow_run", strings.Replace(ended, "BRANCH", "ralph/issue-42", 1), stepHanded, "",
			"d-1", false, false},
		{"another workflow on another branch", "workflow_run", strings.Replace(ended, "BRANCH", "main", 1), stepNothing,
			"no run waits for this", "", false, false},
		{"a suite that has the check of ralph", "check_suite", `{"action":"completed","check_suite":{"head_branch":"ralph/issue-42",` +
			`"id":7,"app":{"slug":"github-actions"}},` + place + `}`, stepNothing, "no run waits for this", "", false, false},
		{"no installation", "issues", strings.Replace(strings.Replace(labeled, "LABEL", "ralph", 1),
			`,"installation":{"id":70}`, "", 1), stepUnread, "names no installation", "", false, false},
		{"a form", "issues", "payload=%7B%7D", stepUnread, "choose the content type application/json", "", false, false},
		{"no JSON", "issues", "{", stepUnread, "no JSON object", "", false, false},
		{"no repository", "issues", `{"action":"labeled"}`, stepUnread, "it holds no repository", "", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := delivered("d-1", c.event, []byte(c.payload), time.Unix(1_800_000_000, 0))
			v := decide(d, event.Rules{TriggerLabel: "ralph", TriggerPhrase: "/ralph", CIGate: true}, sv.ours)
			if v.step != c.step || !strings.Contains(v.why, c.why) || v.asks() != (c.step == stepHanded) {
				t.Fatalf("%+v", v)
			}
			run := v.run(d)
			if v.asks() && (run.Key != c.key || v.quick != c.quick || v.stops != c.stops || run.Installation != 70 ||
				run.Repository != "alice/demo" || run.Subject != "#42" && v.event.Build == nil || run.Person != "bob") {
				t.Errorf("the run is %+v of %+v", run, v)
			}
		})
	}
}

// TestSweep: every repository with runs is looked through four times a day, and every hour for a day after a workflow was
// started there.
func TestSweep(t *testing.T) {
	sv, now := aServer(t)
	begun := *now
	for name, state := range map[string]string{"here": "done", "there": web.Dispatched} {
		must(t, sv.s.PutRun(t.Context(), store.Run{ID: name, Repository: "alice/" + name, State: state}))
	}
	for after, want := range map[time.Duration]int{0: 1, 3 * time.Hour: 2, 22 * time.Hour: 1, 24 * time.Hour: 0} {
		*now = begun.Add(after)
		must(t, sv.sweep(t.Context()))
		due := got[[]store.Run](t)(sv.s.Due(t.Context(), false))
		for _, row := range due {
			must(t, sv.s.Drop(t.Context(), row.ID))
		}
		if len(due) != want {
			t.Errorf("%s later %d are looked through, want %d", after, len(due), want)
		}
	}
}
