package git

import (
	"context"
	"fmt"
	"strings"
)

// runtimeFiles are ralph's own files in a working tree, which no commit of the work takes up.
const runtimeFiles = `# ralph
**/.ralph/runs/
**/.ralph/guardrail_*.log
**/.ralph/verify_*.log
**/.ralph/prompt_*.txt
**/.ralph/settings.local.json
**/.ralph/supervise/
**/.ralph/children/
**/.ralph/bus.jsonl
**/.ralph/summary.md
**/.venv-ralph/
.ralph_state.md
.ralph.lock
.ralph-active
`

// leftOut begins what the harness adds to the run's list of excluded files.
const leftOut = "# working trees of the agent's own\n"

// leaveOut keeps directories of the working tree out of every commit, and out of what is removed.
func (t *Tree) leaveOut(names []string) error {
	if len(names) == 0 {
		return nil
	}
	list := string(readQuietly(t.excludes()))
	if !strings.Contains(list, leftOut) {
		list += leftOut
	}
	for _, name := range names {
		list += pattern(name) + "/\n"
	}
	if err := replace(t.excludes(), []byte(list), 0o644); err != nil {
		return fmt.Errorf("writing the run's list of excluded files: %w", err)
	}
	return nil
}

// pattern is a line of a list of excluded files that matches one path and no other.
func pattern(name string) string {
	return "/" + strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "\n", "?").Replace(name)
}

// clean removes what is neither tracked nor ignored: everywhere, or in a path.
func (t *Tree) clean(ctx context.Context, in ...string) error {
	args := []string{"clean", "-ffdq", "--"}
	for _, name := range in {
		args = append(args, ":(top,literal)"+name)
	}
	_, err := t.git.out(ctx, args...)
	return err
}

// untracked lists files that are neither tracked nor ignored. A repository in the tree is one entry that ends with a
// slash.
func (t *Tree) untracked(ctx context.Context) ([]string, error) {
	out, err := t.git.out(ctx, "ls-files", "-z", "--others", "--exclude-standard")
	return records(out), err
}

func value(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(env[i], name+"="); ok {
			return v
		}
	}
	return ""
}
