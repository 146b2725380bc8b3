package check

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/diffscan"
	"github.com/ralph-loop/ralph/internal/loop"
)

// files is a tree of a test: path → content. "name*" is executable, "name@" a link to its content.
type files map[string]string

// between is the change from one tree to another, as git sees it.
func between(t testing.TB, before, after files) *diffscan.Changes {
	t.Helper()
	return eachBetween(t, []pairOfTrees{{before, after}})[0]
}

type pairOfTrees struct{ before, after files }

// eachBetween are many changes that one git process makes.
func eachBetween(t testing.TB, pairs []pairOfTrees) (changes []*diffscan.Changes) {
	t.Helper()
	dir := t.TempDir()
	for i, p := range pairs {
		write(t, filepath.Join(dir, "a", rowDir(i)), p.before.without(p.after))
		write(t, filepath.Join(dir, "b", rowDir(i)), p.after.without(p.before))
	}
	diff := exec.Command("git", "-c", "core.fileMode=true", "diff", "--no-index", "--no-color", "-U0", "--no-renames",
		"--no-prefix", "a", "b")
	diff.Dir = dir
	diff.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
	out, err := diff.Output()
	if err != nil && diff.ProcessState.ExitCode() != 1 {
		t.Fatalf("git diff: %v", err)
	}
	patches := make([]strings.Builder, len(pairs))
	for _, part := range strings.SplitAfter(strings.ReplaceAll("\n"+string(out), "\ndiff --git ", "\n\x00diff --git "),
		"\x00") {
		part = strings.TrimSuffix(part, "\x00")
		for i := range pairs {
			if dir := "/" + rowDir(i) + "/"; strings.Contains(part, dir) {
				patches[i].WriteString(strings.ReplaceAll(part, dir, "/"))
			}
		}
	}
	for i, p := range pairs {
		changes = append(changes, given(patches[i].String(), p.before, p.after))
	}
	return changes
}

func rowDir(i int) string { return fmt.Sprintf("row-%04d", i) }

// given is a change whose patch is written down.
func given(patch string, before, after files) *diffscan.Changes {
	return &diffscan.Changes{
		Patch: func(context.Context, string, string) (string, bool, error) {
			return patch[:min(len(patch), diffscan.PatchBytes)], len(patch) <= diffscan.PatchBytes, nil
		},
		Names: func(context.Context, string, string) ([]string, error) {
			changed := map[string]bool{}
			for name, text := range before {
				if now, ok := after[name]; !ok || now != text {
					changed[strings.TrimRight(name, "*@")] = true
				}
			}
			for name := range after {
				if _, ok := before[name]; !ok {
					changed[strings.TrimRight(name, "*@")] = true
				}
			}
			return slices.Sorted(maps.Keys(changed)), nil
		},
		File: func(_ context.Context, commit, path string) ([]byte, bool, error) {
			tree := before
			if commit == "head" {
				tree = after
			}
			text, ok := tree[path]
			if !ok {
				text, ok = tree[path+"*"]
			}
			return []byte(text), ok, nil
		},
	}
}

// noError ends a test that cannot be made up.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func write(t testing.TB, dir string, tree files) {
	t.Helper()
	noError(t, os.MkdirAll(dir, 0o755))
	for name, text := range tree {
		to := filepath.Join(dir, strings.TrimRight(name, "*@"))
		noError(t, os.MkdirAll(filepath.Dir(to), 0o755))
		switch {
		case strings.HasSuffix(name, "@"):
			noError(t, os.Symlink(text, to))
		case strings.HasSuffix(name, "*"):
			noError(t, os.WriteFile(to, []byte(text), 0o755))
		default:
			noError(t, os.WriteFile(to, []byte(text), 0o644))
		}
	}
}

// with is the tree after some files were written; a file whose text is gone is removed.
func (f files) with(change files) files {
	now := maps.Clone(f)
	for name, text := range change {
		if now[name] = text; text == gone {
			delete(now, name)
		}
	}
	return now
}

// without is the tree without the files that another has alike.
func (f files) without(other files) files {
	left := files{}
	for name, text := range f {
		if is, ok := other[name]; !ok || is != text {
			left[name] = text
		}
	}
	return left
}

const gone = "\x00gone"

// judged is an iteration that claims to be done, on the commits "base" and "head".
func judged() Input {
	s := loop.Fold([]loop.Record{
		{Type: loop.Started, Start: &loop.Start{Run: "r", Task: "t", Base: "base", MaxIterations: 5}},
		{Type: loop.Turned, Iteration: 1, Turn: &claimed},
		{Type: loop.Committed, Iteration: 1, Commit: &loop.Commit{SHA: "head", Tree: "t"}},
	})
	return Input{State: s, Iteration: *s.Last()}
}

func run(t testing.TB, c Check, at Input) loop.Verdict {
	t.Helper()
	v, err := c.Run(context.Background(), at)
	noError(t, err)
	if !v.Pass && v.Reason == "" {
		t.Errorf("%s says no without a reason", c.Name())
	}
	return v
}
