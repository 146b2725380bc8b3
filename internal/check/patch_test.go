package check

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

// files is a tree of a test: path → content. "name*" is executable, "name@" a link to its content.
type files map[string]string

// between is the change from one tree to another, as git sees it.
func between(t testing.TB, before, after files) *Changes {
	t.Helper()
	return eachBetween(t, []pairOfTrees{{before, after}})[0]
}

type pairOfTrees struct{ before, after files }

// eachBetween are many changes that one git process makes.
func eachBetween(t testing.TB, pairs []pairOfTrees) (changes []*Changes) {
	t.Helper()
	dir := t.TempDir()
	for i, p := range pairs {
		write(t, filepath.Join(dir, "a", rowDir(i)), p.before.without(p.after))
		write(t, filepath.Join(dir, "b", rowDir(i)), p.after.without(p.before))
	}
	diff := exec.Command("git", "-c", "core.fileMode=true", "diff", "--no-index", "--no-color", "-U0", "--no-renames", "--no-prefix", "a", "b")
	diff.Dir = dir
	diff.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
	out, err := diff.Output()
	if err != nil && diff.ProcessState.ExitCode() != 1 {
		t.Fatalf("git diff: %v", err)
	}
	patches := make([]strings.Builder, len(pairs))
	for _, part := range strings.SplitAfter(strings.ReplaceAll("\n"+string(out), "\ndiff --git ", "\n\x00diff --git "), "\x00") {
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
func given(patch string, before, after files) *Changes {
	return &Changes{
		Patch: func(context.Context, string, string) (string, bool, error) {
			return patch[:min(len(patch), PatchBytes)], len(patch) <= PatchBytes, nil
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

func write(t testing.TB, dir string, tree files) {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(dir, 0o755))
	for name, text := range tree {
		to := filepath.Join(dir, strings.TrimRight(name, "*@"))
		must(os.MkdirAll(filepath.Dir(to), 0o755))
		switch {
		case strings.HasSuffix(name, "@"):
			must(os.Symlink(text, to))
		case strings.HasSuffix(name, "*"):
			must(os.WriteFile(to, []byte(text), 0o755))
		default:
			must(os.WriteFile(to, []byte(text), 0o644))
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
func judged() At {
	s := loop.Fold([]loop.Record{
		{Type: loop.Started, Start: &loop.Start{Run: "r", Task: "t", Base: "base", MaxIterations: 5}},
		{Type: loop.Turned, Iteration: 1, Turn: &claimed},
		{Type: loop.Committed, Iteration: 1, Commit: &loop.Commit{SHA: "head", Tree: "t"}},
	})
	return At{State: s, Iteration: *s.Last()}
}

func run(t testing.TB, c Check, at At) loop.Verdict {
	t.Helper()
	v, err := c.Run(context.Background(), at)
	if err != nil {
		t.Fatal(err)
	}
	if !v.Pass && v.Reason == "" {
		t.Errorf("%s says no without a reason", c.Name())
	}
	return v
}

func TestParsePatch(t *testing.T) {
	before := files{"a.txt": "one\ntwo\nthree\n", "gone.txt": "x\n", "run.sh": "true\n", "link@": "a.txt", "bin": "\x00\x01", "ends": "no newline", "sp ace.txt": "1\n", "void": ""}
	after := before.with(files{"a.txt": "one\n2\nthree\nfour\n", "gone.txt": gone, "run.sh": gone, "run.sh*": "true\n", "link@": "sp ace.txt", "bin": "\x00\x02",
		"ends": "no newline\n", "sp ace.txt": "2\n", "void": gone, "ü\"q\n.txt": "new\xff\n", "--- a": "-- x\n++ y\n"})
	d, err := between(t, before, after).between(context.Background(), "base", "head")
	if err != nil || d.partial != "" {
		t.Fatal(err, d.partial)
	}
	var got []string
	for _, f := range d.files {
		said := fmt.Sprintf("%q", f.name)
		for what, is := range map[string]bool{"added": f.added, "deleted": f.deleted, "binary": f.binary, "mode": f.modeOnly} {
			if is {
				said += " " + what
			}
		}
		for _, h := range f.hunks {
			said += " -" + numbered(h.old) + " +" + numbered(h.new)
		}
		got = append(got, said)
	}
	slices.Sort(got)
	want := []string{
		`"--- a" added - +1 "-- x", 2 "++ y"`,
		`"a.txt" -2 "two" +2 "2" - +4 "four"`,
		`"bin" binary`,
		`"ends" -1 "no newline" +1 "no newline"`,
		`"gone.txt" deleted -1 "x" +`,
		`"link" -1 "a.txt" +1 "sp ace.txt"`,
		`"run.sh" mode`,
		`"sp ace.txt" -1 "1" +1 "2"`,
		`"void" deleted`,
		`"ü\"q\n.txt" added - +1 "new\xff"`,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func numbered(lines []line) string {
	var all []string
	for _, l := range lines {
		all = append(all, fmt.Sprintf("%d %q", l.n, l.text))
	}
	return strings.Join(all, ", ")
}

// FuzzParsePatch: whatever stands in a patch, it is read without a panic, and no line of it is lost to another file.
func FuzzParsePatch(f *testing.F) {
	f.Add("diff --git a/a b/a\nindex 1..2 100644\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n")
	f.Add("diff --git a/a b/a\nBinary files a/a and b/a differ\ndiff --git \"a/\\\\\" \"b/\\\\\"\nnew file mode 120000\n--- /dev/null\n+++ \"b/\\\\\"\n@@ -0,0 +1 @@\n+y\n\\ No newline at end of file\n")
	f.Add("diff --git a/s b/s\nindex 1..2 160000\n--- a/s\n+++ b/s\n@@ -1 +1 @@\n-Subproject commit 1\n+Subproject commit 2\n")
	f.Add("@@ -1 +1 @@\n-x\n+y\ndiff --git a/GIT binary patch\nliteral 9\n")
	f.Fuzz(func(t *testing.T, patch string) {
		files, unread := parsePatch(patch)
		if n := 1 + strings.Count(patch, "\ndiff --git "); len(files)+unread > n {
			t.Errorf("%d files of %d", len(files)+unread, n)
		}
		tree := files2tree(files)
		at := judged()
		for _, c := range []Check{Diff{Changes: given(patch, nil, tree)}, &Protected{Globs: []string{"ci"}, Changes: given(patch, nil, tree)}} {
			if _, err := c.Run(context.Background(), at); err != nil {
				t.Errorf("%s: %v", c.Name(), err)
			}
		}
	})
}

// files2tree is a tree in which every file of a patch is new.
func files2tree(parsed []*fileDiff) files {
	tree := files{}
	for _, f := range parsed {
		var b strings.Builder
		for _, h := range f.hunks {
			for _, l := range h.new {
				b.WriteString(l.text + "\n")
			}
		}
		tree[f.name] = b.String()
	}
	return tree
}
