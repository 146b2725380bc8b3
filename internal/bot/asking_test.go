package bot

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"os"
	"strings"
	"testing"
	"time"

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

func TestDispatch(t *testing.T) {
	t.Parallel()
	t.Run("issue", func(t *testing.T) {
		seldom(t) // a label does the same
		t.Parallel()
		w := newWorld(t)
		w.inputs["agent"] = w.script("agent", fixer)
		w.must(loop.Done)(w.dispatch(map[string]string{"issue": "1"}))
		if pr := w.gh.Pulls(owner, name)[0]; pr.Head != "ralph/issue-1" || !strings.Contains(pr.Body, "Closes #1") {
			t.Errorf("pull request = %+v", pr)
		}
	})
	t.Run("prompt", func(t *testing.T) {
		seldom(t) // a file of the repository has one
		t.Parallel()
		w := newWorld(t)
		w.inputs["agent"] = w.script("agent", fixer)
		w.must(loop.Done)(w.dispatch(map[string]string{"prompt": "Make add add\nIt subtracts."}))
		pr := w.gh.Pulls(owner, name)[0]
		if pr.Head != "ralph/prompt-make-add-add" || strings.Contains(pr.Body, "Closes") || pr.Draft {
			t.Errorf("pull request = %+v", pr)
		}
		if n := len(w.bodies(w.issue)); n != 0 {
			t.Error("a prompt without an issue writes on one")
		}
	})
	t.Run("prompt file", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.commit("todo.md", "# Make add add\n\nIt subtracts.\n")
		w.inputs["agent"] = w.script("agent", fixer)
		result := w.must(loop.Done)(w.dispatch(map[string]string{"prompt_file": "todo.md"}))
		pr := w.gh.Pulls(owner, name)[0]
		if result.State.Start.Title != "Make add add" || strings.Contains(pr.Body, "Closes") || pr.Draft {
			t.Errorf("task = %+v, pull request = %+v", result.State.Start, pr)
		}
		if n := len(w.bodies(w.issue)); n != 0 {
			t.Error("a prompt without an issue writes on one")
		}
	})
	t.Run("a prompt file that is not there", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.inputs["agent"] = w.script("agent", fixer)
		result, _ := w.dispatch(map[string]string{"prompt_file": "nope.md"})
		if result.Outcome != loop.Invalid || !strings.Contains(result.Reason, `prompt_file is "nope.md"`) {
			t.Errorf("outcome %s: %s", result.Outcome, result.Reason)
		}
	})
	t.Run("nothing", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		result, err := w.dispatch(nil)
		if result.Outcome != loop.Invalid || err == nil || !strings.Contains(err.Error(), "asks for nothing") {
			t.Errorf("outcome %s: %v", result.Outcome, err)
		}
	})
}

// TestPersonalToken: a personal token works as GITHUB_TOKEN does, and writes under its own name (B-30). An App does in
// TestServerWithAnAPIHost.
func TestPersonalToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t).overHTTP()
	w.gh.AddUser("robin", false)
	w.gh.SetPermission(owner, name, "robin", "write")
	w.gh.AddToken("ghp_0123456789012345678901234567890123ab", "robin", fake.PAT)
	w.inputs["agent"], w.inputs["github_token"] = w.script("agent", fixer), "ghp_0123456789012345678901234567890123ab"
	w.must(loop.Done)(w.label("alice"))
	pr := w.gh.Pulls(owner, name)[0]
	if pr.Author != "robin" || strings.Contains(pr.Body, "own token") {
		t.Errorf("pull request = %+v", pr)
	}
}

// TestAppTokensEndWithTheJob: however a job ends, the tokens that it made do, too.
func TestAppTokensEndWithTheJob(t *testing.T) {
	seldom(t)
	t.Parallel()
	w := newWorld(t).overHTTP()
	w.useApp()
	w.inputs["max_iterations"] = "1"
	rows := []struct {
		what, agent string
		want        loop.Outcome
	}{
		{"cancelled while the agent works", "touch ../started; sleep 60", loop.Interrupted},
		{"stopped by a limit", "true", loop.Capped},
		{"no agent", "", loop.Invalid},
	}
	for i, row := range rows {
		w.inputs["agent"] = "no-such-agent"
		ctx, cancel := context.WithCancel(context.Background())
		if row.agent != "" {
			w.inputs["agent"] = w.script("agent", row.agent)
		}
		if row.want == loop.Interrupted {
			started := w.shared("started")
			w.inputs["agent"] = w.script("agent", "echo x >>"+started+"; sleep 60")
			go func() {
				for ctx.Err() == nil {
					if text, _ := os.ReadFile(started); len(text) > 0 {
						cancel()
					}
					time.Sleep(10 * time.Millisecond)
				}
			}()
		}
		w.gh.Label(owner, name, w.issue, "ralph", "alice")
		result, err := w.action(ctx, "issues", w.gh.LabeledPayload(owner, name, w.issue, "ralph", "alice"))
		cancel()
		if _, revoked := w.gh.AppTokens(); result.Outcome != row.want || revoked != i+1 {
			t.Errorf("%s: %s (%s), %v; %d tokens were revoked", row.what, result.Outcome, result.Reason, err, revoked)
		}
	}
}

// useApp makes the job act as a GitHub App.
func (w *world) useApp() {
	w.t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		w.t.Fatal(err)
	}
	w.gh.AddApp(fake.App{ID: 7, Slug: "ralphy", Owner: owner, InstallationID: 70, Key: &key.PublicKey})
	text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	w.inputs["github_token"], w.inputs["app_id"], w.inputs["app_private_key"] = "", "7", string(text)
}

// TestDryRun does everything but write (B-32).
func TestDryRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.inputs["agent"], w.inputs["dry_run"] = w.script("agent", fixer), "true"
	w.must(loop.Done)(w.label("alice"))
	for _, c := range w.gh.Calls() {
		if c.Method != "GET" {
			t.Errorf("a dry run writes: %s", c)
		}
	}
	if b := w.branches(); len(b) != 1 {
		t.Errorf("a dry run pushes: %v", b)
	}
	if w.git("for-each-ref", "refs/ralph") != "" {
		t.Error("a dry run pushes its run record")
	}
	summary := w.file("summary")
	if !strings.Contains(summary, "Dry run: Done after 3 iterations") || strings.Contains(summary, "/ralph") ||
		strings.Contains(w.out.String(), "/tree/ralph/issue-1") {
		t.Errorf("job summary: %s", summary)
	}
	for _, text := range []string{summary, w.file("output")} {
		if strings.Contains(text, "ralph/issue-1") {
			t.Errorf("a branch that nobody has is named:\n%s", text)
		}
	}
}

func TestBaseline(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.inputs["agent"], w.inputs["settings"] = w.script("agent", fixer), `{"baseline": "require"}`
	result, _ := w.label("alice")
	if result.Outcome != loop.Invalid || !strings.Contains(result.Reason, `"make test" already fails on the base commit`) {
		t.Errorf("baseline require: %s (%s)", result.Outcome, result.Reason)
	}
	w.inputs["settings"] = `{"baseline": "report"}`
	w.must(loop.Done)(w.label("alice"))
	if body := w.bodies(w.gh.Pulls(owner, name)[0].Number)[0]; !strings.Contains(body,
		"Failed before this run, and passes now:** `make test`") {
		t.Errorf("the comment does not say what failed before:\n%s", body)
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

// TestRetryOnThePullRequest: the reports stand on the pull request, so people ask there; it is the same run, on the
// same branch.
func TestRetryOnThePullRequest(t *testing.T) {
	seldom(t)
	t.Parallel()
	w := newWorld(t)
	w.inputs["agent"], w.inputs["max_iterations"] = w.script("agent", hopeless), "1"
	before := w.must(loop.Capped)(w.label("alice"))
	pr := w.gh.Pulls(owner, name)[0].Number
	w.inputs["agent"] = w.script("agent", fixer)
	w.inputs["max_iterations"] = "5"
	on := func(number int, body string) (loop.Result, error) {
		id := w.gh.AddComment(owner, name, number, fake.Comment{Author: "alice", Body: body})
		return w.action(context.Background(), "issue_comment", w.gh.CommentPayload(owner, name, id))
	}
	after := w.must(loop.Done)(on(pr, "/ralph retry use plus"))
	if after.State.Start.Run != before.State.Start.Run || len(w.gh.Pulls(owner, name)) != 1 {
		t.Errorf("a retry on the pull request is run %s of %s; pull requests: %+v", after.State.Start.Run,
			after.State.Start.Task, w.gh.Pulls(owner, name))
	}

	// Done is not the end when a change is asked for, and says so when none is.
	if result, err := on(pr, "/ralph retry"); err != nil || result.Outcome != "" {
		t.Errorf("a retry of a done run: %s, %v", result.Outcome, err)
	}
	if bodies := w.bodies(pr); !strings.Contains(bodies[len(bodies)-1], "say what to change") {
		t.Errorf("answer: %q", bodies[len(bodies)-1])
	}
	w.inputs["agent"] = w.script("agent", approver(`echo "more" > more.txt; echo "<response>DONE</response>"`))
	more := w.must(loop.Done)(on(pr, "/ralph retry and write more.txt"))
	if len(more.State.Iterations) != len(after.State.Iterations)+1 || w.show("ralph/issue-1", "more.txt") != "more\n" {
		t.Errorf("%d iterations, more.txt: %q", len(more.State.Iterations), w.show("ralph/issue-1", "more.txt"))
	}

}

// TestPullRequestOfSomebodyElse is not ralph's to work on.
func TestPullRequestOfSomebodyElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	on := func(number int) loop.Result {
		id := w.gh.AddComment(owner, name, number, fake.Comment{Author: "alice", Body: "/ralph run"})
		result, _ := w.action(context.Background(), "issue_comment", w.gh.CommentPayload(owner, name, id))
		return result
	}
	other := w.gh.AddPull(owner, name, fake.Pull{Title: "P", Author: "alice", Head: "x", Base: "main"})
	result := on(other)
	if bodies := w.bodies(other); result.Outcome != "" || len(bodies) != 1 ||
		!strings.Contains(bodies[0], "is not one that ralph opened") {
		t.Errorf("on another pull request: %q: %q", result.Outcome, bodies)
	}
}

func TestAgentOfTheRepository(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commit("+tools/agent.sh", "#!/bin/sh\n"+fixer, ".ralph/settings.json", `{"agent": {"command": "./tools/agent.sh"}}`)
	w.must(loop.Done)(w.label("alice"))
}

func TestSomethingMustJudge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commit(".ralph/settings.json", `{"guardrails": [{"command": "make test", "severity": "soft"}], "review": false}`)
	w.inputs["agent"] = w.script("agent", fixer)
	result, _ := w.label("alice")
	if result.Outcome != loop.Invalid || !strings.Contains(result.Reason, "nothing would judge the work") {
		t.Errorf("%s: %s", result.Outcome, result.Reason)
	}
}

// TestServerWithAnAPIHost: every address is one that the runner names, also where the API has a host of its own, as
// api.SUB.ghe.com has (B-31). All other tests run on an Enterprise Server's layout.
func TestServerWithAnAPIHost(t *testing.T) {
	seldom(t)
	t.Parallel()
	w := newWorldOn(t, fake.Options{APIHost: true}).overHTTP()
	w.inputs["agent"] = w.script("agent", fixer)
	w.useApp()
	w.must(loop.Done)(w.label("alice"))
	if pulls := w.gh.Pulls(owner, name); len(pulls) != 1 || pulls[0].Draft || pulls[0].Author != "ralphy[bot]" ||
		w.gh.APIURL() == w.gh.URL()+"/api/v3" {
		t.Errorf("pull requests: %+v, API at %s", pulls, w.gh.APIURL())
	}
}
