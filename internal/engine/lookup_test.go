package engine

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/prompt"
)

// repository is a clone with these files in one commit; a name with "->" is a link.
func repository(t *testing.T, files map[string]string) *git.Tree {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		name, to, link := strings.Cut(name, "->")
		file := filepath.Join(dir, name)
		noError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		var err error
		if link {
			err = os.Symlink(to, file)
		} else {
			err = os.WriteFile(file, []byte(content), 0o600)
		}
		noError(t, err)
	}
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a",
		"GIT_AUTHOR_EMAIL=a", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a",
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A", "-f"}, {"commit", "-qm", "x"}} {
		c := exec.Command("git", args...)
		c.Dir, c.Env = dir, env
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatal(string(out))
		}
	}
	tree, err := git.Look(context.Background(), dir, env, "ralph/x")
	noError(t, err)
	return tree
}

// shown is what was found, in short: "calc/plus.py:1".
func shown(f prompt.Found) string {
	var out []string
	for _, e := range f.Excerpts {
		out = append(out, fmt.Sprintf("%s:%d", e.File, e.From))
	}
	return strings.Join(out, " ")
}

// TestMissing: what a failure says is missing is found where it is.
func TestMissing(t *testing.T) {
	long := strings.Repeat("x = 1\n", 60)
	tree := repository(t, map[string]string{
		"calc/plus.py":     "def plus(a, b):\n    return a + b\n",
		"calc/__init__.py": "VERSION = 1\n", "calc/minus/__init__.py": "# minus\n",
		"vendor/calc/plus.py":             "def plus(): pass\n",
		"node_modules/x/render.js":        "function render() {}\n",
		"src/render.ts":                   long + "export function render(a: string) {}\n",
		"src/widgets/index.tsx":           "export const Widget = 1\n",
		"go/internal/store/store.go":      "package store\n\nfunc (s *Store) Load(id int) {}\n",
		"go/internal/store/store_test.go": "package store\n", "data/config.yaml": "a: 1\n",
		"test_calc.py":    long + "import calc.plus\n" + long,
		"binary/blob.bin": "render\x00", "secret->/etc/passwd": "",
		"main.rs": "pub struct Parser;\n// struct Lexer is not here\n",
		"huge.py": "def gigantic(): pass\n" + strings.Repeat("#", 600<<10),
		"conf.h":  "#define LIMIT 3\n",
	})
	spec := &Spec{Place: Place{Tree: tree}, Output: Output{Log: t.Logf}}
	tests := []struct {
		name     string
		gap      []string
		findings []loop.Finding
		want     string
		defined  bool
	}{
		{"a module's path", []string{"calc.plus"}, nil, "calc/plus.py:1", true},
		{"a package", []string{"calc.minus"}, nil, "calc/minus/__init__.py:1", true},
		{"a module in another module's", []string{"app.calc.plus"}, nil, "calc/plus.py:1", true},
		{"a name in a module", []string{"calc.plus.plus"}, nil, "calc/plus.py:1", true},
		{"a relative path", []string{"./src/render"}, nil, "src/render.ts:1 src/render.ts:58", true},
		{"a directory with an index", []string{"@/widgets"}, nil, "src/widgets/index.tsx:1", true},
		{
			"a Go package by the tail of its path", []string{"example.com/acme/go/internal/store"}, nil,
			"go/internal/store/store.go:1", true,
		},
		{"a method", []string{"Load"}, nil, "go/internal/store/store.go:1", true},
		{"a type of a crate", []string{"crate::parse::Parser"}, nil, "main.rs:1", true},
		{"a macro", []string{"LIMIT"}, nil, "conf.h:1", true},
		{"a symbol that a comment speaks of", []string{"Lexer"}, nil, "", false},
		{"a variable", []string{"VERSION"}, nil, "calc/__init__.py:1", true},
		{
			"the place of the failure comes first", []string{"calc.plus"},
			[]loop.Finding{
				{File: "/etc/passwd", Line: 1}, {File: "../x", Line: 1}, {File: "./test_calc.py", Line: 61},
			},
			"test_calc.py:41 calc/plus.py:1", true,
		},
		{
			"a line that its file does not have", []string{"nowhere_else"},
			[]loop.Finding{{File: "conf.h", Line: 99999999}}, "conf.h:1", false,
		},
		{
			"nothing", []string{"utterly_unknown", "a/b/../../../etc/passwd", "--all", "", "*", "secret"}, nil, "",
			false,
		},
		{"what is too large, binary or somebody else's", []string{"gigantic"}, nil, "", false},
		{"no name at all", nil, nil, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := spec.lookUp(t.Context())(
				loop.State{Start: loop.Start{Base: tree.Base()}}, loop.Verdict{MissingNames: tt.gap, Findings: tt.findings},
			)
			if shown(got) != tt.want || got.Defined != tt.defined {
				t.Errorf("found %q, defined %v; want %q, %v", shown(got), got.Defined, tt.want, tt.defined)
			}
		})
	}
	if (&Spec{}).lookUp(t.Context()) != nil {
		t.Error("without git there is somewhere to look")
	}
}

// TestMissingIsBounded: whatever is found, the excerpts stay within six and 8 KB.
func TestMissingIsBounded(t *testing.T) {
	files := map[string]string{}
	for i := range 30 {
		files[fmt.Sprintf("d%d/thing.py", i)] = strings.Repeat("def thing(): "+strings.Repeat("é", 400)+"\n", 100)
	}
	tree := repository(t, files)
	spec := &Spec{Place: Place{Tree: tree}, Output: Output{Log: t.Logf}}
	got := spec.lookUp(t.Context())(
		loop.State{Start: loop.Start{Base: tree.Base()}},
		loop.Verdict{MissingNames: []string{"thing", "d1.thing", "d2.thing", "d3.thing", "d4.thing", "d5.thing", "d6.thing"}},
	)
	bytes := 0
	for _, e := range got.Excerpts {
		bytes += len(e.Text)
	}
	if len(got.Excerpts) == 0 || len(got.Excerpts) > mostShown || bytes > mostContext || len(got.Looked) > mostLooked {
		t.Errorf("%d excerpts of %d bytes for %d names", len(got.Excerpts), bytes, len(got.Looked))
	}
}

// noError ends a test that cannot be made up.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
