package report

import (
	"bytes"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/loop"
)

// firstCharacters is how much of a report people read before they decide what to do.
const firstCharacters = 400

// ending is a run in one state, with what everybody must learn of it from the first 400 characters of whatever they
// read.
type ending struct {
	name                 string
	view                 View
	outcome, cause, next string // on GitHub
	// how a console names the outcome, and what it says to do next; "": only GitHub has such a run
	console, local string
}

func endings() []ending {
	ended := func(o loop.Outcome, reason string, edit func(*sample.Script)) View {
		s := sample.Begin(nil)
		s.Iterate(1, loop.Implement, "I added Greet.", sample.Pass("claim"), sample.TestFailure)
		if edit != nil {
			edit(s)
		}
		return end(s, o, reason, "")
	}
	wordy := sample.Begin(func(start *loop.Start) {
		start.Checks = []string{strings.Repeat("make check-everything ", 20)}
	})
	for n := range 5 {
		long := sample.Fail(strings.Repeat("make check-everything ", 20), "it exited with code 2", "x")
		long.Findings = []loop.Finding{{File: strings.Repeat("very/deep/", 20) + "file.go", Line: 7,
			Message: strings.Repeat("this is not what was wanted ", 30)}}
		wordy.Iterate(n+1, loop.Implement, "x", long)
	}
	silent := func(s *sample.Script) {
		s.Turning(2, loop.Implement)
		s.Turned(2, loop.Turn{Class: loop.Idle, Silent: true})
	}
	waits := func(s *sample.Script) {
		s.Iterate(2, loop.Implement, "x",
			loop.Verdict{Check: loop.ReviewCheck, Severity: loop.Hard, Waits: true,
				Reason: "the reviewer's turn did not end well: limit"})
	}
	const resume = "ralph run --issue issue.md --resume resumes from here"
	noPull := func(change func(*loop.End)) View {
		v := reviewed()
		end := *v.State.End
		change(&end)
		v.State.End, v.State.Post = &end, loop.Post{}
		return v
	}
	clashes := reviewed()
	clashed := *clashes.State.End
	clashed.Conflicts = []string{"hello.go", "hello_test.go"}
	clashes.State.End = &clashed
	closed := reviewed()
	closed.State.Post.Closed = new(bool)
	*closed.State.Post.Closed = true
	return []ending{
		{"done, and no pull request is allowed", noPull(func(e *loop.End) {
			e.Outcome, e.ForPull, e.Reason = loop.Waiting, true, "GitHub does not let workflows open pull requests here: "+
				"switch on “Allow GitHub Actions to create and approve pull requests” under Settings → Actions → General → "+
				"Workflow permissions, or open the pull request of ralph/issue-42 by hand"
		}), "Waiting for its pull request", "the work is pushed",
			"switch on “Allow GitHub Actions to create and approve pull requests” under Settings", "", ""},
		{"done, but the base has moved", clashes, "Done after 2 iterations", "but it conflicts with main",
			"main has moved, and merging it conflicts in hello.go, hello_test.go", "", ""},
		{"done, on a closed pull request", closed, "Done after 2 iterations", "the reviewer approves", "is closed: reopen it",
			"", ""},
		{"failed, the push was refused", ended(loop.Failed, "pushing ralph/issue-42: https://github.com/alice/demo.git "+
			"refused the push: GH006: Protected branch update failed for refs/heads/ralph/issue-42. Changes must be made "+
			"through a pull request", nil),
			"Failed in ralph's own part", "GH006: Protected branch update failed for refs/heads/ralph/issue-42",
			"/ralph retry resumes from here", "", ""},
		{"done", reviewed(), "Done after 2 iterations", "go vet ./... and go test ./... pass, the reviewer approves",
			"and merge it", "SUCCESS: issue-42 completed in 2 iterations", "read the change and merge ralph/issue-42"},
		{"done, a plan at its cap", planDone(), "Done after 11 iterations",
			"3 of 3 stories approved, 1 of them only at the cap", "and merge it", "SUCCESS", "read the change and merge"},
		{"done, nothing to change", end(sample.Begin(nil), loop.Done, "all checks passed", ""), "Done after 0 iterations",
			"nothing was left to change", "/ralph retry <what is missing>", "", ""},
		{"capped", annotatedCap(), "Stopped after 5 of 5 iterations", "go test ./... still fails — hello_test.go:12: Greet",
			"/ralph retry <hint>", "CAP HIT: issue-42 failed after 5 attempts", resume},
		{"capped, long names", end(wordy, loop.Capped, "5 of 5 iterations are used up", "wip/x"),
			"Stopped after 5 of 5 iterations", "still fails — very/deep", "/ralph retry <hint>", "CAP HIT", ""},
		{"capped, a plan", planCapped(), "Stopped after 9 of 9 iterations",
			"US-003 is not done — bye_test.go: nothing tests the empty name", "/ralph retry <hint>", "CAP HIT",
			"--resume resumes from here"},
		{"capped, by the reviewer", ended(loop.Capped, "2 of 2 iterations are used up",
			func(s *sample.Script) { s.Iterate(2, loop.Implement, "x", sample.AsksChange) }), "Stopped after 2 of 5 iterations",
			"the reviewer asks for changes — Missing: the empty name", "/ralph retry <hint>", "CAP HIT", resume},
		{"stuck", stuckRun(), "Stuck after 5 of 5 iterations", "go test ./... still fails — hello_test.go:12: Greet",
			"/ralph retry <hint>", "STUCK: issue-42 failed after 5 attempts", resume},
		{"out of time", timedOut(), "Stopped by the time limit after 1 of 5 iterations", "the agent did not claim completion",
			"/ralph retry <hint>", "TIMEOUT", resume},
		{"out of budget", spentAll(), "Stopped by the budget after 2 of 5 iterations", "go test ./... still fails",
			"raise max_cost_usd", "BUDGET", resume},
		{"failed", failed(), "Failed in ralph's own part", "pushing ralph/issue-42: the branch moved",
			"/ralph retry resumes from here", "failed: pushing", resume},
		{"invalid", mistaken(), "Cannot run", "the key in ANTHROPIC_API_KEY is refused", "fix what is named above",
			"invalid: the key", "fix what is named above"},
		{"waiting for an answer", asks(), "Waiting for your answer",
			"Should the empty name be greeted as **Hello!** or be an error?", "/ralph continue <answer>",
			"waiting: the agent waits for a human", "ralph run --issue issue.md --resume --answer TEXT answers, and resumes from here"},
		{"waiting for a limit", waiting(), "Waiting until 2026-11-21 07:00 UTC", "claude's usage limit is reached",
			"/ralph continue tries at once", "waiting until 2026-11-21 07:00 UTC: claude's usage limit", resume},
		{"waiting for other workflows", heeds(), "Waiting for other workflows", "CI has not finished within 20 minutes",
			"/ralph continue looks at once", "", ""},
		{"waiting for the reviewer", ended(loop.Waiting, "the reviewer's turn did not end well: limit", waits),
			"Waiting for the reviewer", "the reviewer's turn did not end well", "/ralph continue tries again",
			"waiting: the reviewer", resume},
		{"waiting for the model", ended(loop.Waiting, "the model has answered nothing in 2 turns", silent),
			"Waiting for the model", "the model has answered nothing in 2 turns", "/ralph continue tries again",
			"waiting: the model", resume},
		{"cancelled by a comment", ended(loop.Interrupted, "asked to stop by alice", nil), "Interrupted after 1 iteration",
			"asked to stop by alice", "/ralph continue resumes from here", "", ""},
		{"cancelled by a signal", interrupted(), "Interrupted after 1 iteration", "the run was cancelled",
			"/ralph continue resumes from here", "interrupted: the run was cancelled", resume},
		{"interrupted at once", end(sample.Begin(nil), loop.Interrupted, "the run was cancelled", ""),
			"Interrupted before the first iteration", "the run was cancelled", "/ralph continue resumes from here",
			"interrupted: ", resume},
	}
}

// annotatedCap is a capped run whose failure names its places.
func annotatedCap() View {
	v := stuckRun()
	end := *v.State.End
	end.Outcome, end.Reason = loop.Capped, "5 of 5 iterations are used up"
	v.State.End = &end
	return v
}

// surfaces are the texts that people read of a run that has ended, by their names.
func surfaces(v View) map[string]string {
	all := map[string]string{"comment": Comment(v), "summary": Summary(v), "status": Status(v),
		"check run": CheckRunOf(v).Title + "\n\n" + CheckRunOf(v).Summary, "notice": Notice(v)}
	if v.State.End.Outcome.Limited() {
		all["failure report"] = Failure(v)
	}
	if !v.State.NoDiff() {
		all["pull request"] = PullBody(v)
	}
	return all
}

// onLaptop is the same run as one of a clone.
func onLaptop(v View) View {
	v.Repo, v.ServerURL, v.Again, v.State.Post = "", "", Resuming([]string{"run", "--issue", "issue.md", "--fresh"}),
		loop.Post{}
	return v
}

// TestFirst400Characters: whoever reads no further than that knows what a run came to, why, and what to do next.
func TestFirst400Characters(t *testing.T) {
	told := map[loop.Outcome]bool{}
	for _, e := range endings() {
		told[e.view.State.End.Outcome] = true
		see := func(where, text string, wants ...string) {
			t.Helper()
			first := []rune(text)
			first = first[:min(len(first), firstCharacters)]
			for _, want := range wants {
				if !strings.Contains(string(first), want) {
					t.Errorf("%s: the first %d characters of the %s do not say %q:\n%s", e.name, firstCharacters, where, want,
						string(first))
				}
			}
		}
		shown := surfaces(e.view)
		for _, where := range []string{"comment", "pull request", "failure report", "summary", "status", "check run",
			"notice"} {
			text := shown[where]
			if text == "" {
				continue
			}
			if where != "notice" {
				text = visible(t, text)
			}
			cause := e.cause
			if where == "check run" && e.name == "capped, long names" { // a title has 200 characters
				cause = "make check-everything"
			}
			see(where, text, e.outcome, cause, e.next)
		}
		if e.console == "" {
			continue
		}
		laptop := onLaptop(e.view)
		see("console", strings.Join(EndText(laptop), "\n"), e.console, e.local)
		see("report on a laptop", visible(t, Summary(laptop)), e.outcome, e.cause, e.local)
		if e.view.State.End.Outcome.Limited() {
			see("failure report on a laptop", visible(t, Failure(laptop)), e.outcome, e.cause, e.local)
		}
	}
	for _, o := range []loop.Outcome{loop.Done, loop.Capped, loop.Stuck, loop.Timeout, loop.Budget, loop.Invalid,
		loop.Waiting, loop.Interrupted, loop.Failed} {
		if !told[o] {
			t.Errorf("no row is %s", o)
		}
	}
}

// TestBaseline: what failed before the run and passes now is not told as if it still failed.
func TestBaseline(t *testing.T) {
	s := sample.Begin(nil)
	s.Add(loop.Record{Type: loop.Baselined,
		Baseline: []loop.Verdict{{Check: "go test ./...", Severity: loop.Hard},
			{Check: "go vet ./...", Severity: loop.Hard}}})
	if got := (View{}).baseline(view(s).State); got != "**Already failing before this run:** `go test ./...`, `go vet ./...`" {
		t.Error(got)
	}
	s.Iterate(1, loop.Implement, "x", sample.Pass("go test ./..."), sample.Fail("go vet ./...", "no", "x"))
	if got := (View{}).baseline(view(s).State); got != "**Already failing before this run:** `go vet ./...`\n\n**Failed before this "+
		"run, and passes now:** `go test ./...`" {
		t.Error(got)
	}
}

// TestErrorsAreToldOnce: in what is not folded, and in the list of attempts, an error stands once.
func TestErrorsAreToldOnce(t *testing.T) {
	for _, v := range []View{annotatedCap(), stuckRun(), onLaptop(stuckRun())} {
		outputs := regexp.MustCompile("(?s)```text\n.*?```").ReplaceAllString(Failure(v), "")
		if n := strings.Count(outputs, `want "Hello!"`); n != 1 {
			t.Errorf("the error is told %d times:\n%s", n, outputs)
		}
		for _, heading := range []string{"Execution Summary", "## Completed", "## Failed Tasks", "### Task"} {
			if strings.Contains(Failure(v), heading) {
				t.Errorf("the report has the heading of a list of tasks, %q", heading)
			}
		}
	}
}

// TestPullBodyIsAScreen: what is not folded is little, names neither itself nor ralph's own checks, and is not the
// sticky comment again.
func TestPullBodyIsAScreen(t *testing.T) {
	stopped := annotatedCap()
	stopped.State.Post.Pull = 57
	for name, v := range map[string]View{"done": done(), "reviewed": reviewed(), "capped": stopped, "plan": planDone(),
		"huge": huge(30), "long": long(15)} {
		v.Template = ""
		body, comment := PullBody(v), Comment(v)
		text := visible(t, body)
		if lines, n := strings.Count(text, "\n"),
			len([]rune(text)); lines > 45 || name != "huge" && name != "long" && n > 1400 {
			t.Errorf("%s: %d lines of %d characters are not folded:\n%s", name, lines, n, text)
		}
		for _, not := range []string{"#57", "`claim`", "protected paths", "| # |"} {
			if strings.Contains(body, not) {
				t.Errorf("%s: the description has %q", name, not)
			}
		}
		shared := 0
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			told := strings.Contains(line, "US-0") || strings.Contains(line, "AUTO-APPROVED") // which every text says loudly
			if len(line) > 40 && !told && strings.Contains(visible(t, comment), line) {
				shared++
			}
		}
		if shared > 2 && name != "huge" { // what the run came to, and what to do next
			t.Errorf("%s: %d lines stand in the comment, too:\n%s", name, shared, text)
		}
	}
}

// TestResuming: the command that goes on with a run is the one that was typed, quoted for a shell.
func TestResuming(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, ""},
		{[]string{"run", "--issue", "issue.md"}, "ralph run --issue issue.md --resume"},
		{[]string{"-p", "it's done; really", "--fresh"}, `ralph -p 'it'\''s done; really' --resume`},
		{[]string{"plan", "run", "--resume", "-n", "3"}, "ralph plan run -n 3 --resume"},
		{[]string{"run", strings.Repeat("x", 201)}, ""},
		{[]string{"run", "two\nlines"}, ""},
	} {
		if got := Resuming(tt.args); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.args, got, tt.want)
		}
	}
	v := onLaptop(capped())
	for again, want := range map[string]string{"": "the same command with `--resume`",
		"ralph run --issue a.md --resume": "`ralph run --issue a.md --resume`"} {
		if v.Again = again; !strings.Contains(v.whatNow(), want) {
			t.Errorf("after %q: %s", again, v.whatNow())
		}
	}
}

var (
	closed   = regexp.MustCompile(`(?s)<details>\s*(<summary>.*?</summary>).*?</details>`)
	comments = regexp.MustCompile(`(?s)<!--.*?-->`)
	tag      = regexp.MustCompile(`<[^>]*>`)
	blanks   = regexp.MustCompile(`\n\s*\n+`)
)

// visible is what a browser shows of a Markdown text: no markup, and of what is folded its heading.
func visible(t *testing.T, md string) string {
	t.Helper()
	var b bytes.Buffer
	if err := sample.AsGitHub().Convert([]byte(md), &b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, cut := range []struct {
		of *regexp.Regexp
		by string
	}{{comments, ""}, {closed, "$1"}, {tag, ""}} {
		text = cut.of.ReplaceAllString(text, cut.by)
	}
	return strings.TrimSpace(blanks.ReplaceAllString(html.UnescapeString(text), "\n"))
}
