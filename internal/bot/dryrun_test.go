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
	"github.com/ralph-loop/ralph/internal/loop"
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

// TestExplainSaysWhatAJobSays: what comes to nothing says why, in the job's log, its summary or a comment, and the dry run
// says the same, writing nothing. Who may not ask gets no more than a reaction, and leaves no branch.
func TestExplainSaysWhatAJobSays(t *testing.T) {
	t.Parallel()
	type asks = func(w *world) (event string, payload []byte)
	on := func(number func(w *world) int, who, body string) asks {
		return func(w *world) (string, []byte) {
			return "issue_comment", w.gh.CommentPayload(owner, name,
				w.gh.AddComment(owner, name, number(w), fake.Comment{Author: who, Body: body}))
		}
	}
	comment := func(who, body string) asks { return on(func(w *world) int { return w.issue }, who, body) }
	label := func(label, who string) asks {
		return func(w *world) (string, []byte) {
			w.gh.Label(owner, name, w.issue, label, who)
			return "issues", w.gh.LabeledPayload(owner, name, w.issue, label, who)
		}
	}
	after := func(first asks, then func(w *world)) asks {
		return func(w *world) (string, []byte) {
			event, payload := first(w)
			then(w)
			return event, payload
		}
	}
	closes := func(w *world) { w.gh.CloseIssue(owner, name, w.issue) }
	pull := func(from string) func(w *world) int {
		return func(w *world) int {
			return w.gh.AddPull(owner, name, fake.Pull{Title: "mine", Head: "mine", HeadRepo: from, Author: "alice"})
		}
	}
	reads := "mallory has read permission"
	for _, tt := range []struct {
		name  string
		event asks
		does  string
		want  loop.Outcome
		says  string // beside what the dry run says
	}{
		{"a label by a stranger", label("ralph", "mallory"), "refuse", loop.Refused, reads},
		{"a label by someone with the role triage", after(label("ralph", "mallory"), func(w *world) {
			w.gh.SetPermission(owner, name, "mallory", "triage")
		}), "refuse", loop.Refused, reads},
		{"a label by someone whom the issue's log does not name", func(w *world) (string, []byte) {
			w.gh.Label(owner, name, w.issue, "ralph", "mallory")
			return "issues", w.gh.LabeledPayload(owner, name, w.issue, "ralph", "alice")
		}, "refuse", loop.Refused, reads},
		{"a label where no permission can be read", after(label("ralph", "alice"), func(w *world) {
			w.gh.Fail(fake.Fault{Match: "GET /repos/.../permission", Status: 404, Times: -1})
		}), "refuse", loop.Refused, ""},
		{"run again by a stranger", after(label("ralph", "alice"), func(w *world) {
			w.env["GITHUB_TRIGGERING_ACTOR"], w.env["GITHUB_RUN_ATTEMPT"] = "mallory", "2"
		}), "refuse", loop.Refused, reads},
		{"a label that was taken off", after(label("ralph", "alice"), func(w *world) {
			w.gh.Unlabel(owner, name, w.issue, "ralph", "alice")
		}), "nothing", "", "the request was withdrawn"},
		{"a label on an issue that was closed", after(label("ralph", "alice"), closes), "nothing", "", "is closed"},
		{"a command on an issue that was closed", after(comment("alice", "/ralph run"), closes), "drop", "", "is closed"},
		{"another label", label("bug", "alice"), "nothing", "", ""},
		{"a comment for somebody else", comment("alice", "/ralphael has an idea"), "nothing", "", ""},
		{"a comment of ralph's own", after(comment("github-actions[bot]", "/ralph run"), func(w *world) {
			w.inputs["allowed_bots"] = "github-actions[bot]"
		}), "nothing", "", "is ralph itself, which does not follow its own events"},
		{"a command of a stranger's", comment("mallory", "/ralph run"), "refuse", loop.Refused, reads},
		{"a command of another bot's", comment("renovate[bot]", "/ralph run"), "refuse", loop.Refused, ""},
		{"a command that there is not", comment("alice", "/ralph dance"), "answer", "",
			"“dance” is not understood; allowed: run, retry, continue, accept, fix, stop, hint, plan, approve, status, help"},
		{"help", comment("alice", "/ralph help"), "tell", "", "`/ralph retry"},
		{"status", comment("alice", "/ralph status"), "tell", "", "has not worked on"},
		{"stop where nothing runs", comment("alice", "/ralph stop"), "drop", "", ""},
		{"fix where there is no pull request", comment("alice", "/ralph fix"), "drop", "", ""},
		{"run on another's pull request", on(pull(""), "alice", "/ralph run"), "drop", "", "is not one that ralph opened"},
		{"an issue that nobody worked on is closed", func(w *world) (string, []byte) {
			closes(w)
			return "issues", w.gh.ClosedPayload(owner, name, w.issue, "mallory")
		}, "ignore", "", ""},
		{"an issue is edited", func(w *world) (string, []byte) {
			was := w.gh.Issue(owner, name, w.issue)
			w.gh.EditIssue(owner, name, w.issue, was.Title, "It divides.")
			return "issues", w.gh.IssueEditedPayload(owner, name, w.issue, was, "mallory")
		}, "nothing", "", ""},
		{"a fork", on(pull("mallory/demo"), "alice", "/ralph fix"), "refuse", loop.Refused,
			"open an issue here and ask ralph there, or push the branch to this repository"},
		{"a schedule with nothing to do",
			func(w *world) (string, []byte) { return "schedule", w.gh.SchedulePayload(owner, name) }, "sweep", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			event, payload := tt.event(w)
			w.gh.ResetCalls()
			told, err := w.explain(event, payload)
			noError(t, err)
			for _, c := range append(w.gh.Calls(), w.gh.GitCalls()...) {
				if c.Write {
					t.Errorf("explaining writes: %s", c)
				}
			}
			if told.Does != tt.does || told.Unknown != "" {
				t.Errorf("it does %q, %q; want %q", told.Does, told.Unknown, tt.does)
			}
			w.out.Reset()
			w.gh.ResetCalls()
			result, err := w.action(context.Background(), event, payload)
			if err != nil && !invalid.Reported(err) || result.Outcome != tt.want {
				t.Fatalf("outcome %q, %v; want %q", result.Outcome, err, tt.want)
			}
			if n := len(w.gh.Calls()); tt.does == "sweep" && n > 1 || tt.name == "a comment for somebody else" && n > 0 {
				t.Errorf("%d calls to do nothing", n)
			}
			summary, said := w.file("summary"), ""
			for _, is := range w.gh.Issues(owner, name) {
				said += strings.Join(w.bodies(is.Number), "\n")
				for _, c := range w.gh.Comments(owner, name, is.Number) {
					if disliked := len(c.Reactions) == 1 && c.Reactions[0].Content == "-1"; disliked != (tt.want == loop.Refused) &&
						c.Author != "github-actions[bot]" {
						t.Errorf("reactions %+v", c.Reactions)
					}
				}
			}
			if tt.want == loop.Refused && (summary == "" || said != "" || len(w.branches()) > 1 || len(w.gh.GitCalls()) > 0) {
				t.Errorf("refused, with the summary %q, comments %q, branches %v", summary, said, w.branches())
			}
			said += w.out.String() + summary
			if tt.does != "tell" && tt.does != "sweep" && !strings.Contains(strings.ToLower(said), strings.ToLower(told.Why)) ||
				!strings.Contains(said, tt.says) {
				t.Errorf("explained is %q, beside %q, and the job said\n%s", told.Why, tt.says, said)
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
	noError(t, err)
	file := filepath.Join(t.TempDir(), "event.json")
	noError(t, os.WriteFile(file, payload, 0o600))
	var log, page strings.Builder
	a, err := newAction(map[string]string{"GITHUB_EVENT_NAME": "issue_comment", "GITHUB_EVENT_PATH": file,
		"GITHUB_TOKEN": ""}, &log)
	noError(t, err)
	a.Parent = []string{"ANTHROPIC_API_KEY=" + token}
	told, err := a.DryRun(t.Context(), t.TempDir())
	if err != nil || told.Unknown == "" {
		t.Fatalf("%+v, %v", told, err)
	}
	noError(t, told.Print(&page))
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
