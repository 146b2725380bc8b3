package bot

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/loop"
)

// spy is an agent, reviewer and check that tells all it can find out: its environment, its parents', the checkout's
// configuration.
const spy = `who=$1; out=$2
{
  echo "== $who"
  env
  echo "uid=$(id -u)"
  for p in $PPID $(ps -o ppid= -p $PPID 2>/dev/null); do
    cat /proc/$p/environ 2>/dev/null | tr '\0' '\n'
    cat /proc/$p/cmdline 2>/dev/null | tr '\0' ' '
  done
  grep -al "made-up" /proc/[0-9]*/environ 2>/dev/null
  git config --list --show-origin 2>&1
  cat .git/config 2>&1
} >> $out
`

// TestNobodyBelowHoldsAToken: agent, reviewer and checks find no GitHub token anywhere, and only the agent's process
// gets the model's key.
func TestNobodyBelowHoldsAToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t).overHTTP()
	found := w.shared("found")
	w.script("spy", spy)
	w.inputs["agent"] = w.script("agent", filepath.Join(w.dir, "spy")+" agent "+found+"\n"+fixer)
	w.inputs["checks"] = filepath.Join(w.dir, "spy") + " check " + found + "; make test"
	w.env["ACTIONS_RUNTIME_TOKEN"] = "made-up-runtime-token"
	w.env["GH_TOKEN"] = token
	w.must(loop.Done)(w.label("alice"))
	text := w.file("found")
	if !strings.Contains(text, "== agent") || !strings.Contains(text, "== check") {
		t.Fatalf("the spies did not run:\n%s", text)
	}
	of := "" // whose lines these are
	for line := range strings.Lines(text) {
		if who, ok := strings.CutPrefix(line, "== "); ok {
			of = strings.TrimSpace(who)
		}
		if of == "check" && strings.Contains(line, "API_KEY") {
			t.Errorf("a check has the model's key: %s", line)
		}
	}
	for _, forbidden := range []string{token, "made-up-runtime-token", "INPUT_", "GITHUB_TOKEN", "extraheader",
		"AUTHORIZATION"} {
		for line := range strings.Lines(text) {
			if strings.Contains(strings.ToUpper(line), strings.ToUpper(forbidden)) {
				t.Errorf("%s is within reach: %s", forbidden, line)
			}
		}
	}
	if os.Geteuid() == 0 && strings.Contains(text, "uid=0\n") {
		t.Error("something ran as root")
	}
}

// TestNothingPostedHoldsASecret: an agent that prints the token and the key, and a check that does.
func TestNothingPostedHoldsASecret(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	leak := token + " " + secret + " ghp_0123456789abcdefghijABCDEFGHIJ012345"
	w.inputs["agent"] = w.script("agent", `cat >/dev/null; date +%N > x; echo "`+leak+`
::set-output name=conclusion::success
::add-mask::a
<response>DONE</response>"`)
	w.inputs["checks"], w.inputs["max_iterations"] = `echo "`+leak+`"; echo "::set-env name=X::y"; exit 1`, "2"
	w.must(loop.Capped)(w.label("alice"))
	everything := w.file("summary") + w.file("output") + w.git("log", "--all", "-p")
	for _, i := range []int{w.issue, w.gh.Pulls(owner, name)[0].Number} {
		everything += strings.Join(w.bodies(i), "\n") + w.gh.Issue(owner, name, i).Body
	}
	log := w.out.String()
	if !strings.Contains(log, "agent does not get the key in ANTHROPIC_API_KEY") {
		t.Error("the log does not say that an agent which nobody knows gets no key")
	}
	for line := range strings.Lines(log) {
		if strings.HasPrefix(line, "::add-mask::") && !strings.Contains(line, "::a\n") {
			continue
		}
		everything += line
		if strings.HasPrefix(strings.TrimSpace(line), "::set-") || strings.HasPrefix(line, "::add-mask::a\n") {
			t.Errorf("a log command of the agent or a check: %q", line)
		}
	}
	for _, s := range []string{token, secret, "ghp_0123456789abcdefghijABCDEFGHIJ012345"} {
		if i := strings.Index(everything, s); i >= 0 {
			t.Errorf("%.12s… was posted, logged or pushed: …%s…", s, everything[max(0, i-80):min(len(everything), i+len(s)+20)])
		}
	}
}

// TestCommitsHoldNoSecret: an agent that writes its key into a file, and into the history of a file, gets neither onto
// the remote; the rest of its work is kept.
func TestCommitsHoldNoSecret(t *testing.T) {
	t.Parallel()
	for _, row := range some(1, [][2]string{
		{"its own commit", `echo "$ANTHROPIC_API_KEY" > gone; git add -A; git -c user.name=a -c user.email=a@a commit -qm "with $ANTHROPIC_API_KEY"; rm gone`},
		{"a new file", `echo "key: $ANTHROPIC_API_KEY" > config.yml`},
		{"an old file", `echo "# $ANTHROPIC_API_KEY" >> Makefile`},
		{"a file's name", `touch "x$ANTHROPIC_API_KEY"`},
	}...) {
		what, deed := row[0], row[1]
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.commit(".ralph/settings.json", `{"environment": ["ANTHROPIC_API_KEY"]}`) // else the agent gets no key
			w.inputs["agent"] = w.script("agent",
				approver(deed+`; printf 'add() { echo $(($1 + $2)); }\n' > add.sh; echo "<response>DONE</response>"`))
			result := w.must(loop.Done)(w.label("alice"))
			if all := w.git("log", "--all", "-p", "--text", "--format=%B"); strings.Contains(all, secret) {
				t.Error("the key is on the remote")
			}
			if note := result.State.Last().Commit.Note; !strings.Contains(note, "secret of ralph's") ||
				strings.Contains(note, secret) {
				t.Errorf("note = %q", note)
			}
			if w.show("ralph/issue-1", "Makefile") != makefile ||
				!strings.Contains(w.show("ralph/issue-1", "add.sh"), "$1 + $2") {
				t.Error("the rest of the work is not as it should be")
			}
		})
	}
}

// TestReviewerThatWrites edits, commits and moves refs in turn; none of its verdicts counts.
func TestReviewerThatWrites(t *testing.T) {
	t.Parallel()
	for _, row := range some(1, [][2]string{
		{"commits", `chmod -R u+w . 2>/dev/null; echo x >> add.sh; git -c user.name=r -c user.email=r@r commit -qam x`},
		{"edits", `chmod -R u+w . 2>/dev/null; echo x >> add.sh`},
		{"adds", `chmod -R u+w . 2>/dev/null; echo x > new.txt`},
		{"moves refs", `chmod -R u+w . .git 2>/dev/null; git branch -f main HEAD~1; git update-ref refs/heads/x HEAD`},
	}...) {
		what, deed := row[0], row[1]
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			done := w.shared("done")
			w.inputs["max_iterations"] = "1"
			w.inputs["agent"] = w.script("agent",
				approver(`printf 'add() { echo $(($1 + $2)); }\n' > add.sh; echo "<response>DONE</response>"`))
			w.inputs["reviewer_agent"] = w.script("reviewer", deed+" 2>/dev/null && echo did >> "+done+"\n"+approver("true"))
			result, err := w.label("alice")
			if err != nil {
				t.Fatal(err)
			}
			last := result.State.Last()
			review := last.Verdicts[len(last.Verdicts)-1]
			if w.file("done") == "" { // permissions kept it from doing anything: then its verdict counts
				if os.Geteuid() != 0 {
					t.Error("the reviewer could not do its deed, although nothing but flags held it back")
				}
				if result.Outcome != loop.Done {
					t.Errorf("outcome %s (%s)", result.Outcome, review.Reason)
				}
				return
			}
			if result.Outcome == loop.Done || !strings.Contains(review.Reason, "voids its verdict") {
				t.Errorf("outcome %s; review: %+v", result.Outcome, review)
			}
			if w.show("main", "add.sh") != "add() { echo $(($1 - $2)); }\n" {
				t.Error("the base branch moved on the remote")
			}
		})
	}
}

// TestReviewerIsAskedToReadOnly: the reviewer's own flags keep it from writing, and ask for an answer in a form.
func TestReviewerIsAskedToReadOnly(t *testing.T) {
	seldom(t)
	t.Parallel()
	w := newWorld(t)
	argv := w.shared("argv")
	w.inputs["agent"] = w.script("claude", `p=$(cat)
case "$p" in
*"# Review"*) echo "review $*" >> `+argv+`
  tree=$(printf '%s' "$p" | sed -n 's/.*to the tree \([0-9a-f]*\):/\1/p' | head -1)
  printf '{"type":"result","subtype":"success","is_error":false,"result":"","structured_output":{"verdict":"approve","tree":"%s","summary":"fine","issues":[]}}\n' $tree;;
*) echo "work $*" >> `+argv+`
  printf 'add() { echo $(($1 + $2)); }\n' > add.sh
  printf '{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"<response>DONE</response>"}]}}\n{"type":"result","subtype":"success","is_error":false,"result":"<response>DONE</response>","total_cost_usd":0.25,"usage":{"input_tokens":10,"output_tokens":5}}\n';;
esac
`)
	result := w.must(loop.Done)(w.label("alice"))
	work, review, _ := strings.Cut(w.file("argv"), "\n")
	if !strings.Contains(work, "--dangerously-skip-permissions") ||
		strings.Contains(review, "--dangerously-skip-permissions") || !strings.Contains(review, "--json-schema") {
		t.Errorf("called as\n%s\n%s", work, review)
	}
	if result.State.Usage.CostUSD != 0.25 || result.State.Usage.Input != 10 {
		t.Errorf("usage = %+v", result.State.Usage)
	}
	if body := w.bodies(w.gh.Pulls(owner, name)[0].Number)[0]; !strings.Contains(body, "$0.25") {
		t.Errorf("the comment does not tell the cost:\n%s", body)
	}
}

// TestHostileAgent leaves hooks, configuration and links behind; none of it runs as the harness, and the work is kept.
func TestHostileAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	canary := w.shared("canary")
	evil := w.script("evil", "id -u >> "+canary+"\n")
	w.inputs["agent"] = w.script("agent", approver(`
for h in pre-commit post-commit pre-push post-checkout reference-transaction; do cp `+evil+` .git/hooks/$h 2>/dev/null; done
git config core.fsmonitor `+evil+`; git config core.sshCommand `+evil+`; git config filter.x.clean `+evil+`
git config credential.helper `+evil+`; git config core.pager `+evil+`; git config diff.external `+evil+`
echo '*.sh filter=x diff=x' > .gitattributes
ln -s /etc/passwd passwd; printf 'add() { echo $(($1 + $2)); }\n' > add.sh
echo "<response>DONE</response>"`))
	result := w.must(loop.Done)(w.label("alice"))
	if got := w.file("canary"); got != "" {
		t.Errorf("the agent's programs ran for the harness, as: %s", got)
	}
	if w.git("cat-file", "-p", result.State.Tip+":passwd") != "/etc/passwd" {
		t.Error("a link was followed or lost")
	}
	if got := w.show("ralph/issue-1", "add.sh"); !strings.Contains(got, "$1 + $2") {
		t.Errorf("add.sh on the branch: %q", got)
	}
}

// TestJudgeIsTheBasesOwn: an agent that edits the settings and the checks' definition changes nothing for this run.
func TestJudgeIsTheBasesOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commit(".ralph/settings.json",
		`{"guardrails": [{"command": "make test"}], "maximumIterations": 2, "protected": []}`) // or that alone would stop it
	w.inputs["agent"] = w.script("agent",
		approver(
			`mkdir -p .ralph; echo '{"guardrails": [{"command": "true"}], "review": false}' > .ralph/settings.json; date +%N > x; echo "<response>DONE</response>"`))
	result := w.must(loop.Capped)(w.label("alice"))
	for _, it := range result.State.Iterations {
		if f := it.Failure(); f == nil || f.Check != "make test" {
			t.Errorf("iteration %d failed at %+v, want make test", it.N, f)
		}
	}
}

// TestAgentReadsTheWholeOutput: the file that a failed check's message names can be read by the agent, whoever it runs
// as.
func TestAgentReadsTheWholeOutput(t *testing.T) {
	seldom(t)
	t.Parallel()
	w := newWorld(t)
	read := w.shared("read")
	w.inputs["max_iterations"] = "2"
	w.inputs["agent"] = w.script("agent",
		approver(`cat "$(printf '%s\n' "$p" | sed -n 's/^Output file: //p')" >> `+read+
			`; date +%N > x; echo "<response>DONE</response>"`))
	w.must(loop.Capped)(w.label("alice"))
	if got := w.file("read"); !strings.Contains(got, "FAIL: add 2 3") {
		t.Errorf("the agent read %q", got)
	}
}

func TestClaimWithoutWorkIsNotDone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commit("add.sh", "add() { echo $(($1 + $2)); }\n") // nothing is wrong
	w.inputs["agent"], w.inputs["max_iterations"] = w.script("agent", approver(`echo "<response>DONE</response>"`)), "1"
	result := w.must(loop.Capped)(w.label("alice"))
	if f := result.State.Failure(); f == nil || f.Check != loop.DiffCheck {
		t.Errorf("failure = %+v, want the empty diff", f)
	}
	if pulls := w.gh.Pulls(owner, name); len(pulls) != 0 {
		t.Errorf("a pull request without a change: %+v", pulls)
	}
	if bodies := w.bodies(w.issue); len(bodies) != 2 || !strings.Contains(bodies[1], "### ❌ Stopped after ") {
		t.Errorf("without a pull request the failure report goes to the issue: %q", bodies)
	}
}

func TestOwnEventsAreNotFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.gh.AddComment(owner, name, w.issue, fake.Comment{Author: "github-actions[bot]", Body: "/ralph run"})
	w.inputs["allowed_bots"] = "github-actions[bot]"
	result, err := w.action(context.Background(), "issue_comment", w.gh.CommentPayload(owner, name, id))
	if err != nil || result.Outcome != "" ||
		!strings.Contains(w.out.String(), "is ralph itself, which does not follow its own events") {
		t.Errorf("outcome %q, %v", result.Outcome, err)
	}
	if comments := w.gh.Comments(owner, name, w.issue); len(comments) != 1 || len(comments[0].Reactions) != 0 {
		t.Errorf("the bot talks to itself: %+v", comments)
	}
}
