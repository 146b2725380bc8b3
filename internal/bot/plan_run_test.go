//go:build unix

package bot

import (
	"context"
	"fmt"
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
	noError(t, err)
	view := report.View{State: loop.State{Start: loop.Start{Task: "issue-1"}}}
	return planlist.Comment(view, p, 1, 2)
}

func (w *world) sweep() (loop.Result, error) {
	w.t.Helper()
	return w.action(context.Background(), "schedule", w.gh.SchedulePayload(owner, name))
}

// list has a sweep list what it would take up, and holds that it takes nothing up.
func (w *world) list() string {
	w.t.Helper()
	labels := w.labels()
	w.inputs["list"], w.inputs["max_tasks"] = "true", "10"
	if w.must("")(w.sweep()); w.labels() != labels {
		w.t.Errorf("labels = %s", w.labels())
	}
	w.inputs["list"] = ""
	listed := w.file("output")
	listed, _, _ = strings.Cut(listed[strings.LastIndex(listed, `{"include"`):], "\n")
	return listed
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
			event, payload := w.commented(w.issue, "/ralph approve")
			w.killed(at, event, payload)
			before := w.git("rev-list", "ralph/issue-1", "--not", "main")
			w.env["GITHUB_RUN_ID"], w.late = "78", 2*time.Hour
			result := w.must(loop.Done)(w.sweep())
			if n := len(result.State.Iterations); n != 4 {
				t.Errorf("%d iterations, want 4", n)
			}
			w.noneLost(before)
			for _, s := range result.State.Plan.Stories {
				if s.ReviewCount != 1 {
					t.Errorf("%s was reviewed %d times", s.ID, s.ReviewCount)
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

// TestPlanOfTheRepository is run by a dispatch on the branch that it names, with its own commands. Approvals count as far
// as the run's record has them: what the file alone says is reviewed, and once it is merged, nothing is reviewed again.
func TestPlanOfTheRepository(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ran := w.shared("ran")
	w.inputs["agent"] = w.planner("echo no one asks")
	at := strings.LastIndex(twoStories, `"passes": false`)
	claims := twoStories[:at] + strings.NewReplacer(`"passes": false`, `"passes": true`, `"reviewStatus": null`,
		`"reviewStatus": "approved"`, `"reviewCount": 0`, `"reviewCount": 4`, `"notes": ""`, `"notes": "x"`).Replace(twoStories[at:])
	w.commit("ralph/tasks.json", strings.Replace(claims, `"make test"`, `"make test", "echo x >> `+ran+`"`, 1),
		"ralph/prd.md", "# Adding\n\nMake it add.\n", "add.sh", "add() { echo $(($2 + $1)); }\n")
	result := w.must(loop.Done)(w.dispatch(map[string]string{"plan": "ralph/tasks.json"}))
	if s := result.State.Start; s.Task != "plan-add" || s.Branch != "ralph/add" || s.Issue != 0 || s.Plan.Dir != "ralph" {
		t.Errorf("the run is %+v", s)
	}
	if n := len(result.State.Iterations); n != 3 || result.State.Plan.Story("US-002").ReviewCount != 1 ||
		!strings.Contains(w.out.String(), "plan: US-002 is approved in the file, but no record has an approval of it") {
		t.Errorf("%d iterations, %+v", n, result.State.Plan.Stories)
	}
	pr := w.gh.Pulls(owner, name)[0]
	if pr.Head != "ralph/add" || pr.Draft || strings.Contains(pr.Body, "Closes") {
		t.Errorf("pull request: %+v", pr)
	}
	if w.file("ran") == "" {
		t.Error("the plan's own command was not run")
	}
	if n := len(w.bodies(w.issue)); n != 0 {
		t.Error("a plan without an issue writes on one")
	}
	w.commit("ralph/tasks.json", w.git("show", "ralph/add:ralph/tasks.json"))
	w.env["GITHUB_RUN_ID"] = "78"
	result, err := w.dispatch(map[string]string{"plan": "ralph/tasks.json"})
	if err != nil || len(result.State.Iterations) != 0 ||
		!strings.Contains(w.out.String(), "nothing to do: all 2 stories of ralph/tasks.json are approved") {
		t.Errorf("%s (%s), %v", result.Outcome, result.Reason, err)
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
	if got, want := w.list(),
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
	if got := w.list(); got != `{"include":[]}` ||
		!strings.Contains(w.out.String(), "ralph/tasks.json is skipped: its run is alive") {
		t.Errorf("while it is worked on: %s", got)
	}
	w.late = 2 * time.Hour
	result := w.must(loop.Done)(w.sweep())
	if result.State.Start.Task != "plan-add" || result.State.ResumedAt.IsZero() || len(result.State.Iterations) != 4 {
		t.Errorf("the sweep ran %+v", result.State.Start)
	}
	if got := w.list(); got != `{"include":[]}` ||
		!strings.Contains(w.out.String(), "ended done, and the file has not changed since") {
		t.Errorf("after it is done: %s", got)
	}
	w.commit("ralph/tasks.json", strings.ReplaceAll(twoStories, "Say what it does", "Explain it"))
	if got, want := w.list(),
		`{"include":[{"plan":"ralph/tasks.json","why":"2 of its 2 stories are left to do"}]}`; got != want {
		t.Errorf("after an edit: %s, want %s", got, want)
	}
}

// TestStoppedPlanIsRetried: on the issue from the plan as it was approved, and of a plan in the repository on its pull
// request, where the run resumes where its stories stand.
func TestStoppedPlanIsRetried(t *testing.T) {
	t.Parallel()
	for _, of := range some(1, "repository", "issue") {
		t.Run(of, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.inputs["agent"], w.inputs["max_iterations"] = w.planner("echo no one asks"), "2"
			var result loop.Result
			on, says := w.issue, "/ralph retry --fresh be brief"
			if of == "issue" {
				w.offered(twoStories)
				result = w.must(loop.Capped)(w.comment("alice", "/ralph approve"))
				w.inputs["max_iterations"] = "8"
			} else {
				w.commit("ralph/tasks.json", twoStories)
				result = w.must(loop.Capped)(w.dispatch(map[string]string{"plan": "ralph/tasks.json"}))
				w.inputs["plan"] = ""
				on, says = w.gh.Pulls(owner, name)[0].Number, "/ralph retry be brief"
			}
			if got := fmt.Sprint(result.State.Plan.Passed()); got != "1" {
				t.Errorf("%s stories passed before the cap, want 1", got)
			}
			again := w.must(loop.Done)(w.commentOn(on, "alice", says))
			if resumed := again.State.Start.Run == result.State.Start.Run; resumed != (of == "repository") ||
				len(again.State.Iterations) != 4 || again.State.Hints[0].Text != "be brief" {
				t.Errorf("the retry is run %s with %d iterations and hints %+v", again.State.Start.Run, len(again.State.Iterations),
					again.State.Hints)
			}
			if prs := w.gh.Pulls(owner, name); len(prs) != 1 || prs[0].Draft {
				t.Errorf("pull requests: %+v", prs)
			}
		})
	}
}

// TestApprovedAgain: the same plan after a stop is resumed. Another one, asked for and approved where the work is, starts
// at the base again and keeps the old work.
func TestApprovedAgain(t *testing.T) {
	seldom(t)
	t.Parallel()
	w := newWorld(t)
	w.inputs["agent"] = w.planner(w.answerPlan(strings.ReplaceAll(twoStories, "Say what it does", "Explain it")))
	w.inputs["max_iterations"] = "2"
	w.offered(twoStories)
	first := w.must(loop.Capped)(w.comment("alice", "/ralph approve"))
	w.inputs["max_iterations"] = "1"
	same := w.must(loop.Capped)(w.comment("alice", "/ralph approve"))
	if same.State.Start.Run != first.State.Start.Run || len(same.State.Iterations) != 3 {
		t.Errorf("the same plan again is run %s with %d iterations", same.State.Start.Run, len(same.State.Iterations))
	}
	pr := w.gh.Pulls(owner, name)[0].Number
	w.must(loop.Done)(w.commentOn(pr, "alice", "/ralph plan"))
	if n := len(w.plans()); n != 2 { // the first is not as ralph wrote it
		t.Errorf("%d plans on the issue", n)
	}
	w.inputs["max_iterations"] = "8"
	other := w.must(loop.Done)(w.later(pr, "/ralph approve"))
	if other.State.Start.Run == first.State.Start.Run || len(other.State.Iterations) != 4 || len(w.gh.Pulls(owner, name)) != 1 {
		t.Errorf("another plan is run %s with %d iterations", other.State.Start.Run, len(other.State.Iterations))
	}
	if !strings.Contains(fmt.Sprint(w.branches()), "wip/archive/") {
		t.Errorf("the old work is gone; branches: %v", w.branches())
	}
}

// TestApprovedInARepositoryThatIsInTheWay: where the repository has a plan of its own, an issue's lies beside it; where git
// ignores it, the run's commits hold it still; and where GitHub does not take it, the lease is given back, so that who
// approves again does not wait. An issue's plan may not say what is run, whatever its comment holds.
func TestApprovedInARepositoryThatIsInTheWay(t *testing.T) {
	seldom(t)
	t.Parallel()
	w := newWorld(t)
	w.inputs["agent"] = w.planner("echo no one asks")
	w.commit("ralph/tasks.json", "mine", ".gitignore", "ralph/\n")
	w.offered(strings.Replace(twoStories, `"make test"`, `"make test", "echo ran >> ralph-must-not-run"`, 1))
	w.refusing("while read old new ref; do case $ref in refs/heads/*) [ -e refused ] || { touch refused; echo no >&2; exit 1; };; esac; done\n")
	if result, err := w.comment("alice", "/ralph approve"); result.Outcome != loop.Failed || err == nil {
		t.Fatalf("%s: %v", result.Outcome, err)
	}
	result := w.must(loop.Done)(w.later(w.issue, "/ralph approve"))
	if len(result.State.Iterations) != 4 || result.State.Start.Plan.File != "ralph/issue-1/tasks.json" ||
		w.show("ralph/issue-1", "ralph/tasks.json") != "mine" {
		t.Errorf("%d iterations of the plan in %s", len(result.State.Iterations), result.State.Start.Plan.File)
	}
	if got := w.show("ralph/issue-1", "ralph/issue-1/tasks.json"); strings.Count(got, `"approved"`) != 2 {
		t.Errorf("tasks.json at the end: %s", got)
	}
	said := strings.Join(w.bodies(w.issue), "\n")
	if !strings.Contains(said, "is run without these commands") || !strings.Contains(said, "ralph-must-not-run") ||
		strings.Contains(w.out.String(), "$ echo ran") {
		t.Errorf("a command of the issue was run, or is not said to be left out: %q", said)
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

// TestWhoEditedThePlan has a row for each who may have edited the plan before somebody approved it: only an edit of somebody who may ask
// counts, and one that cannot be looked up counts for nothing.
func TestWhoEditedThePlan(t *testing.T) {
	t.Parallel()
	for _, tt := range some(1, []struct{ name, by, want string }{
		{"somebody without write access", "mallory",
			"the last edit of its comment does not count: mallory has read permission here"},
		{"a writer who does not approve", "robin", ""},
		{"an account that is gone", "", "the last editor is not known"},
	}...) {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.gh.SetPermission(owner, name, "robin", "write")
			w.inputs["agent"] = w.planner(w.answerPlan(twoStories))
			w.must(loop.Done)(w.comment("alice", "/ralph plan"))
			posted := w.plans()[0]
			w.gh.EditCommentAs(owner, name, posted.ID, edited(posted.Body, "Say what it does", "Explain it"), tt.by)
			result, err := w.later(w.issue, "/ralph approve")
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
