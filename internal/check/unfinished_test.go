package check

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/diffscan"
	"github.com/ralph-loop/ralph/internal/loop"
)

// TestUnfinished has a row for every mark of unfinished work, and for what looks like one.
func TestUnfinished(t *testing.T) {
	const none, soft, alone, always = "", "soft", "alone", "always" // when it blocks
	rows := []struct {
		file, before, after, want string
	}{
		{"a.go", "", "// TODO: handle errors\n", soft},
		{"a.go", "", "x := f() // FIXME later\n", soft},
		{"a.go", "", "\t/* XXX */\n", soft},
		{"a.py", "", "    pass  # TODO\n", soft},
		{"a.sql", "", "-- TODO: index\n", soft},
		{"a.vue", "", "<!-- TODO: layout -->\n", soft},
		{"A.java", "", "/**\n * TODO write this\n */\n", soft},
		{"Makefile", "", "# FIXME: slow\n", soft},
		{"a.js", "", "// your code here\n", soft},
		{"a.js", "", "// ... rest of the code\n", soft},
		{"a.go", "", "return nil // placeholder for now\n", soft},
		{"a.go", "", "// not implemented yet\n", soft},
		{"a.py", "", "    # stub implementation\n", soft},
		{"a.py", "", "def f():\n    raise NotImplementedError\n", alone},
		{"a.rs", "", "fn f() { unimplemented!() }\n", alone},
		{"a.go", "", "\tpanic(\"TODO\")\n", alone},
		{"a.go", "", "\treturn errors.New(\"login: not implemented yet\")\n", alone},
		{"a.ts", "", "  throw new Error('Not implemented');\n", alone},
		{"A.cs", "", "    throw new NotImplementedException();\n", alone},
		{"a.kt", "", "fun f(): Int = TODO()\n", alone},
		{"a.php", "", "<?php\nthrow new \\Exception('not implemented');\n", alone},
		{"a_test.go", "", "<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> other\n", always},

		{"a.go", "// TODO: old\nx\n", "y\n\t// TODO: old\nx\n", none}, // moved, indented
		{"a.go", "// TODO: old\n", "x\n", none},                       // done
		{"a.go", "", "type TODO struct{}\n\nvar todos []TODO\n", none},
		{"a.go", "", "title := \"TODO: buy milk\"\n", none},
		{"a.go", "", "// AddTodo adds to the TODO list.\n", none},
		{"a.py", "", "text = \"# TODO: x\"\n", none},
		{"a.html", "", "<input placeholder=\"name\">\n", none},
		{"a.go", "", "ctx := context.TODO()\n", none},
		{"a.go", "", "http.Error(w, \"not implemented\", http.StatusNotImplemented)\n", none},
		{"a.go", "", "// See TODO.md.\n", none},
		{"a.py", "", "class Shape(ABC):\n    def area(self):\n        raise NotImplementedError\n", none},
		{"a.py", "", "class Shape:\n    @abstractmethod\n    def area(self):\n        raise NotImplementedError\n", none},
		{"README.md", "", "TODO: write\n", none},
		{"README.md", "", "<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> other\n", always},
		{"a_test.go", "", "// TODO: more cases\n", none},
		{"testdata/a.go", "", "// TODO: x\n<<<<<<< HEAD\n>>>>>>> x\n", none},
		{"vendor/a/a.go", "", "// TODO: x\n", none},
		{"a.go", "", "const s = `\n=======\n`\n", none},
		{"a.sh", "", "cat <<<<<<< x\n", none},
		{"data.json", "", "{\"note\": \"// TODO: x\"}\n", none},
	}
	var pairs []pairOfTrees
	for _, row := range rows {
		before := files{}
		if row.before != "" {
			before[row.file] = row.before
		}
		pairs = append(pairs, pairOfTrees{before, files{row.file: row.after}})
	}
	for i, c := range eachBetween(t, pairs) {
		row := rows[i]
		t.Run(fmt.Sprintf("%s %.40q", row.file, row.after), func(t *testing.T) {
			got := none
			v := run(t, &Unfinished{Changes: c}, judged())
			switch with := run(t, &Unfinished{Changes: c, Alone: true}, judged()); {
			case v.Pass:
			case v.Severity == loop.Hard:
				got = always
			case with.Severity == loop.Hard:
				got = alone
			default:
				got = soft
			}
			if got != row.want {
				t.Errorf("blocks %q, want %q: %s\n%s", got, row.want, v.Reason, v.Output)
			}
			if hard := run(t, &Unfinished{Changes: c, Hard: true}, judged()); !hard.Pass && hard.Severity != loop.Hard {
				t.Errorf("by the setting any mark blocks: %+v", hard)
			}
			if !v.Pass && (len(v.Findings) == 0 || v.Findings[0].Line == 0 || !strings.HasPrefix(v.Output, row.file+":")) {
				t.Errorf("findings %+v, output %s", v.Findings, v.Output)
			}
		})
	}
}

// TestHostileChanges: whatever a change holds, the checks that read it end, keep to their bounds, and say when they
// have not seen all.
func TestHostileChanges(t *testing.T) {
	many, huge := files{}, files{"a.go": strings.Repeat("// TODO: x\n", 50_000), "b.go": strings.Repeat("x", 2<<20)}
	var patch strings.Builder
	for i := range 100_000 {
		many[fmt.Sprintf("d/%d.mk", i)] = ""
		if i < 2_000 {
			fmt.Fprintf(&patch, "diff --git a/d/%d.mk b/d/%d.mk\nnew file mode 100644\nindex 000..e69\n", i, i)
		}
	}
	long := "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -0,0 +1,50000 @@\n+" +
		strings.ReplaceAll(strings.TrimSuffix(huge["a.go"], "\n"), "\n", "\n+") + "\n"
	for name, c := range map[string]struct {
		patch         string
		before, after files
		partial       bool
	}{
		"100 000 files": {patch.String(), nil, many, true},
		"cut": {long + strings.Repeat("+x\n", diffscan.PatchBytes/3), files{},
			huge.with(files{"z.bin": "x"}), true},
		"nonsense": {"diff --git \n@@ -1 +1 @@\n+x\ndiff --git a/b\n--- \n+++ \n", files{},
			files{"b": "x"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			changes := given(c.patch, c.before, c.after)
			for _, one := range []Check{Diff{Changes: changes}, &Protected{Globs: []string{"ci"}, Changes: changes},
				&Weakened{Changes: changes},
				&Unfinished{Changes: changes}} {
				v := run(t, one, judged())
				if len(v.Findings) > loop.MaxFindings || len(v.Output) > loop.OutputBytes+200 || len(v.Reason) > 2000 {
					t.Errorf("%s: %d findings, output of %d, reason of %d bytes", one.Name(), len(v.Findings), len(v.Output),
						len(v.Reason))
				}
				if _, ok := one.(*Weakened); ok && c.partial && v.Reason == "" {
					t.Errorf("%s does not say that it has not seen all", one.Name())
				}
			}
		})
	}
}

// TestUnfinishedWhateverAttributesSay: a source file that its repository calls binary is read all the same.
func TestUnfinishedWhateverAttributesSay(t *testing.T) {
	c := given("diff --git a/a.go b/a.go\nindex 1..2 100644\nBinary files a/a.go and b/a.go differ\n",
		files{"a.go": "package a\n// TODO: old\n"}, files{"a.go": "// TODO: old\npackage a\n\npanic(\"not implemented\")\n"})
	v := run(t, &Unfinished{Changes: c, Alone: true}, judged())
	if v.Pass || v.Severity != loop.Hard || len(v.Findings) != 1 || v.Findings[0].Line != 4 {
		t.Errorf("verdict = %+v", v)
	}
}

// TestOnePatchForAll: the checks of an iteration read the change once.
func TestOnePatchForAll(t *testing.T) {
	c := between(t, files{"a.go": "x\n"}, files{"a.go": "y\n"})
	asked, patch := 0, c.Patch
	c.Patch = func(ctx context.Context, from, to string) (string, bool, error) {
		asked++
		return patch(ctx, from, to)
	}
	for _, one := range []Check{Diff{Changes: c}, &Protected{Changes: c}, &Weakened{Changes: c},
		&Unfinished{Changes: c}} {
		run(t, one, judged())
	}
	if asked != 1 {
		t.Errorf("the patch was asked for %d times", asked)
	}
}

// FuzzMarks: any text can be a line, a test or a setting.
func FuzzMarks(f *testing.F) {
	f.Add("a.py", "def test_a():\n    assert x\n", "def _test_a(): \n\"\"\"\n")
	f.Add("a.test.js", "it('a', () => {\n", "it.only(`a`, /*\n")
	f.Add("pyproject.toml", "[tool.x]\nignore = [\n", "ignore: - \nfail_under = 9e999\n")
	f.Add("src/a.rs", "#[test]\nfn a() {", "#[ignore]")
	f.Fuzz(func(t *testing.T, name, before, after string) {
		patch := "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n+" + after + "\n"
		c := given(patch, files{name: before}, files{name: after})
		run(t, &Weakened{Changes: c}, judged())
		run(t, &Unfinished{Changes: c}, judged())
	})
}
