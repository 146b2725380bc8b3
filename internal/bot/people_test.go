//go:build unix

package bot

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

// mentions are the comments that mention somebody, each as "#2 @alice" with the first words behind the mention.
func (w *world) mentions() []string {
	var out []string
	for _, is := range w.gh.Issues(owner, name) {
		for _, c := range w.gh.Comments(owner, name, is.Number) {
			_, text, _ := strings.Cut(c.Body, "\n")
			if c.Author == "github-actions[bot]" && strings.HasPrefix(text, "@") {
				line, rest, _ := strings.Cut(text, "\n")
				if strings.IndexByte(line, ' ') < 0 { // the mention has a line of its own
					line += " " + strings.TrimSpace(strings.Split(strings.TrimSpace(rest), "\n")[0])
				}
				out = append(out, fmt.Sprintf("#%d %s", is.Number, line))
			}
		}
	}
	return out
}

// TestPeopleAreTold has a row for each outcome and setting: one new comment that mentions whoever asked, or of a pull
// request that is ready a request for a review. Where there is a failure report, it is that comment.
func TestPeopleAreTold(t *testing.T) {
	t.Parallel()
	const asks = `echo x >> add.sh; echo 'which color, @bob?'; exit 42`
	type row struct {
		name, agent, checks, notify string
		want                        loop.Outcome
		mention                     string // what the one comment with a mention begins with; empty: there is none
		requested                   string
	}
	for _, tt := range some(2,
		row{"waiting", asks, "true", "", loop.Waiting, "#2 @alice **⏸️ Waiting for your answer (without a sandbox): “which color, ", "[]"},
		row{"cannot run", quick, "no-such-tool-anywhere", "", loop.Invalid, "#1 @alice **⚠️ Cannot run", ""},
		row{"done", quick, "true", "", loop.Done, "", "[alice]"},
		row{"failed", quick, "test -e good", "", loop.Capped, "#2 @alice ", "[]"},
		row{"done, not wanted", quick, "true", "failed, waiting", loop.Done, "", "[]"},
	) {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newJourney(t, false)
			w.inputs["agent"], w.inputs["checks"], w.inputs["notify_on"] = w.script("agent", tt.agent), tt.checks, tt.notify
			w.must(tt.want)(w.hasten(w.labeled()))
			w.clean()
			got := w.mentions()
			if tt.mention == "" && len(got) != 0 || tt.mention != "" &&
				(len(got) != 1 || !strings.HasPrefix(got[0], tt.mention)) {
				t.Errorf("mentions %q, want one that begins %q", got, tt.mention)
			}
			pulls := w.gh.Pulls(owner, name)
			if tt.requested == "" != (len(pulls) == 0) || tt.requested != "" &&
				fmt.Sprint(pulls[0].Requests) != tt.requested {
				t.Errorf("pull requests %+v", pulls)
			}
		})
	}
}

// TestLabelsAfterTheMerge: what is merged waits for nobody, and its labels say so.
func TestLabelsAfterTheMerge(t *testing.T) {
	t.Parallel()
	w := newJourney(t, false)
	w.gh.Label(owner, name, w.issue, "bug", "alice")
	w.must(loop.Done)(w.hasten(w.labeled()))
	if got := w.labels(); got != "bug,ralph:review" {
		t.Fatalf("labels %s", got)
	}
	w.env["GITHUB_RUN_ID"] = "80"
	pr := w.gh.Pulls(owner, name)[0].Number
	w.gh.Merge(owner, name, pr, "alice")
	w.must("")(w.action(context.Background(), "pull_request_target", w.gh.ClosedPayload(owner, name, pr, "alice")))
	if got := w.labels(); got != "bug" {
		t.Errorf("labels %s", got)
	}
}
