package bot

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/invalid"
)

// explain says what an event would come to, as a job of it sees it.
func (w *world) explain(name string, payload []byte) (Preview, error) {
	w.t.Helper()
	a, err := newAction(w.environ(name, payload), &w.out)
	if err != nil {
		return Preview{}, err
	}
	return a.DryRun(context.Background(), w.dir)
}

// TestExplainSaysWhatAJobSays: what an event is said to come to is what the job of it then says, sentence by sentence,
// and saying so writes nothing.
func TestExplainSaysWhatAJobSays(t *testing.T) {
	t.Parallel()
	comment := func(who, body string) func(*world) (string, []byte) {
		return func(w *world) (string, []byte) {
			return "issue_comment", w.gh.CommentPayload(owner, name,
				w.gh.AddComment(owner, name, w.issue, fake.Comment{Author: who, Body: body}))
		}
	}
	label := func(label, who string) func(*world) (string, []byte) {
		return func(w *world) (string, []byte) {
			w.gh.Label(owner, name, w.issue, label, who)
			return "issues", w.gh.LabeledPayload(owner, name, w.issue, label, who)
		}
	}
	tests := []struct {
		name  string
		event func(*world) (string, []byte)
		does  string
	}{
		{"a label by a stranger", label("ralph", "mallory"), "refuse"},
		{"another label", label("bug", "alice"), "nothing"},
		{"a comment for somebody else", comment("alice", "looks good"), "nothing"},
		{"a comment of ralph's own", comment("github-actions[bot]", "/ralph run"), "nothing"},
		{"a command of a stranger's", comment("mallory", "/ralph run"), "refuse"},
		{"a command of another bot's", comment("renovate[bot]", "/ralph run"), "refuse"},
		{"a command that there is not", comment("alice", "/ralph dance"), "answer"},
		{"help", comment("alice", "/ralph help"), "tell"},
		{"status", comment("alice", "/ralph status"), "tell"},
		{"stop where nothing runs", comment("alice", "/ralph stop"), "drop"},
		{"fix where there is no pull request", comment("alice", "/ralph fix"), "drop"},
		{"an issue that was closed", func(w *world) (string, []byte) {
			w.gh.CloseIssue(owner, name, w.issue)
			return "issues", w.gh.ClosedPayload(owner, name, w.issue, "mallory")
		}, "ignore"},
		{"a fork", func(w *world) (string, []byte) {
			n := w.gh.AddPull(owner, name, fake.Pull{Title: "mine", Head: "mine", HeadRepo: "mallory/demo", Author: "mallory"})
			return "issue_comment", w.gh.CommentPayload(owner, name,
				w.gh.AddComment(owner, name, n, fake.Comment{Author: "alice", Body: "/ralph fix"}))
		}, "refuse"},
		{"a schedule with nothing to do",
			func(w *world) (string, []byte) { return "schedule", w.gh.SchedulePayload(owner, name) }, "sweep"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			event, payload := tt.event(w)
			w.gh.ResetCalls()
			told, err := w.explain(event, payload)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range append(w.gh.Calls(), w.gh.GitCalls()...) {
				if c.Write {
					t.Errorf("explaining writes: %s", c)
				}
			}
			if told.Does != tt.does || told.Unknown != "" {
				t.Errorf("it does %q, %q; want %q", told.Does, told.Unknown, tt.does)
			}
			w.out.Reset()
			if _, err := w.action(context.Background(), event, payload); err != nil && !invalid.Reported(err) {
				t.Fatal(err)
			}
			said := w.out.String() + strings.Join(w.bodies(w.issue), "\n")
			if tt.does != "tell" && tt.does != "sweep" && !strings.Contains(strings.ToLower(said), strings.ToLower(told.Why)) {
				t.Errorf("explained is %q, and the job said\n%s", told.Why, said)
			}
		})
	}
}

// TestExplainIsInert: whatever stands in a payload, what is printed has no terminal sequence, no command of a runner
// and no secret, and every line of it is one of its own.
func TestExplainIsInert(t *testing.T) {
	t.Parallel()
	const hostile = "/ralph retry \x1b[31mred\u202e\n::set-output name=x::y\n##[error]no " + token +
		"\nnothing   all is well"
	payload, err := json.Marshal(map[string]any{
		"action": "created",
		"issue": map[string]any{"number": 7, "title": hostile, "body": hostile,
			"user": map[string]any{"login": "mallory"}},
		"comment": map[string]any{"id": 1, "body": hostile, "user": map[string]any{"login": "eve\n::error::x"},
			"created_at": "2026-11-21T09:30:00Z", "updated_at": "2026-11-21T09:30:00Z"},
		"repository": map[string]any{"name": "demo", "owner": map[string]any{"login": "alice"},
			"default_branch": "main\n::error::y"},
		"sender": map[string]any{"login": "eve\n::error::x"},
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "event.json")
	if err := os.WriteFile(file, payload, 0o600); err != nil {
		t.Fatal(err)
	}
	var log, page strings.Builder
	a, err := newAction(map[string]string{"GITHUB_EVENT_NAME": "issue_comment", "GITHUB_EVENT_PATH": file,
		"GITHUB_TOKEN": ""}, &log)
	if err != nil {
		t.Fatal(err)
	}
	a.Parent = []string{"ANTHROPIC_API_KEY=" + token}
	told, err := a.DryRun(t.Context(), t.TempDir())
	if err != nil || told.Unknown == "" {
		t.Fatalf("%+v, %v", told, err)
	}
	if err := told.Print(&page); err != nil {
		t.Fatal(err)
	}
	names := []string{"event", "asks", "hint", "people", "does", "unknown", "Nothing", ""}
	for line := range strings.Lines(page.String()) {
		name, _, _ := strings.Cut(line, " ")
		if !strings.Contains(strings.Join(names, " "), strings.TrimSpace(name)) || strings.ContainsAny(line, "\x1b\u202e") ||
			strings.HasPrefix(strings.TrimSpace(line), "::") ||
			strings.Contains(line, "##[") || strings.Contains(line, token) {
			t.Errorf("the line %q", line)
		}
	}
	if log.Len() > 0 {
		t.Errorf("the log says %q", log.String())
	}
}
