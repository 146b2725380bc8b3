package git

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/safetext"
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

// toolsLeave are what known tools leave in a working tree, which belongs into no commit. Where a repository's own rules
// say otherwise, they count.
var toolsLeave = []string{"node_modules/", "__pycache__/", ".pytest_cache/", ".mypy_cache/", ".ruff_cache/", ".tox/", ".nox/",
	".coverage", ".coverage.*", ".nyc_output/", ".gradle/", ".DS_Store", "Thumbs.db", "core.[0-9]*", "!core.*.*", "npm-debug.log*",
	"yarn-error.log*", "nohup.out", "hs_err_pid*.log"}

// excluded starts the list of what no commit of a run takes up.
func excluded() string {
	return "# what tools leave\n" + strings.Join(toolsLeave, "\n") + "\n" + hiddenGit + "\n"
}

// leavings names, each once in a run, the leavings in the working tree that no rule but ours keeps out of a commit.
func (t *checkout) leavings(ctx context.Context) ([]string, error) {
	args := []string{"ls-files", "-z", "--others", "--ignored", "--directory"}
	for _, pattern := range toolsLeave {
		args = append(args, "-x", pattern)
	}
	out, err := t.git.out(ctx, args...)
	if err != nil || out == "" {
		return nil, err
	}
	var fresh, ours []string
	for _, name := range records(out) {
		if !t.known.leavings[name] {
			fresh = append(fresh, name)
		}
	}
	if len(fresh) == 0 {
		return nil, nil
	}
	out, _, err = t.git.run(ctx, call{in: joined(fresh), args: []string{"check-ignore", "-v", "-z", "--stdin"}})
	if err = ignore(err); err != nil {
		return nil, fmt.Errorf("looking why files are left out: %w", err)
	}
	if t.known.leavings == nil {
		t.known.leavings = map[string]bool{}
	}
	for entry := range slices.Chunk(records(out), 4) { // the file of the rule, its line, the rule, the path
		line, _ := strconv.Atoi(entry[min(1, len(entry)-1)])
		if len(entry) == 4 && entry[0] == t.o.excludes() && line <= len(toolsLeave)+1 { // else a rule of the user's
			t.known.leavings[entry[3]] = true
			ours = append(ours, entry[3])
		}
	}
	if len(ours) == 0 {
		return nil, nil
	}
	return []string{"left out, because tools leave it and no ignore rule names it: " + safetext.FirstN(ours, mostNamed)}, nil
}

// leftOut begins what the harness adds to the run's list of excluded files.
const leftOut = "# working trees of the agent's own\n"

// leaveOut keeps directories of the working tree out of every commit, and out of what is removed.
func (t *checkout) leaveOut(names []string) error {
	if len(names) == 0 {
		return nil
	}
	list := string(readQuietly(t.o.excludes()))
	if !strings.Contains(list, leftOut) {
		list += leftOut
	}
	for _, name := range names {
		list += pattern(name) + "/\n"
	}
	if err := files.Put(t.o.excludes(), []byte(list), 0o644); err != nil {
		return fmt.Errorf("writing the run's list of excluded files: %w", err)
	}
	return nil
}

// pattern is a line of a list of excluded files that matches one path and no other.
func pattern(name string) string {
	return "/" + strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "\n", "?").Replace(name)
}

// clean removes what is neither tracked nor ignored: everywhere, or in a path.
func (d door) clean(ctx context.Context, in ...string) error {
	args := []string{"clean", "-ffdq", "--"}
	for _, name := range in {
		args = append(args, ":(top,literal)"+name)
	}
	_, err := d.out(ctx, args...)
	return err
}

// untracked lists files that are neither tracked nor ignored. A repository in the tree is one entry that ends with a
// slash.
func (d door) untracked(ctx context.Context) ([]string, error) {
	out, err := d.out(ctx, "ls-files", "-z", "--others", "--exclude-standard")
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
