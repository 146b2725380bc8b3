//go:build e2e

package e2e_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/model"
)

const onePlan = `{
  "project": "greetings", "branchName": "ralph/greetings", "description": "A greeting", "verifyCommands": ["! test -e greeting || grep -q hello greeting"],
  "userStories": [
    {
      "id": "US-001", "title": "Greet", "description": "", "acceptanceCriteria": ["greeting says hello"], "priority": 1,
      "passes": false,
      "reviewStatus": null,
      "reviewCount": 0,
      "reviewFeedback": "",
      "notes": "",
      "dependsOn": []
    }
  ]
}
`

// TestPlanWithRealClaude runs a plan with the real CLI in the sandbox that is there: an agent that stops before it has
// committed is told so by the hook that ralph gave it, one that wants to push is told what ralph does, and a fresh
// context reviews what the first has done.
func TestPlanWithRealClaude(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{"README": "A project.\n", "ralph/tasks.json": onePlan, "ralph/prd.md": "A greeting.\n"},
		"README")
	plan := func(code int, script ...model.Turn) (out string, asked []model.Request) {
		m := model.New(script...)
		defer m.Close()
		cmd, _ := claude.command(t, m.URL, dir, "plan", "run", "-n", "1")
		return run(t, cmd, code), m.Requests()
	}
	says := func(asked []model.Request, text string) bool {
		return slices.ContainsFunc(asked, func(r model.Request) bool { return strings.Contains(r.Body, text) })
	}

	out, asked := plan(1,
		model.Turn{Tools: []model.Tool{model.Bash("git push --force origin main")}},
		model.Turn{Tools: []model.Tool{model.Bash(
			`echo hello > greeting; sed -i 's/"reviewStatus": null/"reviewStatus": "needs_review"/' ralph/tasks.json`)}},
		model.Turn{Text: "I think that is all."},
		model.Turn{Tools: []model.Tool{model.Bash("git add -A && git -c user.name=claude -c user.email=c@example.com " +
			"commit -q -m 'feat: [US-001] - Greet'")}},
		model.Turn{Text: "Handed in."})
	if !strings.Contains(out, "plan: US-001 waits for its review") || !strings.Contains(out, "CAP HIT") {
		t.Fatalf("the story was not handed in:\n%s", out)
	}
	if !says(asked, "Stop hook feedback") {
		t.Errorf("the agent was not told that something is not committed:\n%s", out)
	}
	if !says(asked, "in a run, ralph pushes") {
		t.Errorf("the agent was not told why it may not push:\n%s", out)
	}

	tree := strings.TrimSpace(run(t, exec.Command("git", "-C", dir, "rev-parse", "HEAD^{tree}"), 0))
	out, _ = plan(0,
		model.Turn{Tools: []model.Tool{model.Bash(
			`sed -i 's/"needs_review"/"approved"/; s/"passes": false/"passes": true/; s/"reviewCount": 0/"reviewCount": 1/; s/"notes": ""/"notes": "greets"/' ralph/tasks.json
			git add -A && git -c user.name=claude -c user.email=c@example.com commit -q -m 'review: [US-001] - approved'`)}},
		model.Turn{Tools: []model.Tool{{Name: "StructuredOutput",
			Input: map[string]any{"verdict": "approve", "tree": tree, "summary": "It greets.", "issues": []any{},
				"criteria": nil}}}},
		model.Turn{Text: "Reviewed."})
	for _, want := range []string{"review US-001", "plan: US-001 approved in review 1", "1 of 1 story approved"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing:\n%s", want, out)
		}
	}
}
