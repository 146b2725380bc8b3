package bot

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/loop"
)

func (w *world) dispatch(inputs map[string]string) (loop.Result, error) {
	w.t.Helper()
	for k, v := range inputs {
		w.inputs[k] = v
	}
	return w.action(context.Background(), "workflow_dispatch", w.gh.DispatchPayload(owner, name, "alice", inputs))
}

// TestPersonalToken: a personal token works as GITHUB_TOKEN does, and writes under its own name (B-30). Every address is
// one that the runner names, also where the API has a host of its own, as api.SUB.ghe.com has (B-31): all other tests run
// on an Enterprise Server's layout.
func TestPersonalToken(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, fake.Options{APIHost: true}).overHTTP()
	w.gh.AddUser("robin", false)
	w.gh.SetPermission(owner, name, "robin", "write")
	w.gh.AddToken("ghp_0123456789012345678901234567890123ab", "robin", fake.PAT)
	w.inputs["agent"], w.inputs["github_token"] = w.script("agent", fixer), "ghp_0123456789012345678901234567890123ab"
	w.must(loop.Done)(w.label("alice"))
	pr := w.gh.Pulls(owner, name)[0]
	if pr.Author != "robin" || strings.Contains(pr.Body, "own token") || w.gh.APIURL() == w.gh.URL()+"/api/v3" {
		t.Errorf("pull request = %+v, API at %s", pr, w.gh.APIURL())
	}
}

// useApp makes the job act as a GitHub App.
func (w *world) useApp() {
	w.t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	noError(w.t, err)
	w.gh.AddApp(fake.App{ID: 7, Slug: "ralphy", Owner: owner, InstallationID: 70, Key: &key.PublicKey})
	text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	w.inputs["github_token"], w.inputs["app_id"], w.inputs["app_private_key"] = "", "7", string(text)
}

// TestDryRun does everything but write (B-32), of an issue and of a plan.
func TestDryRun(t *testing.T) {
	t.Parallel()
	for _, tt := range some(1, []struct {
		name, says string
		asks       func(w *world) (loop.Result, error)
	}{
		{"a label", "Dry run: Done after 3 iterations", func(w *world) (loop.Result, error) {
			w.inputs["agent"] = w.script("agent", fixer)
			return w.label("alice")
		}},
		{"a plan", "add 2 3 is 5", func(w *world) (loop.Result, error) { return w.comment("alice", "/ralph plan") }},
		{"an approval", "Dry run: Done after 4 iterations", func(w *world) (loop.Result, error) {
			w.offered(twoStories)
			return w.comment("alice", "/ralph approve")
		}},
	}...) {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.inputs["agent"], w.inputs["dry_run"] = w.planner(w.answerPlan(twoStories)), "true"
			w.must(loop.Done)(tt.asks(w))
			for _, c := range w.gh.Calls() {
				if c.Write {
					t.Errorf("a dry run writes: %s", c)
				}
			}
			if len(w.branches()) != 1 || w.refs() != "" {
				t.Errorf("a dry run pushes: %v, %s", w.branches(), w.refs())
			}
			summary := w.file("summary")
			if !strings.Contains(summary, tt.says) || tt.name == "a label" && strings.Contains(summary, "/ralph") {
				t.Errorf("job summary: %s", summary)
			}
			for _, text := range []string{summary, w.file("output"), w.out.String()} {
				if strings.Contains(text, "/ralph/issue-1") || strings.Contains(text, "`ralph/issue-1") {
					t.Errorf("a branch that nobody has is named:\n%s", text)
				}
			}
		})
	}
}

// TestDispatch: a prompt of the repository has no issue to close or to write on, and a program of the repository can be the
// agent.
func TestDispatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commit("todo.md", "# Make add add\n\nIt subtracts.\n", "+tools/agent.sh", "#!/bin/sh\n"+fixer, ".ralph/settings.json",
		`{"agent": {"command": "./tools/agent.sh"}}`)
	result := w.must(loop.Done)(w.dispatch(map[string]string{"prompt_file": "todo.md"}))
	pr := w.gh.Pulls(owner, name)[0]
	if result.State.Start.Title != "Make add add" || strings.Contains(pr.Body, "Closes") || pr.Draft {
		t.Errorf("task = %+v, pull request = %+v", result.State.Start, pr)
	}
	if n := len(w.bodies(w.issue)); n != 0 {
		t.Error("a prompt without an issue writes on one")
	}
}

// outputsOfSuccess holds that the outputs carry enums, numbers, names and addresses (B-23).
func (w *world) outputsOfSuccess() {
	w.t.Helper()
	got := map[string]string{}
	lines := strings.Split(w.file("output"), "\n")
	for i := 0; i+2 < len(lines); i += 3 {
		key, _, _ := strings.Cut(lines[i], "<<")
		got[key] = lines[i+1]
	}
	for key, want := range map[string]string{"conclusion": "success", "outcome": "done", "pr_number": "2",
		"branch_name": "ralph/issue-1", "iterations": "3", "failure_branch": "",
		"pr_url": w.gh.URL() + "/alice/demo/pull/2"} {
		if got[key] != want {
			w.t.Errorf("output %s = %q, want %q", key, got[key], want)
		}
	}
	if !strings.HasSuffix(got["report_file"], "report.html") {
		w.t.Errorf("report_file = %q", got["report_file"])
	}
}
