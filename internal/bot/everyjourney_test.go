//go:build unix

package bot

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// journey is something that a maintainer asks of the bot, up to its end. The tests of faults and of kills disturb it in
// every way.
type journey struct {
	name string
	want loop.Outcome
	// ask makes what comes before, and is the event of the job that is disturbed.
	ask func(w *world) (event string, payload []byte)
}

// quick is the cheapest agent that there is: it adds a line, and as a reviewer it asks once for another one.
const quick = `p=$(cat)
case "$p" in
*"# Review"*)
  tree=${p##*to the tree }; tree=${tree%%:*}
  case "$p" in *"+# asked"*) v=approve i='[]';; *) v=request_changes i='[{"file":"add.sh","line":1,"problem":"say it twice"}]';; esac
  echo "{\"verdict\":\"$v\",\"tree\":\"$tree\",\"summary\":\"looked\",\"issues\":$i}";;
*"say it twice"*) echo "# asked" >> add.sh; echo "<response>DONE</response>";;
*) echo "# done" >> add.sh; echo "<response>DONE</response>";;
esac
`

// journeys are all that ends with more than an answer.
var journeys = []journey{
	{"a label", loop.Done, func(w *world) (string, []byte) {
		w.inputs["review"] = "true"
		return w.labeled()
	}},
	{"a label that fails", loop.Capped, func(w *world) (string, []byte) {
		w.inputs["checks"] = "test -e good"
		return w.labeled()
	}},
	{"a retry", loop.Done, func(w *world) (string, []byte) {
		w.inputs["checks"], w.inputs["max_iterations"] = "test -e good", "1"
		w.must(loop.Capped)(w.hasten(w.labeled()))
		w.inputs["checks"] = "true"
		return w.commented(w.issue, "/ralph retry")
	}},
	{"a fix of two threads", loop.Done, func(w *world) (string, []byte) {
		w.must(loop.Done)(w.hasten(w.labeled()))
		pr := w.gh.Pulls(owner, name)[0].Number
		for line := range 2 {
			w.gh.AddReviewComment(owner, name, pr,
				fake.ReviewComment{Author: "alice", Path: "add.sh", Line: line + 1, Body: "say it twice"})
		}
		return w.commented(pr, "/ralph fix")
	}},
	{"a second run, which keeps the work of the first", loop.Done, func(w *world) (string, []byte) {
		w.must(loop.Done)(w.hasten(w.labeled()))
		return w.labeled()
	}},
	{"a stop of what was left", loop.Interrupted, func(w *world) (string, []byte) {
		w.left()
		return w.commented(w.issue, "/ralph stop")
	}},
	{"a sweep that goes on", loop.Done, func(w *world) (string, []byte) {
		w.left()
		return "schedule", w.gh.SchedulePayload(owner, name)
	}},
	{"a plan", loop.Done, func(w *world) (string, []byte) {
		w.inputs["agent"] = w.planner(w.answerPlan(twoStories))
		return w.commented(w.issue, "/ralph plan")
	}},
}

// left is a run that was killed after its first commit, two hours ago.
func (w *world) left() {
	w.t.Helper()
	event, payload := w.labeled()
	w.killed("judged 1", event, payload)
	w.env["GITHUB_RUN_ID"], w.late = "76", 2*time.Hour
}

func (w *world) labeled() (event string, payload []byte) {
	w.gh.Label(owner, name, w.issue, "ralph", "alice")
	return "issues", w.gh.LabeledPayload(owner, name, w.issue, "ralph", "alice")
}

func (w *world) commented(number int, body string) (event string, payload []byte) {
	w.env["GITHUB_RUN_ID"] = "79"
	id := w.gh.AddComment(owner, name, number, fake.Comment{Author: "alice", Body: body})
	return "issue_comment", w.gh.CommentPayload(owner, name, id)
}

// newJourney is a world for very many runs: one iteration, no review, a check that costs nothing. Only if the test looks
// at the calls of git, git reaches its remote over HTTP.
func newJourney(t *testing.T, git bool) *world {
	w := newWorld(t)
	if git {
		w.overHTTP()
	}
	w.inputs["agent"] = w.script("agent", quick)
	w.inputs["checks"], w.inputs["review"], w.inputs["max_iterations"] = "true", "false", "2"
	return w
}

// hasten runs a job whose client does not really wait.
func (w *world) hasten(event string, payload []byte) (loop.Result, error) {
	w.t.Helper()
	a := w.ready(event, payload)
	a.tune = func(o *github.Options) {
		o.Sleep, o.Timeout = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }, tryTime
	}
	return a.Run(context.Background())
}

const tryTime = time.Second

var (
	aRun  = regexp.MustCompile(`\d{8}-\d{6}-[0-9a-f]{7}`)
	aTime = regexp.MustCompile(`\d{8}-\d{6}`)
	aHash = regexp.MustCompile(`\b([0-9a-f]{40}|[0-9a-f]{7,8})\b`)
	aSize = regexp.MustCompile(`after \d+ iterations?`)
)

// dump is everything that there is on the stand-in, without what is another one each time: what two runs of one journey
// have in common.
func (w *world) dump() string {
	w.t.Helper()
	var b strings.Builder
	for _, is := range w.gh.Issues(owner, name) {
		slices.Sort(is.Labels)
		fmt.Fprintf(&b, "#%d closed %v, labels %v\n", is.Number, is.Closed, is.Labels)
		for _, c := range w.gh.Comments(owner, name, is.Number) {
			fmt.Fprintf(&b, "  %s: %s\n", c.Author, told(c.Body))
		}
	}
	for _, p := range w.gh.Pulls(owner, name) {
		fmt.Fprintf(&b, "%s → %s: draft %v, %s\n", p.Head, p.Base, p.Draft, p.Title)
		fmt.Fprintf(&b, "  asked for a review %v\n", p.Requests)
		for _, c := range w.gh.ReviewComments(owner, name, p.Number) {
			fmt.Fprintf(&b, "  %s on %s:%d: %s\n", c.Author, c.Path, c.Line, told(c.Body))
		}
	}
	for line := range strings.Lines(w.git("for-each-ref", "--format=%(refname) %(objectname)")) {
		ref, sha, _ := strings.Cut(strings.TrimSpace(line), " ")
		b.WriteString(aHash.ReplaceAllString(aTime.ReplaceAllString(aRun.ReplaceAllString(ref, "RUN"), "TIME"), "HASH"))
		switch {
		case strings.HasPrefix(ref, "refs/ralph/"):
			fmt.Fprintln(&b)
			continue
		case strings.HasPrefix(ref, "refs/heads/wip/"):
			fmt.Fprintf(&b, " %s\n", safetext.OneLine(w.git("ls-tree", "-r", "--name-only", sha)))
		default:
			fmt.Fprintf(&b, " %s\n", strings.TrimSpace(w.git("rev-parse", sha+"^{tree}")))
		}
		for _, c := range w.gh.CheckRuns(owner, name, sha) {
			fmt.Fprintf(&b, "  check run %s: %s\n", c.Name, c.Conclusion)
		}
	}
	return strings.NewReplacer(w.env["GITHUB_SERVER_URL"], "", w.gh.URL(), "").Replace(b.String())
}

// told is what a comment says first: its marker, and how things stand.
func told(body string) string {
	marker, rest, ok := strings.Cut(body, "\n")
	if !ok || !strings.HasPrefix(marker, "<!--") {
		return body
	}
	line, _, _ := strings.Cut(strings.TrimSpace(rest), "\n")
	text := marker + " " + line
	for _, was := range []struct {
		shape *regexp.Regexp
		word  string
	}{{aRun, "RUN"}, {aHash, "HASH"}, {aSize, "after it"}} {
		text = was.shape.ReplaceAllString(text, was.word)
	}
	return text
}

// clean is the sweep of another machine two hours later, when nothing goes wrong any more.
func (w *world) clean() {
	w.t.Helper()
	w.gh.ClearFaults()
	w.env["GITHUB_RUN_ID"], w.env["GITHUB_RUN_ATTEMPT"] = "78", "1"
	w.late += 2 * time.Hour
	if _, err := w.hasten("schedule", w.gh.SchedulePayload(owner, name)); err != nil {
		w.t.Errorf("the sweep afterwards: %v", err)
	}
}

// again is GitHub's "re-run job", when nothing goes wrong any more.
func (w *world) again(event string, payload []byte) (loop.Result, error) {
	w.t.Helper()
	w.gh.ClearFaults()
	w.env["GITHUB_RUN_ATTEMPT"] = "2"
	return w.hasten(event, payload)
}

// differs are the lines of a dump that should not be there, and those that are missing; empty when there are none.
func differs(got, want string) string {
	more := map[string]int{}
	for line := range strings.Lines(got) {
		more[line]++
	}
	for line := range strings.Lines(want) {
		more[line]--
	}
	var out strings.Builder
	for _, line := range slices.Sorted(maps.Keys(more)) {
		if n := more[line]; n != 0 {
			fmt.Fprintf(&out, "%+d times: %s", n, line)
		}
	}
	return out.String()
}
