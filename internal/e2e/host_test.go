//go:build e2e

package e2e_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// workflow uses host/action.yml as a repository would, and writes its outputs where the test finds them.
const workflow = `on: issues
jobs:
  ralph:
    runs-on: ubuntu-24.04
    steps:
      - id: ralph
        uses: ralph-loop/ralph/host@v0
        with:
          github_token: ${{ secrets.GITHUB_TOKEN }}
          agent: ${{ env.AGENT }}
          timeout_minutes: '5'
          build: 'true'
      - env:
          OUTCOME: ${{ steps.ralph.outputs.outcome }}
          PULL: ${{ steps.ralph.outputs.pr_number }}
          ITERATIONS: ${{ steps.ralph.outputs.iterations }}
          BRANCH: ${{ steps.ralph.outputs.branch_name }}
        run: printf '%s ' "$OUTCOME" "$PULL" "$ITERATIONS" "$BRANCH" >"$OUTPUTS"
        shell: bash
`

// TestHostAction has a runner take a labeled issue to a pull request with host/action.yml, which builds ralph from
// this source. Act, the runner, is not GitHub's: permissions, concurrency and time limits of jobs are not what is
// tested here.
func TestHostAction(t *testing.T) {
	t.Parallel()
	s, dir := newScene(t), callable(t)
	run(t, exec.Command("cp", "-R", "../../go.mod", "../../go.sum", "../../cmd", "../../internal", dir), 0)
	r := newRunner(t, tool(t, "RALPH_E2E_ACT"), dir)
	r.args = append(r.args, onThisMachine...)
	cache := run(t, exec.Command("go", "env", "GOCACHE"), 0)
	r.env = append(r.env, "AGENT="+filepath.Join(s.dir, "agent"), "OUTPUTS="+filepath.Join(s.dir, "outputs"),
		"GOCACHE="+strings.TrimSpace(cache))
	j := r.do(t, s, "issues", workflow)
	if j.code != 0 {
		t.Fatalf("exit code %d\n%s", j.code, j.log())
	}
	s.check(t)
	if got := s.read(t, "outputs"); got != "done 2 2 ralph/issue-1 " {
		t.Errorf("the outputs are %q", got)
	}
}
