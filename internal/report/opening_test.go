package report

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// firstCharacters is how much of a report people read before they decide what to do.
const firstCharacters = 400

// ending is a run in one state. Some are only GitHub's.
type ending struct {
	name  string
	view  View
	local bool // a laptop has such runs, too
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
		}), false},
		{"done, but the base has moved", clashes, false},
		{"done, on a closed pull request", closed, false},
		{"failed, the push was refused", ended(loop.Failed, "pushing ralph/issue-42: https://github.com/alice/demo.git "+
			"refused the push: GH006: Protected branch update failed for refs/heads/ralph/issue-42. Changes must be made "+
			"through a pull request", nil), false},
		{"done", reviewed(), true},
		{"done, a plan at its cap", planDone(), true},
		{"done, nothing to change", end(sample.Begin(nil), loop.Done, "all checks passed", ""), false},
		{"capped", annotatedCap(), true},
		{"capped, long names", end(wordy, loop.Capped, "5 of 5 iterations are used up", "wip/x"), true},
		{"capped, a plan", planCapped(), true},
		{"capped, by the reviewer", ended(loop.Capped, "2 of 2 iterations are used up",
			func(s *sample.Script) { s.Iterate(2, loop.Implement, "x", sample.AsksChange) }), true},
		{"stuck", stuckRun(), true},
		{"out of time", timedOut(), true},
		{"out of budget", spentAll(), true},
		{"failed", failed(), true},
		{"invalid", mistaken(), true},
		{"waiting for an answer", asks(), true},
		{"waiting for a limit", waiting(), true},
		{"waiting for other workflows", heeds(), false},
		{"waiting for the reviewer", ended(loop.Waiting, "the reviewer's turn did not end well: limit", waits), true},
		{"waiting for the model", ended(loop.Waiting, "the model has answered nothing in 2 turns", silent), true},
		{"cancelled by a comment", ended(loop.Interrupted, "asked to stop by alice", nil), false},
		{"cancelled by a signal", interrupted(), true},
		{"interrupted at once", end(sample.Begin(nil), loop.Interrupted, "the run was canceled", ""), true},
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
		"check run": CheckRunOf(v).Title + "\n\n" + CheckRunOf(v).Summary}
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

// TestFirst400Characters: whoever reads no further than that knows what a run came to, why, and what to do next. In words
// that is the notice, and on a laptop the end of the console's text: endings.txt has them.
func TestFirst400Characters(t *testing.T) {
	told := map[loop.Outcome]bool{}
	var all strings.Builder
	for _, e := range endings() {
		told[e.view.State.End.Outcome] = true
		fmt.Fprintf(&all, "== %s\n%s\n", e.name, Notice(e.view))
		firstOfAll(t, e.name, e.view, surfaces(e.view))
		if !e.local {
			continue
		}
		laptop := onLaptop(e.view)
		console := strings.Join(EndText(laptop), "\n")
		if !strings.Contains(safetext.FirstRunes(console, firstCharacters), "What now: ") {
			t.Errorf("%s: the first %d characters of the console do not say what to do:\n%s", e.name, firstCharacters, console)
		}
		fmt.Fprintf(&all, "-- on a laptop\n%s\n", console)
		reports := map[string]string{"report on a laptop": Summary(laptop)}
		if e.view.State.End.Outcome.Limited() {
			reports["failure report on a laptop"] = Failure(laptop)
		}
		firstOfAll(t, e.name, laptop, reports)
	}
	for _, o := range []loop.Outcome{loop.Done, loop.Capped, loop.Stuck, loop.Timeout, loop.Budget, loop.Invalid,
		loop.Waiting, loop.Interrupted, loop.Failed} {
		if !told[o] {
			t.Errorf("no row is %s", o)
		}
	}
	sample.Golden(t, "endings.txt", all.String())
}

// firstOfAll holds texts of a run to have the outcome, the cause and what to do next in what is read first.
func firstOfAll(t *testing.T, name string, v View, texts map[string]string) {
	t.Helper()
	outcome, cause := PlainOutcome(v)
	_, next, _ := strings.Cut(Notice(v), ". What now: ")
	_, there, _ := strings.Cut(Notice(v.onPull()), ". What now: ") // where the pull request is "this"
	for where, text := range texts {
		first := safetext.FirstRunes(visible(t, text), firstCharacters)
		ends := strings.Contains(first, safetext.FirstRunes(next, 20)) || strings.Contains(first, safetext.FirstRunes(there, 20))
		if !strings.Contains(first, outcome) || !strings.Contains(first, safetext.FirstRunes(cause, 20)) || !ends {
			t.Errorf("%s: the first %d characters of the %s do not say %q, %q and %q:\n%s", name, firstCharacters, where, outcome,
				cause, next, first)
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
		{[]string{"run", "--answer", "in French", "--issue", "a.md", "--answer=yes"}, "ralph run --issue a.md --resume"},
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
