//go:build e2e

package e2e_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/event"
)

// TestConditions has a runner read the condition of run.yml: a comment or a review starts a job if ralph obeys it, and
// none if it only looks so.
func TestConditions(t *testing.T) {
	t.Parallel()
	program := tool(t, "RALPH_E2E_ACT")
	bodies := []string{"/ralph", "/ralph run", "/RALPH stop", "/ralph\nrun", "/ralph\r\nrun", "/ralph\trun", "\r\n/ralph run",
		"  /Ralph", "/ralphael has an idea", "/ralph:plan", "/ralph!", "/ralph/", "/ralp", "please /ralph run", "> /ralph run",
		"~", ""}
	condition := condition(t, document(t, ".github/workflows/run.yml"))
	for _, place := range []string{"github.event.comment.body", "github.event.review.body"} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			begun := starts(t, program, condition, place, bodies)
			for i, body := range bodies {
				_, obeyed, _ := event.ParseCommand(body, "/ralph")
				if begun[i] != obeyed {
					t.Errorf("%q starts a job: %v, and ralph obeys it: %v", body, begun[i], obeyed)
				}
			}
		})
	}
}

// condition is the one of the job that works, in one line.
func condition(t *testing.T, text string) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^    if: >-\n((?:      .*\n)+)`).FindStringSubmatch(text)
	if found == nil {
		t.Fatal("there is no condition")
	}
	return strings.Join(strings.Fields(found[1]), " ")
}

// starts reports for each body whether a job with the condition is begun, which takes the place of what the condition
// looks at: each has a job of its own in one workflow.
func starts(t *testing.T, program, condition, place string, bodies []string) []bool {
	t.Helper()
	var flow strings.Builder
	flow.WriteString("on: [push]\njobs:\n  sweep:\n    if: github.event_name == 'schedule'\n    runs-on: here\n" +
		"    steps: [{run: exit 1}]\n")
	bodyOf := map[string]string{}
	for i, body := range bodies {
		key := fmt.Sprintf("body%d", i)
		bodyOf[key] = body
		fmt.Fprintf(&flow, "  job%d:\n    needs: sweep\n    if: >-\n      %s\n    runs-on: here\n    steps: [{run: echo begun-%d-}]\n",
			i, strings.ReplaceAll(condition, place, "github.event."+key), i)
	}
	payload, err := json.Marshal(bodyOf)
	noError(t, err)
	s := newScene(t)
	s.write(t, "event.json", string(payload))
	j := runner{program: program, cache: openDir(t), args: []string{"-P", "here=-self-hosted"}}.do(t, s, "push", flow.String())
	if j.code != 0 {
		t.Fatalf("exit code %d\n%s", j.code, j.log())
	}
	begun := make([]bool, len(bodies))
	for i := range bodies {
		begun[i] = !j.at(fmt.Sprintf("| begun-%d-", i)).IsZero()
	}
	return begun
}
