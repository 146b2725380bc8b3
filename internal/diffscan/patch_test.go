package diffscan

import (
	"context"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestParsePatch(t *testing.T) {
	patch, err := os.ReadFile("testdata/kinds.patch")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range parsePatch(string(patch), true) {
		said := fmt.Sprintf("%q", f.name)
		for what, is := range map[string]bool{"added": f.added, "deleted": f.deleted, "binary": f.binary,
			"mode": f.modeOnly} {
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
	f.Add("diff --git a/a b/a\nBinary files a/a and b/a differ\ndiff --git \"a/\\\\\" \"b/\\\\\"\nnew file mode " +
		"120000\n--- /dev/null\n+++ \"b/\\\\\"\n@@ -0,0 +1 @@\n+y\n\\ No newline at end of file\n")
	f.Add("diff --git a/s b/s\nindex 1..2 160000\n--- a/s\n+++ b/s\n@@ -1 +1 @@\n-Subproject commit 1\n+Subproject " +
		"commit 2\n")
	f.Add("@@ -1 +1 @@\n-x\n+y\ndiff --git a/GIT binary patch\nliteral 9\n")
	f.Fuzz(func(t *testing.T, patch string) {
		files := parsePatch(patch, true)
		if n := 1 + strings.Count(patch, "\ndiff --git "); len(files) > n {
			t.Errorf("%d files of %d", len(files), n)
		}
		d, err := changes(patch, nil, tree(files)).Between(context.Background(), "base", "head")
		if err != nil {
			t.Fatal(err)
		}
		d.Amounts(nil)
	})
}

// tree is a tree in which every file of a patch is new.
func tree(parsed []*fileDiff) map[string]string {
	tree := map[string]string{}
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

// changes is a change whose patch and trees are written down. Like git, it gives no more than PatchBytes of the patch.
func changes(patch string, before, after map[string]string) *Changes {
	return &Changes{
		Patch: func(context.Context, string, string) (string, bool, error) {
			return patch[:min(len(patch), PatchBytes)], len(patch) <= PatchBytes, nil
		},
		Names: func(context.Context, string, string) ([]string, error) {
			both := maps.Clone(after)
			if both == nil {
				both = map[string]string{}
			}
			maps.Copy(both, before)
			return slices.Sorted(maps.Keys(both)), nil
		},
		File: func(_ context.Context, commit, path string) ([]byte, bool, error) {
			text, ok := map[string]map[string]string{"base": before, "head": after}[commit][path]
			return []byte(text), ok, nil
		},
	}
}

// TestUnreadPatch: a file whose part of the patch is broken or cut off costs no other file, is compared line by line
// where it is source, and is told of where it is not.
func TestUnreadPatch(t *testing.T) {
	const good = "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-x\n+// TODO: y\n"
	const cut = "diff --git a/b.go b/b.go\n--- a/b.go\n+++ b/b.go\n@@ -1 +1,3 @@\n-x\n+one\n"
	const header = "diff --git a/c.bin b/c.bin\n--- a/c.bin\n+++ b/c.bin\n@@ -1 +1,9 @@\n"
	// The limit cuts between two hunks of b: what is there of it can be read, and is not all.
	const other = "diff --git a/b.go b/b.go\n--- a/b.go\n+++ b/b.go\n@@ -1 +1 @@\n-x\n+one\n"
	before := map[string]string{"a.go": "x\n", "b.go": "x\n", "c.bin": "x"}
	after := map[string]string{"a.go": "// TODO: y\n", "b.go": "one\n// FIXME: two\n", "c.bin": "y"}
	long := good + strings.Repeat("x", PatchBytes)
	const unread = "the change of 1 files could not be read, and was not looked through"
	for name, c := range map[string]struct{ patch, partial string }{
		"cut in b":    {good + cut, unread},
		"cut in a":    {cut + good, unread},
		"broken last": {good + cut + header, unread},
		"cut after line": {long[:PatchBytes-len(other)-1] + "\n" + other + "@@ -2 +2 @@\n+// FIXME: two\n",
			"the change is larger than 8 MiB, and 1 files of it were not looked through"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := changes(c.patch, before, after).Between(context.Background(), "base", "head")
			if err != nil {
				t.Fatal(err)
			}
			if d.Partial != c.partial {
				t.Errorf("partial = %q, want %q", d.Partial, c.partial)
			}
			marks, err := d.Unfinished(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range marks {
				got = append(got, m.File+": "+m.Text)
			}
			slices.Sort(got)
			if want := []string{"a.go: // TODO: y", "b.go: // FIXME: two"}; !slices.Equal(got, want) {
				t.Errorf("marks = %q, want %q", got, want)
			}
		})
	}
}

// FuzzLine: any text can be a line of a file.
func FuzzLine(f *testing.F) {
	f.Add("a.go", "x := 1 // TODO")
	f.Add("a.py", "'#' # FIXME")
	f.Add("Makefile", "\t-rm # XXX")
	f.Fuzz(func(t *testing.T, name, text string) {
		judge(name, text)
		code, comment := splitComment(name, text)
		if !strings.HasSuffix(text, comment) && comment != strings.TrimSpace(text) || !strings.HasPrefix(text, code) {
			t.Errorf("%q is %q and %q", text, code, comment)
		}
	})
}
