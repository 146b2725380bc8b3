//go:build unix

package bot

import (
	"fmt"
	"maps"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/loop"
)

// every reports whether all rows of all tables are played: each call meets each fault by itself, and a kill comes on
// both sides of each write. Otherwise one row of each kind is.
func every() bool { return os.Getenv("RALPH_TEST_EVERY_FAULT") != "" }

// one is a call of a journey: the nth of its route. A route has a star for each part that is a number or a hash.
type one struct {
	route string
	nth   int
}

func (c one) String() string { return fmt.Sprintf("%s, number %d", c.route, c.nth) }

var changing = regexp.MustCompile(`/(\d+|[0-9a-f]{40})(/|$)`)

// routeOf is a call without what is another one each time.
func routeOf(c fake.Call) string {
	path, _ := url.PathUnescape(c.Path)
	for range 2 { // neighbours share their slash
		path = changing.ReplaceAllString(path, "/*$2")
	}
	return c.Method + " " + path
}

// healthy are the calls that a journey makes when nothing goes wrong, and what there is afterwards.
func healthy(t *testing.T, j journey, git bool) (calls []one, after string) {
	t.Helper()
	w := newJourney(t, git)
	event, payload := j.ask(w)
	w.gh.ResetCalls()
	w.must(j.want)(w.hasten(event, payload))
	list := w.gh.Calls()
	if git {
		list = w.gh.GitCalls()
	}
	seen := map[string]int{}
	for _, c := range list {
		seen[routeOf(c)]++
		calls = append(calls, one{routeOf(c), seen[routeOf(c)]})
	}
	w.clean()
	return calls, w.dump()
}

// trouble is something that goes wrong with a call.
type trouble struct {
	name  string
	fault fake.Fault
}

// passing is over when the call is tried again: nobody notices.
var passing = []trouble{
	{"429 with a time", fake.Fault{Status: 429, RetryAfter: 1}},
	{"a secondary limit", fake.Fault{SecondaryLimit: true}},
	{"500", fake.Fault{Status: 500}},
	{"502", fake.Fault{Status: 502}},
	{"dropped", fake.Fault{Drop: true}},
	{"dropped after it was carried out", fake.Fault{DropAfter: true}},
	{"slow", fake.Fault{Delay: time.Minute}},
}

// lasting is there as long as the call is tried. The run itself tells a call that came to nothing from one about
// something that is gone; internal/github's table shows for each thing it does that the others end as the first does,
// in a sentence of their own.
var lasting = []trouble{
	{"403", fake.Fault{Status: 403}},
	{"404", fake.Fault{Status: 404}},
	{"401", fake.Fault{Status: 401}},
	{"409", fake.Fault{Status: 409}},
	{"422", fake.Fault{Status: 422}},
	{"429 for good", fake.Fault{Status: 429, RetryAfter: 1, Times: 4}},
	{"500 for good", fake.Fault{Status: 500, Times: 4}},
	{"502 for good", fake.Fault{Status: 502, Times: 4}},
	{"dropped for good", fake.Fault{Drop: true, Times: 4}},
	{"dropped after it was carried out, for good", fake.Fault{DropAfter: true, Times: 4}},
}

// ofGit are the troubles of git's calls, which git.Tree tries three times. git itself says the same of every call that
// comes to nothing.
var ofGit = []trouble{
	{"403", fake.Fault{Status: 403}},
	{"dropped after it was carried out", fake.Fault{DropAfter: true}},
	{"401", fake.Fault{Status: 401}},
	{"404", fake.Fault{Status: 404}},
	{"500", fake.Fault{Status: 500}},
	{"502", fake.Fault{Status: 502}},
	{"dropped", fake.Fault{Drop: true}},
	{"500 for good", fake.Fault{Status: 500, Times: 3}},
	{"dropped for good", fake.Fault{Drop: true, Times: 3}},
	{"dropped after it was carried out, for good", fake.Fault{DropAfter: true, Times: 3}},
}

// apart reports whether a trouble is met in a usual test run: one of each kind that the run tells apart.
func (m trouble) apart(c one) bool {
	switch m.name {
	case "403":
		return !strings.HasSuffix(c.route, ".git/info/refs") && !strings.HasSuffix(c.route, "/git-upload-pack")
	case "404":
		return strings.HasPrefix(c.route, "PATCH ") || strings.HasPrefix(c.route, "DELETE ")
	}
	return m.name == "dropped after it was carried out" && strings.HasSuffix(c.route, "/git-receive-pack")
}

// at is the fault at a call.
func (m trouble) at(c one) fake.Fault {
	f := m.fault
	f.Match, f.Nth = c.route, c.nth
	return f
}

// believed says which lines may be otherwise afterwards, by parts of them. GitHub is believed that a label is not there,
// that the token may not write check runs, that somebody cannot be asked for a review, whom a comment tells instead, and
// that a read is not allowed: then the requester is told, and asks again.
func believed(c one, m trouble) (parts []string) {
	denied := m.name == "401" || m.name == "403" || m.name == "404"
	switch {
	case strings.HasPrefix(c.route, "DELETE ") && strings.Contains(c.route, "/labels/") && m.name == "404":
		return []string{"labels ["}
	case strings.HasSuffix(c.route, "/check-runs") && m.name == "403":
		return []string{"check run ralph"}
	case strings.HasSuffix(c.route, "/requested_reviewers") && refused(m):
		return []string{"asked for a review ", ".ended.1 "}
	case strings.Contains(c.route, ".git/") && denied:
		return []string{"refs/heads/ralph/issue-1 ", "answer.job.", ".ended.1 "}
	case strings.Contains(c.route, ".git/"): // a commit that could not be pushed is one more iteration
		return []string{"refs/heads/ralph/issue-1 "}
	case strings.HasPrefix(c.route, "GET ") && denied && m.name != "401":
		return []string{"answer.job."}
	}
	return nil
}

// refused reports whether GitHub has understood and said no: what only tells people is not tried again then.
func refused(m trouble) bool { return m.name == "403" || m.name == "404" || m.name == "422" }

// allowed is how a run may end when something goes wrong with a call for good: as if nothing had, or, when the call was
// a read that the decision needs or a push of the work, as refused or failed.
func allowed(j journey, c one) []loop.Outcome {
	ends := []loop.Outcome{j.want}
	switch method, _, _ := strings.Cut(c.route, " "); {
	case strings.HasSuffix(c.route, "/events"), strings.HasSuffix(c.route, "/permission"):
		return append(ends, loop.Refused)
	case strings.Contains(c.route, ".git/"), method == "GET", c.route == "POST /graphql":
		return append(ends, loop.Failed, loop.Invalid, "") // a sweep passes over what it cannot read
	case j.name == "a plan": // whose one comment is all that there is to do
		return append(ends, loop.Failed)
	}
	return ends
}

var (
	code    = regexp.MustCompile(`\*?(github|url|net|http|exec|errors)\.[A-Z]\w*|\[\]$|&\{|0x[0-9a-f]+|/api/v3/`)
	whatNow = regexp.MustCompile(
		`\b(add|allow|ask|begin|check|give|look|mend|put|renew|run|settle|try|turn|upload|use|wait)\b`)
)

// clearly holds what a run ends with to what its reader needs.
func clearly(result loop.Result, err error) string {
	text := result.Reason
	if text == "" && err != nil {
		text = err.Error()
	}
	switch {
	case result.Outcome != loop.Failed && result.Outcome != loop.Refused:
		return ""
	case strings.Contains(text, "\n"), len(text) > 600, strings.Contains(text, token), code.MatchString(text),
		!whatNow.MatchString(text):
		return fmt.Sprintf("not one clear sentence: %q", text)
	}
	return ""
}

// meets runs a journey in which things go wrong, and says what is not as it has to be.
func (j journey) meets(t *testing.T, git bool, what, want string, ends []loop.Outcome, but []string,
	faults ...fake.Fault) {
	w := newJourney(t, git)
	event, payload := j.ask(w)
	for _, f := range faults {
		w.gh.Fail(f)
	}
	result, err := w.hasten(event, payload)
	if !slices.Contains(ends, result.Outcome) {
		t.Errorf("%s: %s: outcome %q (%s), %v; want one of %q", j.name, what, result.Outcome, result.Reason, err, ends)
	}
	if wrong := clearly(result, err); wrong != "" {
		t.Errorf("%s: %s: %s", j.name, what, wrong)
	}
	if result.Outcome != j.want && event != "schedule" { // whoever reads the sentence runs the job again
		result, err = w.again(event, payload)
		if result.Outcome != j.want && result.Outcome != "" || err != nil {
			t.Errorf("%s: %s: run again, it ends %q (%s), %v", j.name, what, result.Outcome, result.Reason, err)
		}
	}
	w.clean()
	var left []string
	for line := range strings.Lines(differs(w.dump(), want)) {
		if strings.HasPrefix(line, "+2") || !slices.ContainsFunc(but, func(part string) bool { return strings.Contains(line, part) }) {
			left = append(left, line)
		}
	}
	if len(left) > 0 {
		t.Errorf("%s: %s: afterwards\n%s", j.name, what, strings.Join(left, ""))
	}
}

// some are the first n rows of a table, or all of them in make every.
func some[T any](n int, rows ...T) []T {
	if every() {
		return rows
	}
	return rows[:n]
}

// oneIn is every nth row of a table of many, or all of them in make every.
func oneIn[T any](n int, rows []T) (out []T) {
	for i, row := range rows {
		if every() || i%n == 0 {
			out = append(out, row)
		}
	}
	return out
}

// seldom leaves a test to make every: another one holds what it holds, in a smaller setting or one more common.
func seldom(t *testing.T) {
	t.Helper()
	if !every() {
		t.Skip("make every runs it")
	}
}

// beside runs jobs beside each other: they wait for processes more than they compute.
func beside(t *testing.T, jobs []func()) {
	t.Helper()
	t.Logf("%d runs", len(jobs))
	var all sync.WaitGroup
	slots := make(chan bool, 6)
	for _, job := range jobs {
		slots <- true
		all.Go(func() {
			defer func() { <-slots }()
			job()
		})
	}
	all.Wait()
}

// known is what makes a call that meets a trouble another one. In a usual test run it is the method.
func (c one) known(m trouble) string {
	if every() {
		return c.String()
	}
	method, _, _ := strings.Cut(c.route, " ")
	return method + " " + m.name
}

// faultsOf are the runs of all journeys in which one call meets one trouble each. A call that an earlier journey has
// made too is met there.
func faultsOf(t *testing.T, git bool, troubles []trouble) (jobs []func()) {
	met := map[string]bool{}
	for _, j := range some(1, journeys...) {
		before := maps.Clone(met)
		calls, want := healthy(t, j, git)
		for _, c := range calls {
			for _, m := range troubles {
				known := c.known(m)
				if before[known] || !every() && (met[known] || !m.apart(c)) {
					continue
				}
				met[known] = true
				jobs = append(jobs, func() {
					j.meets(t, git, fmt.Sprintf("%s: %s", c, m.name), want, allowed(j, c), believed(c, m), m.at(c))
				})
			}
		}
	}
	return jobs
}

// TestEveryCallMeetsEveryFault: whatever goes wrong with a call, once or for good, the run goes on or ends with one
// clear sentence; and when it is over, the job run again and the next sweep lead to what there would have been, with
// nothing twice.
func TestEveryCallMeetsEveryFault(t *testing.T) {
	t.Parallel()
	t.Run("for good", func(t *testing.T) {
		t.Parallel()
		beside(t, faultsOf(t, false, lasting))
	})
	t.Run("git", func(t *testing.T) {
		t.Parallel()
		beside(t, faultsOf(t, true, ofGit))
	})
	t.Run("once", func(t *testing.T) {
		t.Parallel()
		beside(t, storms(t))
	})
}

// storms are runs in each of whose calls something goes wrong once: another thing at each, or in make every one thing at
// all of them.
func storms(t *testing.T) (jobs []func()) {
	for first, j := range some(1, journeys...) {
		calls, want := healthy(t, j, false)
		storm := func(what string, of func(i int) trouble) {
			var faults []fake.Fault
			for i, c := range calls {
				c.nth = 2*c.nth - 1 // the calls before it were each tried again
				faults = append(faults, of(i).at(c))
			}
			jobs = append(jobs, func() { j.meets(t, false, what, want, []loop.Outcome{j.want}, nil, faults...) })
		}
		storm("something at every call", func(i int) trouble { return passing[(first+i)%len(passing)] })
		for _, m := range passing {
			if every() {
				storm(m.name+" at every call", func(int) trouble { return m })
			}
		}
	}
	return jobs
}
