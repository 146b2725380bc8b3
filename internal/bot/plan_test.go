package bot

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
)

// twoStories is a plan for the world's issue.
var twoStories = string(plan.Plan{Project: "demo", BranchName: "ralph/add", Description: "Make add add",
	VerifyCommands: []string{"make test"}, Stories: []plan.Story{
		{ID: "US-001", Title: "Make add add", Description: "It subtracts.", AcceptanceCriteria: []string{"add 2 3 is 5"}, Priority: 1},
		{ID: "US-002", Title: "Say what it does", Description: "A file for people.",
			AcceptanceCriteria: []string{"README says what add does"}, Priority: 2, DependsOn: []string{"US-001"}},
	}}.Marshal())

// storyAgent derives the plan in $derived, implements each story in its iteration, and as a reviewer approves. Where
// the plan lies it is told.
const storyAgent = `p=$(cat)
dir=$(printf '%s' "$p" | sed -n 's/.*Read .\(ralph[^ ]*\)\/tasks.json.*/\1/p' | head -1)
hand() {
  awk -v id="$1" '/^ *"id": / { split($0, part, "\""); here = part[4] == id }
    here && /"reviewStatus": / { sub(/: [^,]*/, ": \"needs_review\"") }
    here && /"reviewFeedback": / { sub(/: .*/, ": \"\",") } { print }' $dir/tasks.json > .t && cat .t > $dir/tasks.json && rm .t
  echo "$1" >> $dir/progress.txt
  echo "did $1"
}
verdict() {
  tree=$(printf '%s' "$p" | sed -n 's/.*"tree": "\([0-9a-f]*\)".*/\1/p' | head -1)
  printf '{"verdict":"%s","tree":"%s","summary":"looked","issues":%s}\n' "$1" "$tree" "$2"
}
story=$(printf '%s' "$p" | sed -n 's/.*the story and the mode: \*\*\([^*]*\)\*\*, \*\*\([^*]*\)\*\*.*/\1 \2/p' | head -1)
case "$story" in
"") case "$p" in *"You turn what somebody wants into a plan"*) derive;; *) echo "not asked for: $p"; exit 1;; esac;;
"US-001 implement") printf 'add() { echo $(($1 + $2)); }\n' > add.sh; hand US-001;;
*" review") verdict approve '[]';;
*" implement"|*" review-fix") echo "${story%% *}" >> README; hand "${story%% *}";;
esac
`

// planner makes the agent of a world: what it answers when a plan is to be derived is a shell command.
func (w *world) planner(derive string) string {
	return w.script("agent", "derive() {\n"+derive+"\n}\n"+storyAgent)
}

// answerPlan is a shell command that answers with a plan.
func (w *world) answerPlan(tasks string) string {
	w.write("answer.json", `{"questions": [], "prd": "", "tasks": `+tasks+`}`)
	return "cat " + w.dir + "/answer.json"
}

// later has alice write a comment two seconds from now, since GitHub keeps whole seconds, and runs its job.
func (w *world) later(number int, body string) (loop.Result, error) {
	w.t.Helper()
	at := time.Now().UTC().Truncate(time.Second).Add(2 * time.Second)
	id := w.gh.AddComment(owner, name, number, fake.Comment{Author: "alice", Body: body, CreatedAt: at})
	return w.action(context.Background(), "issue_comment", w.gh.CommentPayload(owner, name, id))
}

// plans are the comments with a plan that the bot wrote, oldest first.
func (w *world) plans() []fake.Comment {
	var out []fake.Comment
	for _, c := range w.gh.Comments(owner, name, w.issue) {
		if c.Author == "github-actions[bot]" && strings.HasPrefix(c.Body, "<!-- ralph:plan") {
			out = append(out, c)
		}
	}
	return out
}

// TestPlanEditedAndApproved is the way of a plan: asked for, edited by hand, approved, and run to a pull request
// (B-04).
func TestPlanEditedAndApproved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.inputs["agent"] = w.planner(w.answerPlan(twoStories))
	w.must(loop.Done)(w.comment("alice", "/ralph plan"))

	posted := w.plans()
	if len(posted) != 1 {
		t.Fatalf("comments: %q", w.bodies(w.issue))
	}
	if !strings.Contains(posted[0].Body, "Derived in 1 turn") {
		t.Errorf("the plan:\n%s", posted[0].Body)
	}
	if w.git("for-each-ref", "refs/ralph") != "" || len(w.branches()) != 1 || w.labels() != "" {
		t.Errorf("asking for a plan left %s, branches %v, labels %s", w.git("for-each-ref", "refs/ralph"), w.branches(),
			w.labels())
	}

	body := edited(posted[0].Body, "README says what add does", "README names add")
	body = edited(body, "Say what it does (needs US-001)", "Say what it does")
	w.gh.EditCommentAs(owner, name, posted[0].ID, edited(body, "\n#### Change it", "- [ ] Thank people\n\n#### Change it"),
		"alice")
	result := w.must(loop.Done)(w.later(w.issue, "/ralph approve"))
	if n := len(result.State.Iterations); n != 6 {
		t.Errorf("%d iterations, want 6: three stories, implemented and reviewed", n)
	}
	prs := w.gh.Pulls(owner, name)
	if len(prs) != 1 || prs[0].Draft || prs[0].Head != "ralph/issue-1" || !strings.Contains(prs[0].Body, "Closes #1") {
		t.Fatalf("pull requests: %+v", prs)
	}
	log := strings.Fields(w.git("log", "--reverse", "--format=%H", "main..ralph/issue-1"))
	if got := w.git("show", "--format=%s", "--name-only",
		log[0]); got != "ralph: the plan as it is run\n\nralph/prd.md\nralph/progress.txt\nralph/tasks.json\n" {
		t.Errorf("the first commit is %q", got)
	}
	if prd := w.show("ralph/issue-1", "ralph/prd.md"); prd != "# Make add add\n\nIt subtracts.\n" {
		t.Errorf("prd.md is %q", prd)
	}
	p, err := plan.Parse("tasks.json", []byte(w.show("ralph/issue-1", "ralph/tasks.json")))
	noError(t, err)
	if !p.Complete(plan.Rules{ReviewCap: 5}) || p.BranchName != "ralph/issue-1" ||
		p.Stories[1].AcceptanceCriteria[0] != "README names add" ||
		len(p.Stories[1].DependsOn) != 0 || p.Stories[2].ID != "US-003" ||
		p.Stories[2].AcceptanceCriteria[0] != "Thank people" {
		t.Errorf("tasks.json at the end: %+v", p)
	}
	if len(p.VerifyCommands) != 1 || p.VerifyCommands[0] != "make test" {
		t.Errorf("commands that the plan keeps: %q", p.VerifyCommands)
	}
	if said := strings.Join(w.bodies(w.issue), "\n"); !strings.Contains(said,
		"changed: US-002 (criteria, what it needs)\nnew: US-003 Thank people\nUS-003 has no criteria of its own") {
		t.Errorf("what was understood is not said:\n%s", said)
	}
	if now := w.plans(); len(now) != 1 || !strings.Contains(now[0].Body, "- [ ] Thank people\n") {
		t.Error("the comment that was approved does not stay as it was")
	}
}

// edited is a comment with another list; what is folded below it stays as it is.
func edited(body, old, by string) string {
	list, fold, _ := strings.Cut(body, "<details>")
	return strings.ReplaceAll(list, old, by) + "<details>" + fold
}

// TestPlanByLabel: the label that asks for a plan is taken off, and nothing else changes, whether its job is run or a sweep
// finds it.
func TestPlanByLabel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.inputs["agent"] = w.planner(w.answerPlan(twoStories))
	w.gh.Label(owner, name, w.issue, "bug", "alice")
	w.gh.Label(owner, name, w.issue, "ralph:plan", "alice")
	w.must(loop.Done)(w.action(context.Background(), "issues",
		w.gh.LabeledPayload(owner, name, w.issue, "ralph:plan", "alice")))
	if len(w.plans()) != 1 || w.labels() != "bug" {
		t.Errorf("plans: %d, labels: %s", len(w.plans()), w.labels())
	}
	w.gh.Label(owner, name, w.issue, "ralph:plan", "mallory")
	w.must(loop.Refused)(w.action(context.Background(), "issues",
		w.gh.LabeledPayload(owner, name, w.issue, "ralph:plan", "mallory")))
	w.inputs["agent"] = w.planner(w.answerPlan(strings.ReplaceAll(twoStories, "Say what it does", "Describe it")))
	w.must("")(w.sweep())
	w.gh.Unlabel(owner, name, w.issue, "ralph:plan", "alice")
	w.gh.Label(owner, name, w.issue, "ralph:plan", "alice")
	w.must(loop.Done)(w.sweep())
	if plans := w.plans(); len(plans) != 1 || !strings.Contains(plans[0].Body, "Describe it") || w.labels() != "bug" {
		t.Errorf("plans: %+v, labels: %s", plans, w.labels())
	}
}

// TestApprovals that come to nothing say why, and nothing is run.
func TestApprovals(t *testing.T) {
	t.Parallel()
	offer, hour := planComment(t, twoStories), time.Now().UTC().Add(time.Hour)
	bot := func(old, by string) fake.Comment {
		return fake.Comment{Author: "github-actions[bot]", Body: strings.Replace(offer, old, by, 1)}
	}
	edited, posted := bot("", ""), bot("", "")
	edited.UpdatedAt, posted.CreatedAt = hour, hour
	for _, tt := range []struct {
		name    string
		plan    fake.Comment // without an author: none
		who     string
		want    string // what the bot answers; of somebody who may not, nothing
		outcome loop.Outcome
	}{
		{"no plan", fake.Comment{}, "alice", "here is no plan of ralph's on issue", ""},
		{"a stranger's plan", fake.Comment{Author: "mallory", Body: offer}, "alice", "here is no plan of ralph's", ""},
		{"of another issue", bot("issue-1", "issue-11"), "alice", "here is no plan of ralph's", ""},
		{"edited since", edited, "alice", "he plan was edited after you approved it; look at it again and approve again", loop.Invalid},
		{"posted since", posted, "alice", "he plan was posted after you approved it", loop.Invalid},
		{"something wrong", bot("- [ ] **US-001:**", "- [x] **US-001:**"), "alice",
			"```text\nthe plan: line 11, “- [x] **US-001:** Make add add”: its box is ticked", loop.Invalid},
		{"a cycle", bot("Make add add\n  It", "Make add add (needs US-002)\n  It"), "alice", "US-001 → US-002 → US-001", loop.Invalid},
		{"somebody who may not", bot("", ""), "mallory", "", loop.Refused},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.inputs["agent"] = w.planner("echo no one asks")
			if tt.plan.CreatedAt.IsZero() {
				tt.plan.CreatedAt = hour.Add(-2 * time.Hour)
			}
			if tt.plan.Author != "" {
				w.gh.AddComment(owner, name, w.issue, tt.plan)
			}
			had := len(w.bodies(w.issue))
			result, _ := w.comment(tt.who, "/ralph approve")
			if result.Outcome != tt.outcome {
				t.Errorf("outcome %s: %s", result.Outcome, result.Reason)
			}
			answers := w.bodies(w.issue)[had:]
			if (len(answers) == 1) != (tt.want != "") || !strings.Contains(strings.Join(answers, ""), tt.want) {
				t.Errorf("answers: %q, want one with %q", answers, tt.want)
			}
			if w.gh.BranchSHA(owner, name, "ralph/issue-1") != "" || w.git("for-each-ref", "refs/ralph") != "" {
				t.Error("something was begun")
			}
		})
	}
}
