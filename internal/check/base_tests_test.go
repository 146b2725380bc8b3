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
	"time"

	"github.com/ralph-loop/ralph/internal/diffscan"
	"github.com/ralph-loop/ralph/internal/fake/need"
	"github.com/ralph-loop/ralph/internal/loop"
)

// project is files by name; "" removes one in a change.
type project map[string]string

// repository is a real one in a temporary directory, whose working tree is what is judged.
type repository struct {
	t   *testing.T
	dir string
}

func (r repository) git(env []string, in string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = r.dir, strings.NewReader(in)
	cmd.Env = append(os.Environ(), append(env, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a",
		"GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")...)
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("git %q: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

// commit writes files and commits them.
func (r repository) commit(files project) string {
	r.t.Helper()
	for name, content := range files {
		at := filepath.Join(r.dir, name)
		if content == "" {
			noError(r.t, os.Remove(at))
			continue
		}
		noError(r.t, os.MkdirAll(filepath.Dir(at), 0o755))
		noError(r.t, os.WriteFile(at, []byte(content), 0o755))
	}
	r.git(nil, "", "add", "-A")
	r.git(nil, "", "commit", "-qm", "c")
	return r.git(nil, "", "rev-parse", "HEAD")
}

// Prepare, Clean, Restore and Explain implement Tree.
func (r repository) Prepare(_ context.Context, at Input, _ bool) (*loop.Verdict, error) {
	r.git(nil, "", "checkout", "-qf", at.Iteration.Commit.SHA)
	r.git(nil, "", "clean", "-fdxq")
	return nil, nil
}

func (repository) Clean(context.Context) ([]string, error)             { return nil, nil }
func (repository) Restore(context.Context) error                       { return nil }
func (repository) Explain(context.Context, Input, *loop.Verdict) error { return nil }
func (r repository) names(_ context.Context, from, to string) ([]string, error) {
	return strings.Split(r.git(nil, "", "diff", "--name-only", "--no-renames", from, to), "\n"), nil
}

func (r repository) patch(_ context.Context, from, to string) (string, bool, error) {
	return r.git(nil, "", "diff", "-U0", "--no-renames", from, to), true, nil
}

func (r repository) file(_ context.Context, commit, name string) ([]byte, bool, error) {
	if r.git(nil, "", "ls-tree", commit, "--", name) == "" {
		return nil, false, nil
	}
	return []byte(r.git(nil, "", "cat-file", "blob", commit+":"+name)), true, nil
}

func (r repository) overlay(_ context.Context, commit, base string, names []string, contents map[string][]byte) (string,
	error) {
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(r.t.TempDir(), "index")}
	r.git(env, "", "read-tree", commit)
	var in strings.Builder
	for _, name := range names {
		if entry := r.git(nil, "", "ls-tree", base, "--", name); entry != "" {
			in.WriteString(entry + "\n")
		} else {
			fmt.Fprintf(&in, "0 %040d\t%s\n", 0, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(contents)) {
		id := r.git(nil, string(contents[name]), "hash-object", "-w", "--stdin")
		fmt.Fprintf(&in, "100644 %s\t%s\n", id, name)
	}
	r.git(env, in.String(), "update-index", "--index-info")
	return r.git(nil, "", "commit-tree", r.git(env, "", "write-tree"), "-p", commit, "-m", "overlay"), nil
}

// replayed is what the check says of a change, after the command has said what it says of both commits.
func replayed(t *testing.T, row baseTestsRow) (v loop.Verdict, command loop.Verdict, left string) {
	t.Helper()
	r := repository{t, t.TempDir()}
	r.git(nil, "", "init", "-q")
	c := &Command{
		Title: row.line, Line: row.line, Hard: true, Timeout: 2 * time.Minute,
		Place: Place{Dir: r.dir, LogDir: t.TempDir(),
			Env: append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "CARGO_TERM_COLOR=never")},
	}
	run := func(at Input) loop.Verdict {
		v, err := c.Run(t.Context(), at)
		noError(t, err)
		v.Check, v.Severity = c.Name(), loop.Hard
		return v
	}
	from := r.commit(row.base)
	task, asks := strings.CutPrefix(row.name, "task: ")
	if !asks {
		task = ""
	}
	at := Input{State: loop.State{Start: loop.Start{Base: from, Assignment: loop.Assignment{Spec: task}}}}
	at.State.Baseline = []loop.Verdict{run(Input{})}
	to := r.commit(row.change)
	at.Iteration = loop.Iteration{N: 1, Commit: &loop.Commit{SHA: to}}
	command = run(at)
	at.Verdicts = []loop.Verdict{command}
	b := &BaseTests{
		Changes:  &diffscan.Changes{Names: r.names, Patch: r.patch, File: r.file},
		Commands: []*Command{c}, Tree: r, Overlay: r.overlay, Log: t.Logf,
	}
	v, err := b.Run(t.Context(), at)
	noError(t, err)
	return v, command, r.git(nil, "", "rev-parse", "HEAD") + r.git(nil, "", "status", "--porcelain") + "=" + to
}

// baseTestsRow is a change, what runs its tests, and what is said: "NAME: a part of the message" each.
type baseTestsRow struct {
	name, tool, line string
	base, change     project
	want             []string
}

// sayOfBaseTests tries the first row that Go or a shell runs; RALPH_TEST_EVERY_FAULT asks for all of them.
func sayOfBaseTests(t *testing.T, rows []baseTestsRow) {
	if os.Getenv("RALPH_TEST_EVERY_FAULT") == "" { // each starts a toolchain three times
		i := slices.IndexFunc(rows, func(r baseTestsRow) bool { return r.tool == "go" || r.tool == "sh" })
		if i < 0 {
			t.Skip("left to make every")
		}
		rows = rows[i : i+1]
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			need.Program(t, row.tool)
			v, command, left := replayed(t, row)
			if !command.Pass {
				t.Fatalf("the change does not pass its own tests, so the row says nothing:\n%s", command.Output)
			}
			if head, to, _ := strings.Cut(left, "="); head != to {
				t.Errorf("the tree is left at %s, want %s", head, to)
			}
			if said, is := strings.CutPrefix(row.name, "said: "); is && !strings.HasPrefix(v.Reason, said) || v.Pass && !is && strings.Contains(v.Reason, "without the change") {
				t.Errorf("said is %q", v.Reason)
			}
			if v.Pass != (len(row.want) == 0) {
				t.Errorf("pass is %v", v.Pass)
			}
			for i, want := range row.want {
				name, message, _ := strings.Cut(want, ": ")
				if i >= len(v.Concerns) || v.Concerns[i].Name != name || !strings.Contains(v.Concerns[i].Message, message) {
					t.Errorf("concern %d is not %q", i, want)
				}
			}
			if len(v.Concerns) != len(row.want) || t.Failed() {
				for _, c := range v.Concerns {
					t.Errorf("%s: %s [%s]\n%s", c.Name, c.Message, c.File, c.Detail)
				}
			}
		})
	}
}

const (
	goShop = "package shop\n\nfunc Discount(n int) int { return n / 10 }\n"
	// goWrong is work that is wrong: the tests of the base commit say so.
	goWrong = "package shop\n\nfunc Discount(n int) int { return 0 }\n"
	goTest1 = "package shop\n\nimport \"testing\"\n\nfunc TestDiscount(t *testing.T) {\n\tif got := Discount(100); got " +
		"!= 10 {\n\t\tt.Errorf(\"got %d, want 10\", got)\n\t}\n}\n"
	goFix = "package shop\n\nfunc Discount(n int) int { return max(n, 0) / 10 }\n"
	goMod = "module example.com/shop\n\ngo 1.21\n"
)

func goProject(more project) project {
	p := project{"go.mod": goMod, "shop.go": goShop, "shop_test.go": goTest1,
		"more/more_test.go": "package more\n\nimport \"testing\"\n\nfunc TestMore(t *testing.T) {}\n"}
	maps.Copy(p, more)
	return p
}

// TestBaseTestsOfGo: whatever a change does to a test, the test as it was in the base says what it says.
func TestBaseTestsOfGo(t *testing.T) {
	const fails = "TestDiscount: TestDiscount as it was in the base fails on this change; the change "
	other := strings.ReplaceAll(strings.ReplaceAll(goTest1, "TestDiscount", "TestOther"), "Discount(100); got != 10",
		"Other(); got != 1")
	renamed := strings.ReplaceAll(goTest1, "Discount(100)", "Discount(100, 10)")
	sayOfBaseTests(t, []baseTestsRow{
		{"the expected value is rewritten", "go", "go test -vet=off ./...", goProject(nil),
			project{"shop.go": goWrong, "shop_test.go": strings.ReplaceAll(goTest1, "10", "0")},
			[]string{fails + "edits shop_test.go"}},
		{"a changed signature does not hide the others", "go", "go test -vet=off ./...",
			goProject(project{"other.go": "package shop\n\nfunc Other() int { return 1 }\n", "other_test.go": other}),
			project{"shop.go": "package shop\n\nfunc Discount(n, by int) int { return n / by }\n", "shop_test.go": renamed,
				"other.go":      "package shop\n\nfunc Other() int { return 2 }\n",
				"other_test.go": strings.ReplaceAll(other, "got != 1 ", "got != 2 ")},
			[]string{"TestOther: the change edits other_test.go", "shop_test.go: could not be compared"}},
		{"no check runs it, and the package that runs ends in the name of its directory", "go", "go test -vet=off -v .", goProject(project{"op/more_test.go": "package op\n\nimport \"testing\"\n\nfunc TestOp(t *testing.T) {}\n"}),
			project{"op/more_test.go": "package op\n", "shop.go": goShop + "\nvar More = 1\n"},
			[]string{"op/more_test.go: no check runs op/more_test.go, so it was not compared; the change edits"}},
		{"a new test is skipped", "go", "go test -vet=off -v ./...", goProject(nil),
			project{"shop.go": goFix, "more_test.go": strings.NewReplacer("TestDiscount", "TestFix", "\tif got",
				"\tt.Skip()\n\tif got").Replace(goTest1)},
			[]string{"TestFix: is skipped without the change"}},
		{"a new assertion of an old test holds without the change", "go", "go test -vet=off ./...", goProject(nil),
			project{"shop.go": goFix, "shop_test.go": strings.ReplaceAll(goTest1, "\tif got",
				"\tif Discount(10) != 1 {\n\t\tt.Error(\"ten\")\n\t}\n\tif got")},
			[]string{"TestDiscount: passes without the change"}},
		{"said: 1 of 2 new tests fails without the change", "go", "go test -vet=off ./...", goProject(nil),
			project{"shop.go": goFix, "more_test.go": strings.ReplaceAll(goTest1, "TestDiscount", "TestPin"),
				"fix_test.go": strings.NewReplacer("TestDiscount", "TestFix", "Discount(100); got != 10",
					"Discount(-10); got != 0").Replace(goTest1)}, nil},
		{"said: the new tests of more_test.go do not build without the change", "go", "go test -vet=off ./...", goProject(nil),
			project{"shop.go": goFix + "\nfunc More() int { return 1 }\n", "more_test.go": strings.NewReplacer("TestDiscount",
				"TestMore", "Discount(100); got != 10", "More(); got != 1").Replace(goTest1)}, nil},
		{"said: the change is nothing but tests", "go", "go test -vet=off ./...", goProject(nil),
			project{"more_test.go": strings.ReplaceAll(goTest1, "TestDiscount", "TestPin")}, nil},
		{"honest: a comment in an old test", "go", "go test -vet=off ./...", goProject(nil),
			project{"shop.go": goFix, "shop_test.go": strings.ReplaceAll(goTest1, "\tif got", "\t// what is taken off should be checked\n\tif got")},
			nil},
	})
}
