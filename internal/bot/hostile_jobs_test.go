package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
)

// TestHostileText: whatever text comes from wherever, it does nothing in anything that a job leaves behind. One job
// carries the rows of all the places that it reads; a trial is held against everything that came of it.
func TestHostileText(t *testing.T) {
	t.Parallel()
	for _, job := range []struct {
		name   string
		places []hostilePlace
		run    func(w *world, says func(place string) string, each func(place string) []string)
	}{
		{"done", []hostilePlace{
			{11, "the issue's title", inShort}, {12, "the issue's body", inLines}, {13, "a writer's comment", inLines},
			{14, "the agent's output", inLines},
			{15, "a check's output", inLines}, {16, "names of files", inNames}, {17, "the reviewer's summary", inWords},
			{18, "what the reviewer finds", inLines},
			{19, "a template for pull requests", inTemplate}, {20, "the file that the reviewer names", inWords},
		}, hostileDone},
		{"committed by the agent", []hostilePlace{{21, "the agent's commit", inCommits}}, hostileCommits},
		{"capped", []hostilePlace{{31, "the agent's output", inLines}, {32, "a check's output", inLines},
			{33, "a hint", inLines}}, hostileCapped},
		{"refused", []hostilePlace{{41, "an actor's name", inNames}, {42, "a label's name", inShort},
			{43, "a command that is none", inShort}}, hostileRefused},
		{"after a review", []hostilePlace{
			{51, "a review's body", inLines}, {52, "a review's thread", inLines}, {53, "the agent's answer", inLines},
			{54, "a build's name", inNames}, {55, "a build's log", inLog},
		}, hostileReviewed},
		{"planned", []hostilePlace{
			{61, "a story's title", inWords}, {62, "a story's criteria", inWords}, {63, "a plan's command", inNames},
			{64, "an answer that is no plan", inLines},
		}, hostilePlanned},
		{"dispatched", []hostilePlace{{71, "a prompt", inLines}, {72, "a payload's prompt", inLines},
			{73, "a payload's key", inNames}, {74, "the name of a prompt's file", []string{"old log", "substitute"}}},
			hostileDispatched},
		{"of another's record", []hostilePlace{{81, "a run record's output", inLines},
			{82, "a run record's verdict", inShort}, {83, "a run record's branch", inShort}, {84, "whose a lease is", inShort}},
			hostileRecord},
	} {
		t.Run(job.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			rows := map[string][]trial{}
			for _, p := range job.places {
				rows[p.name] = trialsOf(p.at, p.name, p.threats)
			}
			w.inputs["max_iterations"] = "2"
			job.run(w, func(place string) string { return together(rows[place], "\n\n") }, func(place string) (out []string) {
				for _, r := range rows[place] {
					out = append(out, r.text())
				}
				return out
			})
			surfaces := w.everything()
			for _, p := range job.places {
				for _, r := range rows[p.name] {
					t.Run(p.name+"/"+r.threat, func(t *testing.T) { r.judge(t, surfaces) })
				}
			}
			holdsJob(t, w)
		})
	}
}

// TestThreatsAreSeen: the judge of the table can say no, to each threat on a surface where it is let through.
func TestThreatsAreSeen(t *testing.T) {
	for name, threat := range threats {
		text := trial{threat: name, n: "99001"}.text()
		if strings.HasPrefix(name, "trailer") {
			text = strings.TrimPrefix(text, "w99001 ")
		}
		seen := false
		for _, s := range []*surface{
			newSurface(onMarkdown, "comment", text), newSurface(onPlain, "commit", text), newSurface(onLog, "log", text),
			newSurface(onOutputs, "outputs", text),
			newSurface(onPage, "page", text), newSurface(onFiles, "files", "/tmp/a\n/tmp/b/canary99001\n"),
		} {
			seen = seen || threat.does(s, "99001") != ""
		}
		if !seen {
			t.Errorf("%s does what it wants, and nobody sees it", name)
		}
	}
	for _, inert := range []string{"`@u99001` `Fixes #99001`", "```\n@u99001\n```\n", "@ u99001"} {
		for name, threat := range threats {
			if did := threat.does(newSurface(onMarkdown, "comment", inert), "99001"); did != "" {
				t.Errorf("%s is seen in %q: %q", name, inert, did)
			}
		}
	}
}

type hostilePlace struct {
	at      int
	name    string
	threats []string
}

var (
	inTemplate = []string{"mention", "closing", "marker", "html", "substitute", "backticks"}
	// A line that is written over with a bare return is left out of a build's log.
	inLog     = slices.DeleteFunc(slices.Clone(inLines), func(threat string) bool { return threat == "return" })
	inCommits = []string{"mention", "team", "closing", "foreign", "gh", "skip", "trailer", "substitute", "backticks"}
)

// holdsJob is what holds for a job whoever wrote what: nothing that was written to its log is obeyed but what ralph
// itself says, and its outputs are those that there are.
func holdsJob(t *testing.T, w *world) {
	t.Helper()
	for _, line := range commandsIn(w.out.String()) {
		if line != "::add-mask::"+token && line != "::add-mask::"+secret {
			t.Errorf("the runner obeys %q", line)
		}
	}
	delimiter := ""
	for line := range strings.Lines(w.file("output")) {
		name, end, begins := strings.Cut(strings.TrimSpace(line), "<<ralph-")
		switch {
		case delimiter != "":
			if strings.TrimSpace(line) == delimiter {
				delimiter = ""
			}
		case begins && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") == "":
			delimiter = "ralph-" + end
		default:
			t.Errorf("a line of the outputs is %q", line)
		}
	}
}

// verdicts writes what the reviewer answers: a request for changes, and an approval once the code says what it does.
func (w *world) verdicts(summary, problem, file string) {
	w.t.Helper()
	for name, verdict := range map[string]map[string]any{
		"changes.json": {"verdict": "request_changes", "tree": "TREE", "summary": summary, "issues": []map[string]any{
			{"file": "add.sh", "line": 1, "problem": "say what it does\n" + problem},
			{"file": file, "line": 3, "problem": "name it"},
		}},
		"approve.json": {"verdict": "approve", "tree": "TREE", "summary": summary, "issues": []map[string]any{}},
	} {
		text, err := json.Marshal(verdict)
		noError(w.t, err)
		w.write(name, string(text)+"\n")
	}
}

// hostile is an agent that fails once, with the work of first, then fixes, then does what the reviewer asked; and its
// reviewer. What it says is in a file, and what it is told it writes into another.
func (w *world) hostile(first string) string {
	told := w.shared("told")
	return w.script("agent", strings.NewReplacer("DIR", w.dir, "TOLD", told, "FIRST", first).Replace(`p=$(cat)
printf '%s\n' "$p" >> TOLD
tree=$(printf '%s' "$p" | sed -n 's/.*to the tree \([0-9a-f]*\):/\1/p' | head -1)
case "$p" in
*"# Review"*) case "$p" in *"# adds"*) v=approve;; *) v=changes;; esac; sed "s/TREE/$tree/" DIR/$v.json;;
*"say what it does"*) printf '# adds\nadd() { echo $(($1 + $2)); }\n' > add.sh; echo "commented. <response>DONE</response>";;
*"FAIL: add"*) printf 'add() { echo $(($1 + $2)); }\n' > add.sh; echo "fixed. <response>DONE</response>";;
*) FIRST; echo "# tried" >> add.sh; echo "<response>DONE</response>"; cat DIR/says.txt;;
esac
`))
}

// noisy makes the test of the world print a text before it fails.
func (w *world) noisy(text string, more ...string) {
	w.t.Helper()
	w.commit(append([]string{"noise.txt", text, "Makefile", strings.Replace(makefile, "\t@", "\t@cat noise.txt; ", 1)},
		more...)...)
}

func hostileDone(w *world, says func(string) string, each func(string) []string) {
	w.gh.EditIssue(owner, name, w.issue, strings.Join(each("the issue's title"), " "), says("the issue's body"))
	w.gh.AddComment(owner, name, w.issue,
		fake.Comment{Author: "alice", Body: says("a writer's comment"), CreatedAt: time.Now().UTC().Add(-time.Hour)})
	w.noisy(says("a check's output"), ".github/pull_request_template.md",
		"## Deployment\n\n"+says("a template for pull requests")+"\n")
	w.write("says.txt", says("the agent's output")+"\n")
	w.write("names", strings.Join(each("names of files"), "\x00"))
	w.verdicts(says("the reviewer's summary"), says("what the reviewer finds"),
		strings.Join(each("the file that the reviewer names"), " "))
	w.inputs["max_iterations"] = "4"
	w.inputs["agent"] = w.hostile("tr '/' '_' < " + w.dir + "/names | xargs -0 touch --")
	w.must(loop.Done)(w.label("alice"))
}

func hostileCommits(w *world, _ func(string) string, each func(string) []string) {
	w.verdicts("fine", "fine", "add.sh")
	commit := ""
	for i, message := range each("the agent's commit") {
		file := filepath.Join(w.dir, "message"+string(rune('a'+i)))
		w.write(filepath.Base(file), message)
		commit += "git -c user.name=a -c user.email=a@a commit -q --allow-empty -F " + file + "; cat " + file + "; "
	}
	w.write("says.txt", "")
	w.inputs["max_iterations"] = "4"
	w.inputs["agent"] = w.hostile("echo one > one.txt; git add one.txt; " + strings.TrimSuffix(commit, "; "))
	w.must(loop.Done)(w.label("alice"))
	if w.show("ralph/issue-1", "one.txt") != "one\n" {
		w.t.Error("the work of the agent's commits is lost")
	}
}

func hostileCapped(w *world, says func(string) string, _ func(string) []string) {
	w.noisy(says("a check's output"))
	w.write("says.txt", says("the agent's output")+"\n")
	told := w.shared("told")
	w.inputs["agent"] = w.script("agent",
		`tee -a `+told+` > /dev/null; date +%N >> tried.txt; cat `+w.dir+`/says.txt; echo "<response>DONE</response>"`)
	w.must(loop.Capped)(w.comment("alice", "/ralph run "+says("a hint")))
}

func hostileRefused(w *world, _ func(string) string, each func(string) []string) {
	for _, who := range each("an actor's name") {
		w.gh.AddUser(who, false)
		if result, _ := w.comment(who, "/ralph run"); result.Outcome != loop.Refused {
			w.t.Errorf("%q is %s", who, result.Outcome)
		}
	}
	for _, label := range each("a label's name") {
		w.gh.Label(owner, name, w.issue, label, "alice")
		_, _ = w.action(context.Background(), "issues", w.gh.LabeledPayload(owner, name, w.issue, label, "alice"))
	}
	for _, command := range each("a command that is none") {
		_, _ = w.comment("alice", "/ralph "+command)
	}
}

func hostileReviewed(w *world, says func(string) string, each func(string) []string) {
	w.inputs["max_iterations"] = "6"
	w.inputs["agent"] = w.script("agent", fixer)
	done := w.must(loop.Done)(w.label("alice"))
	pr := done.State.Post.Pull
	w.late = time.Minute
	review := w.gh.AddReview(owner, name, pr,
		fake.Review{Author: "alice", State: "CHANGES_REQUESTED", Body: says("a review's body"),
			Comments: []fake.ReviewComment{
				{Author: "alice", Path: "add.sh", Line: 1, Body: says("a review's thread")},
			}})
	told := w.shared("told")
	w.write("says.txt", says("the agent's answer")+"\n")
	w.inputs["agent"] = w.script("agent",
		"tee "+w.dir+"/now >> "+told+"; "+
			strings.Replace(approver(`echo more >> more.txt; echo "<response>DONE</response>"; cat `+w.dir+"/says.txt"),
				"p=$(cat)", "p=$(cat "+w.dir+"/now)", 1))
	w.shared("now")
	w.must(loop.Done)(w.action(context.Background(), "pull_request_review", w.gh.ReviewPayload(owner, name, review)))

	logged := says("a build's log")
	run, _ := w.gh.AddWorkflowRun(owner, name,
		fake.WorkflowRun{Name: "CI", Branch: "ralph/issue-1", Conclusion: "failure", Jobs: []fake.Job{
			{Name: strings.Join(each("a build's name"), " "), Conclusion: "failure", Log: &logged},
		}})
	w.inputs["ci_gate"] = "wait"
	w.inputs["agent"] = w.script("agent", "tee -a "+told+` > /dev/null; echo "<response>DONE</response>"`)
	result, err := w.action(context.Background(), "workflow_run", w.gh.WorkflowRunPayload(owner, name, run))
	if err != nil || !result.Outcome.Limited() {
		w.t.Errorf("after the build: %s (%s), %v", result.Outcome, result.Reason, err)
	}
}

func hostilePlanned(w *world, says func(string) string, each func(string) []string) {
	plan := map[string]any{}
	noError(w.t, json.Unmarshal([]byte(twoStories), &plan))
	plan["verifyCommands"] = each("a plan's command")
	story := plan["userStories"].([]any)[0].(map[string]any)
	story["title"], story["acceptanceCriteria"] = strings.Join(each("a story's title"), " "), each("a story's criteria")
	text, err := json.Marshal(plan)
	noError(w.t, err)
	w.inputs["agent"] = w.planner(w.answerPlan(string(text)))
	w.must(loop.Done)(w.comment("alice", "/ralph plan"))
	w.write("no.json", `{"questions": [], "prd": "", "tasks": {"project": `+quoted(says("an answer that is no plan"))+
		`, "userStories": 7, `+quoted(says("an answer that is no plan"))+`: 1}}`)
	told := w.shared("told")
	w.inputs["agent"] = w.script("agent", "tee -a "+told+" > /dev/null; cat "+w.dir+"/no.json")
	_, _ = w.comment("alice", "/ralph plan")
}

func quoted(s string) string {
	text, _ := json.Marshal(s)
	return string(text)
}

func hostileDispatched(w *world, says func(string) string, each func(string) []string) {
	told := w.shared("told")
	w.inputs["max_iterations"] = "1"
	w.inputs["agent"] = w.script("agent",
		`tee -a `+told+` > /dev/null; date +%N >> tried.txt; echo "<response>DONE</response>"`)
	w.must(loop.Capped)(w.dispatch(map[string]string{"prompt": says("a prompt")}))
	w.inputs["prompt"] = ""
	w.must(loop.Capped)(w.action(context.Background(), "repository_dispatch",
		w.gh.RepositoryDispatchPayload(owner, name, "alice", "ralph", map[string]any{"prompt": says("a payload's prompt")})))
	for _, key := range each("a payload's key") {
		w.tells(w.action(context.Background(), "repository_dispatch",
			w.gh.RepositoryDispatchPayload(owner, name, "alice", "ralph", map[string]any{key: "x"})))
	}
	for _, file := range each("the name of a prompt's file") {
		w.tells(w.dispatch(map[string]string{"prompt_file": file}))
	}
}

// tells writes the error of a job that nobody was told of into the log, as the program does at its end, though without
// its care: no error is a command of itself.
func (w *world) tells(_ loop.Result, err error) {
	if err != nil && !invalid.Reported(err) {
		w.out.WriteString("ralph: " + strings.TrimSpace(err.Error()) + "\n")
	}
}

// hostileRecord is a run record that somebody with write access has pushed by hand: it names branches, and says what
// was done.
func hostileRecord(w *world, says func(string) string, each func(string) []string) {
	w.inputs["max_iterations"] = "1"
	w.inputs["agent"] = w.script("agent", hopeless)
	w.must(loop.Capped)(w.label("alice"))
	for _, branch := range []string{"--upload-pack=touch canary83999/../x",
		strings.Join(each("a run record's branch"), " ")} {
		w.tampers(func(r map[string]any) {
			if start, ok := r["start"].(map[string]any); ok {
				start["branch"] = branch
			}
			verdicts, _ := r["verdicts"].([]any)
			for _, v := range verdicts {
				if v := v.(map[string]any); v["output"] != nil {
					v["reason"], v["output"] = strings.Join(each("a run record's verdict"), " "), says("a run record's output")
				}
			}
			if end, ok := r["end"].(map[string]any); ok {
				end["failure_branch"] = branch
			}
		})
		w.tells(w.comment("alice", "/ralph status"))
	}
	w.tells(w.comment("alice", "/ralph retry"))
	now := time.Now().UTC()
	lease, err := json.Marshal(map[string]any{
		"version": 1, "task": "issue-1", "run": strings.Join(each("whose a lease is"), " "),
		"owner":   strings.Join(each("whose a lease is"), " "),
		"run_url": "https://evil.example/?<img src=x onerror=alert(84999)>", "key": "k", "taken_at": now,
		"until": now.Add(10 * time.Minute),
	})
	noError(w.t, err)
	w.puts("refs/ralph/leases/issue-1", "lease.json", string(lease))
	w.tells(w.comment("alice", "/ralph run"))
}

// tampers changes each record of the world's run on the remote.
func (w *world) tampers(with func(record map[string]any)) {
	w.t.Helper()
	const ref, file = "refs/ralph/runs/issue-1", "journal.jsonl"
	var out strings.Builder
	for line := range strings.Lines(w.git("show", ref+":"+file)) {
		record := map[string]any{}
		noError(w.t, json.Unmarshal([]byte(line), &record))
		with(record)
		text, err := json.Marshal(record)
		noError(w.t, err)
		out.Write(append(text, '\n'))
	}
	w.puts(ref, file, out.String())
}

// puts makes a ref of the remote a commit of one file.
func (w *world) puts(ref, file, content string) {
	w.t.Helper()
	w.write("put", content)
	blob := strings.TrimSpace(w.git("hash-object", "-w", filepath.Join(w.dir, "put")))
	w.write("tree", fmt.Sprintf("100644 blob %s\t%s\n", blob, file))
	made := exec.Command("sh", "-c",
		`git update-ref "$1" $(git -c user.name=m -c user.email=m@m commit-tree $(git mktree < "$2") -m put)`, "sh", ref,
		filepath.Join(w.dir, "tree")) // the test's own
	made.Env = append(os.Environ(), "GIT_DIR="+w.gh.GitDir(owner, name))
	if text, err := made.CombinedOutput(); err != nil || content == "" {
		w.t.Fatalf("%v: %s", err, text)
	}
}

// TestAgentsLinks: what the agent makes of names that ralph writes to, and of the tree itself, leads nothing out of it.
func TestAgentsLinks(t *testing.T) {
	t.Parallel()
	for _, row := range some(2, [][2]string{
		{"what ralph writes to is a link", `ln -s OUT/file .ralph_state.md; rm add.sh; ln -s OUT/file add.sh; mkdir -p .ralph; ln -s OUT .ralph/runs; ln -s OUT deep`},
		{"a tree with a .git", `b=$(echo x | git hash-object -w --stdin); t=$(printf '100755 blob %s\tpost-checkout\n' $b | git mktree); t=$(printf '040000 tree %s\thooks\n' $t | git mktree); t=$(printf '040000 tree %s\t.git\n' $t | git mktree); git update-ref HEAD $(git -c user.name=a -c user.email=a@a commit-tree $t -p HEAD -m x)`},
		{"the directory is a link", `rm -rf .ralph; ln -s OUT .ralph`},
		{"a tree with two dots", `b=$(echo x | git hash-object -w --stdin); t=$(printf '100644 blob %s\t..\n' $b | git mktree); git update-ref HEAD $(git -c user.name=a -c user.email=a@a commit-tree $t -p HEAD -m x)`},
		{"the directory of git is a link", `mv .git OUT/git 2>/dev/null; ln -s OUT/git .git`},
	}...) {
		what, deed := row[0], row[1]
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			out := filepath.Join(w.dir, "outside")
			if err := errors.Join(os.Mkdir(out, 0o700),
				os.WriteFile(filepath.Join(out, "file"), []byte("before"), 0o600)); err != nil {
				t.Fatal(err)
			}
			w.inputs["max_iterations"] = "1"
			w.inputs["agent"] = w.script("agent",
				strings.ReplaceAll(deed, "OUT", out)+"\n"+`echo x > work.txt; echo "<response>DONE</response>"`)
			result, err := w.label("alice")
			if err != nil || result.Outcome == loop.Done {
				t.Errorf("%s (%s), %v", result.Outcome, result.Reason, err)
			}
			there, _ := os.ReadDir(out)
			if len(there) != 1 || w.file("outside/file") != "before" {
				t.Errorf("outside there are %v; the file is %q", there, w.file("outside/file"))
			}
			if got := w.show("ralph/issue-1", "work.txt"); got != "x\n" {
				t.Errorf("the work is %q", got)
			}
		})
	}
}
