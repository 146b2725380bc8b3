//go:build unix

package bot

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/report/planlist"
)

// offered puts a plan on the issue, as the bot would have an hour ago.
func (w *world) offered(tasks string) {
	w.t.Helper()
	w.offeredBy("github-actions[bot]", tasks)
}

func (w *world) offeredBy(bot, tasks string) {
	w.gh.AddComment(owner, name, w.issue, fake.Comment{
		Author: bot, CreatedAt: time.Now().UTC().Add(-time.Hour),
		Body: planComment(w.t, tasks),
	})
}

// planComment is the comment that offers a plan for the issue.
func planComment(t *testing.T, tasks string) string {
	t.Helper()
	p, _, err := plan.Read("the plan", []byte(tasks))
	if err != nil {
		t.Fatal(err)
	}
	view := report.View{State: loop.State{Start: loop.Start{Task: "issue-1"}}}
	return planlist.Comment(view, p, 1, 2)
}

func (w *world) sweep() (loop.Result, error) {
	w.t.Helper()
	return w.action(context.Background(), "schedule", w.gh.SchedulePayload(owner, name))
}

// TestApprovedPlanKilledAtAnyRecord kills a run of a plan right after each type of record; the sweep of another machine
// goes on with the story that it was at, and ends with the same plan.
func TestApprovedPlanKilledAtAnyRecord(t *testing.T) {
	t.Parallel()
	for _, at := range some(1, "judged 1", "started 1", "corrected 1", "committed 1", "turning 2", "judged 2",
		"committed 3") {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.inputs["agent"] = w.planner("echo no one asks")
			w.offered(twoStories)
			id := w.gh.AddComment(owner, name, w.issue, fake.Comment{Author: "alice", Body: "/ralph approve"})
			w.killed(at, "issue_comment", w.gh.CommentPayload(owner, name, id))
			before := w.git("rev-list", "ralph/issue-1", "--not", "main")
			w.env["GITHUB_RUN_ID"], w.late = "78", 2*time.Hour
			result := w.must(loop.Done)(w.sweep())
			if n := len(result.State.Iterations); n != 4 {
				t.Errorf("%d iterations, want 4", n)
			}
			after := w.git("rev-list", "ralph/issue-1", "--not", "main")
			for _, c := range strings.Fields(before) {
				if !strings.Contains(after, c) {
					t.Errorf("commit %s is lost", c)
				}
			}
			if n := strings.Count(w.git("log", "--format=%s", "main..ralph/issue-1"),
				"ralph: the plan as it is run"); n != 1 {
				t.Errorf("the plan was laid %d times", n)
			}
			if p := w.gh.Pulls(owner, name); len(p) != 1 || p[0].Draft {
				t.Errorf("pull requests: %+v", p)
			}
		})
	}
}

// TestApprovalsInAPlanOfTheRepository count as far as the run's record has them: what the file alone says is reviewed,
// and once it is merged, nothing is reviewed again.
func TestApprovalsInAPlanOfTheRepository(t *testing.T) {
	seldom(t)
	t.Parallel()
	w := newWorld(t)
	w.inputs["agent"] = w.planner("echo no one asks")
	at := strings.LastIndex(twoStories, `"passes": false`)
	claims := twoStories[:at] + strings.NewReplacer(`"passes": false`, `"passes": true`, `"reviewStatus": null`,
		`"reviewStatus": "approved"`, `"reviewCount": 0`, `"reviewCount": 4`,
		`"notes": ""`, `"notes": "x"`).Replace(twoStories[at:])
	w.commit("ralph/tasks.json", claims, "add.sh", "add() { echo $(($2 + $1)); }\n")
	result := w.must(loop.Done)(w.dispatch(map[string]string{"plan": "ralph/tasks.json"}))
	if n := len(result.State.Iterations); n != 3 || result.State.Plan.Story("US-002").ReviewCount != 1 {
		t.Errorf("%d iterations, %+v", n, result.State.Plan.Stories)
	}
	if log := w.out.String(); !strings.Contains(log,
		"plan: US-002 is approved in the file, but no record has an approval of it") {
		t.Errorf("log:\n%s", log)
	}
	w.commit("ralph/tasks.json", w.git("show", "ralph/add:ralph/tasks.json"))
	w.env["GITHUB_RUN_ID"] = "78"
	result, err := w.dispatch(map[string]string{"plan": "ralph/tasks.json"})
	if err != nil || len(result.State.Iterations) != 0 ||
		!strings.Contains(w.out.String(), "nothing to do: all 2 stories of ralph/tasks.json are approved") {
		t.Errorf("%s (%s), %v\n%s", result.Outcome, result.Reason, err, w.out.String())
	}
}

// TestPlanOfTheRepository is run by a dispatch on the branch that it names, with its own commands.
func TestPlanOfTheRepository(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ran := w.shared("ran")
	w.inputs["agent"] = w.planner("echo no one asks")
	w.commit("ralph/tasks.json", strings.Replace(twoStories, `"make test"`, `"make test", "echo x >> `+ran+`"`, 1),
		"ralph/prd.md", "# Adding\n\nMake it add.\n")
	result := w.must(loop.Done)(w.dispatch(map[string]string{"plan": "ralph/tasks.json"}))
	if s := result.State.Start; s.Task != "plan-add" || s.Branch != "ralph/add" || s.Issue != 0 || s.Plan.Dir != "ralph" {
		t.Errorf("the run is %+v", s)
	}
	pr := w.gh.Pulls(owner, name)[0]
	if pr.Head != "ralph/add" || pr.Draft || strings.Contains(pr.Body, "Closes") {
		t.Errorf("pull request: %+v", pr)
	}
	if w.file("ran") == "" {
		t.Error("the plan's own command was not run")
	}
	if strings.Contains(w.git("log", "--format=%s", "main..ralph/add"), "as it was approved") {
		t.Error("a plan that lies there already was laid again")
	}
	if n := len(w.bodies(w.issue)); n != 0 {
		t.Error("a plan without an issue writes on one")
	}
}

func TestPlansThatAreNotThere(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, content, want string }{
		{"no file", "", "there is no plan ralph/other.json on main"},
		{"broken", "{", "ralph/other.json"},
		{"with wrong fields", `{"project": "x", "userStories": [{"id": 7}]}`, "acceptanceCriteria"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.inputs["agent"] = w.planner("echo no one asks")
			if tt.content != "" {
				w.commit("ralph/other.json", tt.content)
			}
			result, _ := w.dispatch(map[string]string{"plan": "ralph/other.json"})
			if result.Outcome != loop.Invalid || !strings.Contains(result.Reason, tt.want) {
				t.Errorf("%s: %s", result.Outcome, result.Reason)
			}
		})
	}
}

// TestSweepRunsPlans of the settings: what is complete, done, stopped or at work is left alone until somebody changes
// it.
func TestSweepRunsPlans(t *testing.T) {
	seldom(t)
	t.Parallel()
	w := newWorld(t)
	w.inputs["agent"] = w.planner("echo no one asks")
	complete := strings.NewReplacer(`"passes": false`, `"passes": true`, `"reviewStatus": null`,
		`"reviewStatus": "approved"`, `"reviewCount": 0`, `"reviewCount": 1`,
		`"notes": ""`, `"notes": "x"`, "ralph/add", "ralph/old").Replace(twoStories)
	w.commit(".ralph/settings.json", `{"plans": ["ralph/old.json", "ralph/tasks.json", "ralph/gone.json"]}`,
		"ralph/tasks.json", twoStories, "ralph/old.json", complete)
	list := func() string {
		w.t.Helper()
		w.inputs["max_tasks"] = "10"
		a, err := newAction(w.environ("schedule", nil), &w.out)
		if err != nil {
			t.Fatal(err)
		}
		matrix, err := a.List(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return string(matrix)
	}
	if got, want := list(),
		`{"include":[{"plan":"ralph/tasks.json","why":"2 of its 2 stories are left to do"}]}`; got != want {
		t.Errorf("matrix = %s, want %s", got, want)
	}
	if log := w.out.String(); !strings.Contains(log,
		"ralph/old.json is skipped: it says that it is complete, but no record has an approval of US-001, US-002") ||
		!strings.Contains(log, "ralph/gone.json is skipped: there is no plan") {
		t.Errorf("log:\n%s", log)
	}
	w.inputs["plan"] = "ralph/tasks.json" // a job of the matrix
	w.killed("committed 1", "schedule", w.gh.SchedulePayload(owner, name))
	w.inputs["plan"] = ""
	w.env["GITHUB_RUN_ID"] = "78"
	if got := list(); got != `{"include":[]}` ||
		!strings.Contains(w.out.String(), "ralph/tasks.json is skipped: its run is alive") {
		t.Errorf("while it is worked on: %s", got)
	}
	w.late = 2 * time.Hour
	result := w.must(loop.Done)(w.sweep())
	if result.State.Start.Task != "plan-add" || result.State.ResumedAt.IsZero() || len(result.State.Iterations) != 4 {
		t.Errorf("the sweep ran %+v", result.State.Start)
	}
	if got := list(); got != `{"include":[]}` ||
		!strings.Contains(w.out.String(), "ended done, and the file has not changed since") {
		t.Errorf("after it is done: %s", got)
	}
	w.commit("ralph/tasks.json", strings.ReplaceAll(twoStories, "Say what it does", "Explain it"))
	if got, want := list(),
		`{"include":[{"plan":"ralph/tasks.json","why":"2 of its 2 stories are left to do"}]}`; got != want {
		t.Errorf("after an edit: %s, want %s", got, want)
	}
}

// TestStoppedPlanIsRetried: on the issue, and of a plan in the repository on its pull request. The run goes on where
// its stories stand.
func TestStoppedPlanIsRetried(t *testing.T) {
	t.Parallel()
	for _, of := range some(1, "repository", "issue") {
		t.Run(of, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.inputs["agent"], w.inputs["max_iterations"] = w.planner("echo no one asks"), "2"
			var result loop.Result
			on := w.issue
			if of == "issue" {
				w.offered(twoStories)
				result = w.must(loop.Capped)(w.comment("alice", "/ralph approve"))
			} else {
				w.commit("ralph/tasks.json", twoStories)
				result = w.must(loop.Capped)(w.dispatch(map[string]string{"plan": "ralph/tasks.json"}))
				w.inputs["plan"] = ""
				on = w.gh.Pulls(owner, name)[0].Number
			}
			if got := fmt.Sprint(result.State.Plan.Passed()); got != "1" {
				t.Errorf("%s stories passed before the cap, want 1", got)
			}
			id := w.gh.AddComment(owner, name, on, fake.Comment{Author: "alice", Body: "/ralph retry be brief"})
			again := w.must(loop.Done)(w.action(context.Background(), "issue_comment", w.gh.CommentPayload(owner, name, id)))
			if again.State.Start.Run != result.State.Start.Run || len(again.State.Iterations) != 4 ||
				again.State.Hints[0].Text != "be brief" {
				t.Errorf("the retry is run %s with %d iterations and hints %+v", again.State.Start.Run, len(again.State.Iterations),
					again.State.Hints)
			}
			if prs := w.gh.Pulls(owner, name); len(prs) != 1 || prs[0].Draft {
				t.Errorf("pull requests: %+v", prs)
			}
		})
	}
}

// TestApprovedOnThePullRequest: the plan stands on the issue, and people ask where the work is.
func TestApprovedOnThePullRequest(t *testing.T) {
	seldom(t)
	t.Parallel()
	w := newWorld(t)
	w.inputs["agent"], w.inputs["max_iterations"] = w.planner(w.answerPlan(twoStories)), "1"
	w.offered(twoStories)
	w.must(loop.Capped)(w.comment("alice", "/ralph approve"))
	pr := w.gh.Pulls(owner, name)[0].Number
	on := func(body string, seconds int) (loop.Result, error) {
		at := time.Now().UTC().Truncate(time.Second).Add(time.Duration(seconds) * time.Second)
		id := w.gh.AddComment(owner, name, pr, fake.Comment{Author: "alice", Body: body, CreatedAt: at})
		return w.action(context.Background(), "issue_comment", w.gh.CommentPayload(owner, name, id))
	}
	w.must(loop.Done)(on("/ralph plan", 0))
	if n := len(w.plans()); n != 2 { // the first is not as ralph wrote it
		t.Errorf("%d plans on the issue", n)
	}
	w.inputs["max_iterations"] = "8"
	result := w.must(loop.Done)(on("/ralph approve", 2))
	if len(result.State.Iterations) != 4 || len(w.gh.Pulls(owner, name)) != 1 {
		t.Errorf("%d iterations, pull requests %+v", len(result.State.Iterations), w.gh.Pulls(owner, name))
	}
}

// TestApprovedBesideAPlan: where the repository has a plan of its own, an issue's lies beside it.
func TestApprovedBesideAPlan(t *testing.T) {
	seldom(t)
	t.Parallel()
	w := newWorld(t)
	w.inputs["agent"] = w.planner("echo no one asks")
	w.commit("ralph/tasks.json", "mine")
	w.offered(twoStories)
	result := w.must(loop.Done)(w.comment("alice", "/ralph approve"))
	if result.State.Start.Plan.File != "ralph/issue-1/tasks.json" ||
		w.show("ralph/issue-1", "ralph/tasks.json") != "mine" {
		t.Errorf("the plan lies in %s", result.State.Start.Plan.File)
	}
}

// TestApprovedWhereGitIgnoresPlans: the run's first commit holds the plan all the same, and so do its later ones.
func TestApprovedWhereGitIgnoresPlans(t *testing.T) {
	seldom(t)
	t.Parallel()
	w := newWorld(t)
	w.inputs["agent"] = w.planner("echo no one asks")
	w.commit(".gitignore", "ralph/\n")
	w.offered(twoStories)
	w.must(loop.Done)(w.comment("alice", "/ralph approve"))
	if got := w.show("ralph/issue-1", "ralph/tasks.json"); strings.Count(got, `"approved"`) != 2 {
		t.Errorf("tasks.json at the end: %s", got)
	}
}

// TestPlanThatCannotBeLaid: the lease is given back, so that whoever asks again is not told to wait.
func TestPlanThatCannotBeLaid(t *testing.T) {
	seldom(t)
	t.Parallel()
	w := newWorld(t)
	w.inputs["agent"] = w.planner("echo no one asks")
	w.offered(twoStories)
	hook := filepath.Join(w.gh.GitDir(owner, name), "hooks", "pre-receive")
	if err := os.MkdirAll(filepath.Dir(hook), 0o700); err != nil {
		t.Fatal(err)
	}
	const once = "#!/bin/sh\nwhile read old new ref; do case $ref in refs/heads/*) [ -e refused ] || { touch refused; " +
		"echo no >&2; exit 1; };; esac; done\n"
	if err := os.WriteFile(hook, []byte(once), 0o700); err != nil {
		t.Fatal(err)
	}
	if result, err := w.comment("alice", "/ralph approve"); result.Outcome != loop.Failed || err == nil {
		t.Fatalf("%s: %v", result.Outcome, err)
	}
	result := w.must(loop.Done)(w.comment("alice", "/ralph approve"))
	if p := w.show("ralph/issue-1", "ralph/prd.md"); len(result.State.Iterations) != 4 || p == "" {
		t.Errorf("%d iterations; prd.md: %q", len(result.State.Iterations), p)
	}
}

// TestApprovedAgain: another plan begins at the base again and keeps the old work; the same one after a stop goes on.
func TestApprovedAgain(t *testing.T) {
	seldom(t)
	t.Parallel()
	w := newWorld(t)
	w.inputs["agent"], w.inputs["max_iterations"] = w.planner("echo no one asks"), "2"
	w.offered(twoStories)
	first := w.must(loop.Capped)(w.comment("alice", "/ralph approve"))
	w.inputs["max_iterations"] = "1"
	same := w.must(loop.Capped)(w.comment("alice", "/ralph approve"))
	if same.State.Start.Run != first.State.Start.Run || len(same.State.Iterations) != 3 {
		t.Errorf("the same plan again is run %s with %d iterations", same.State.Start.Run, len(same.State.Iterations))
	}
	w.inputs["max_iterations"] = "8"
	w.offered(strings.ReplaceAll(twoStories, "Say what it does", "Explain it"))
	other := w.must(loop.Done)(w.comment("alice", "/ralph approve"))
	if other.State.Start.Run == first.State.Start.Run || len(other.State.Iterations) != 4 {
		t.Errorf("another plan is run %s with %d iterations", other.State.Start.Run, len(other.State.Iterations))
	}
	archived := false
	for _, b := range w.branches() {
		archived = archived || strings.HasPrefix(b, "wip/archive/")
	}
	if !archived {
		t.Errorf("the old work is gone; branches: %v", w.branches())
	}
}

// TestNoPlan: an agent that gives none is asked three times, and the issue says so. What it cost is in the outputs.
func TestNoPlan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	asked := w.shared("asked")
	w.inputs["agent"] = w.planner(`echo x >> ` + asked + `; echo '{"tasks": {"userStories": [{"id": "@mallory"}]}}'`)
	result, err := w.comment("alice", "/ralph plan")
	if result.Outcome != loop.Failed || err == nil {
		t.Errorf("%s, %v", result.Outcome, err)
	}
	if n := strings.Count(w.file("asked"), "x"); n != 3 {
		t.Errorf("asked %d times, want 3", n)
	}
	if bodies := w.bodies(w.issue); len(bodies) != 1 || !strings.Contains(bodies[0], "There is no plan: 3 answers of the agent were invalid") ||
		!strings.Contains(bodies[0], "```text\nproject is missing") {
		t.Errorf("answers: %q", bodies)
	}
	// What the agent had done is nobody's: it worked on a copy.
	if len(w.branches()) != 1 {
		t.Errorf("branches: %v", w.branches())
	}
}

// TestPlanDryRun: a plan that is asked for is in the job summary alone.
func TestPlanDryRun(t *testing.T) {
	seldom(t)
	t.Parallel()
	w := newWorld(t)
	w.inputs["agent"], w.inputs["dry_run"] = w.planner(w.answerPlan(twoStories)), "true"
	w.must(loop.Done)(w.comment("alice", "/ralph plan"))
	for _, c := range w.gh.Calls() {
		if c.Write {
			t.Errorf("a dry run writes: %s", c)
		}
	}
	if !strings.Contains(w.file("summary"), "add 2 3 is 5") {
		t.Errorf("job summary: %s", w.file("summary"))
	}
	w.offered(twoStories)
	w.must(loop.Done)(w.comment("alice", "/ralph approve"))
	for _, c := range w.gh.Calls() {
		if c.Write {
			t.Errorf("a dry run writes: %s", c)
		}
	}
	if len(w.branches()) != 1 || w.git("for-each-ref", "refs/ralph") != "" {
		t.Errorf("a dry run pushes: %v", w.branches())
	}
}

// TestSweepPlansQueuedLabels: a label that asks for a plan and that no job heard of is swept as the other one is.
func TestSweepPlansQueuedLabels(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.inputs["agent"] = w.planner(w.answerPlan(twoStories))
	w.gh.Label(owner, name, w.issue, "ralph:plan", "mallory")
	if result, err := w.sweep(); err != nil || result.Outcome != "" || len(w.plans()) != 0 {
		t.Errorf("labelled by a reader: %s, %v", result.Outcome, err)
	}
	w.gh.Unlabel(owner, name, w.issue, "ralph:plan", "alice")
	w.gh.Label(owner, name, w.issue, "ralph:plan", "alice")
	w.must(loop.Done)(w.sweep())
	if len(w.plans()) != 1 || w.labels() != "" {
		t.Errorf("plans: %d, labels: %s", len(w.plans()), w.labels())
	}
}

// TestPlanByAgentOfTheRepository: a program of the base commit derives the plan in its copy, and nothing that it leaves there lasts.
func TestPlanByAgentOfTheRepository(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commit("+tools/agent.sh", "#!/bin/sh\necho x > left 2>/dev/null\n"+w.answerPlan(twoStories)+"\n",
		".ralph/settings.json", `{"agent": {"command": "./tools/agent.sh"}}`)
	w.must(loop.Done)(w.comment("alice", "/ralph plan"))
	if len(w.plans()) != 1 || len(w.branches()) != 1 {
		t.Errorf("plans: %d, branches: %v", len(w.plans()), w.branches())
	}
}

// TestFreshRetryOfAPlan begins with the plan as it was approved.
func TestFreshRetryOfAPlan(t *testing.T) {
	seldom(t)
	t.Parallel()
	w := newWorld(t)
	w.inputs["agent"], w.inputs["max_iterations"] = w.planner("echo no one asks"), "2"
	w.offered(twoStories)
	before := w.must(loop.Capped)(w.comment("alice", "/ralph approve"))
	w.inputs["max_iterations"] = "8"
	after := w.must(loop.Done)(w.comment("alice", "/ralph retry --fresh"))
	if after.State.Start.Run == before.State.Start.Run || len(after.State.Iterations) != 4 ||
		after.State.Start.Plan == nil {
		t.Errorf("the fresh retry is run %s with %d iterations", after.State.Start.Run, len(after.State.Iterations))
	}
}

// TestPlanBringsNoCommands: an issue's plan may not say what is run, whatever stands in its comment.
func TestPlanBringsNoCommands(t *testing.T) {
	seldom(t)
	t.Parallel()
	w := newWorld(t)
	w.inputs["agent"] = w.planner("echo no one asks")
	w.offered(strings.Replace(twoStories, `"make test"`, `"make test", "echo ran >> ralph-must-not-run"`, 1))
	w.must(loop.Done)(w.later("alice", "/ralph approve", 2))
	said := strings.Join(w.bodies(w.issue), "\n")
	if !strings.Contains(said, "is run without these commands") || !strings.Contains(said, "ralph-must-not-run") {
		t.Errorf("nobody is told of the command that is not run: %q", said)
	}
	if strings.Contains(w.out.String(), "$ echo ran") {
		t.Error("a command of the issue was run")
	}
}

// TestWhoEditedThePlan has a row for each who may have edited the plan before somebody approved it: only an edit of somebody who may ask
// counts, and one that cannot be looked up counts for nothing.
func TestWhoEditedThePlan(t *testing.T) {
	t.Parallel()
	type row struct {
		name, by, want string
		fail           fake.Fault
	}
	for _, tt := range some(1,
		row{"somebody without write access", "mallory",
			"the last edit of its comment does not count: mallory has read permission here", fake.Fault{}},
		row{"a writer who does not approve", "robin", "", fake.Fault{}},
		row{"an account that is gone", "", "the last editor is not known", fake.Fault{}},
		row{"another workflow", "github-actions[bot]", "another workflow writes as that account, too", fake.Fault{}},
		row{"a bot", "helper[bot]", "is a bot that is not listed in allowed_bots", fake.Fault{}},
		row{"nobody who is told", "alice", "by whom is not known", fake.Fault{Match: "POST /graphql", Status: 403}},
	) {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.gh.SetPermission(owner, name, "robin", "write")
			w.inputs["agent"] = w.planner(w.answerPlan(twoStories))
			w.must(loop.Done)(w.comment("alice", "/ralph plan"))
			posted := w.plans()[0]
			w.gh.EditCommentAs(owner, name, posted.ID, edited(posted.Body, "Say what it does", "Explain it"), tt.by)
			if tt.fail.Match != "" {
				w.gh.Fail(tt.fail)
			}
			result, err := w.later("alice", "/ralph approve", 2)
			if tt.want == "" {
				if result = w.must(loop.Done)(result, err); result.State.Plan.Stories[1].Title != "Explain it" {
					t.Errorf("ran %+v", result.State.Plan.Stories[1])
				}
				return
			}
			said := w.bodies(w.issue)
			if last := said[len(said)-1]; !strings.Contains(last, tt.want) || w.git("for-each-ref", "refs/ralph") != "" {
				t.Errorf("outcome %s; told %q; refs %s", result.Outcome, last, w.git("for-each-ref", "refs/ralph"))
			}
		})
	}
}
