//go:build e2e

package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/event"
)

// TestConditions has a runner read the condition of run.yml: a comment or a review starts a job if ralph obeys it, and
// none if it only looks so.
func TestConditions(t *testing.T) {
	t.Parallel()
	program := os.Getenv("RALPH_E2E_ACT")
	if program == "" {
		t.Skip("left out: RALPH_E2E_ACT names no act; make e2e installs it")
	}
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
	dir := t.TempDir()
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
	if err != nil {
		t.Fatal(err)
	}
	for file, content := range map[string]string{"event.json": string(payload), "flow.yml": flow.String()} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run(t, exec.Command("git", "-C", dir, "init", "-q"), 0)
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "push", "-W", filepath.Join(dir, "flow.yml"), "-C", dir, "-e",
		filepath.Join(dir, "event.json"), "-P", "here=-self-hosted", "--no-cache-server")
	cmd.Env, cmd.Dir = withoutWorkflow(os.Environ()), dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	begun := make([]bool, len(bodies))
	for i := range bodies {
		begun[i] = strings.Contains(string(out), fmt.Sprintf("| begun-%d-", i))
	}
	return begun
}
