package detect

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/fake/archive"
)

var update = flag.Bool("update", false, "write the table of docs/internals/detection.md")

// detectRow is a repository, as its top shows it, and what is made of it.
type detectRow struct {
	name   string // what there is; with doc, it is a row of docs/internals/detection.md
	doc    bool
	files  map[string]string
	checks []string // a soft one begins with "~"
	setup  string
	bare   []string // the checks where nothing is installed; nil: not looked at
	notes  []string // the beginning of each
}

// detectRows are the cases of testdata/repositories.txtar, whose lines are "doc" and a kind and its text each.
func detectRows(t testing.TB) (all []detectRow) {
	t.Helper()
	for _, c := range archive.Cases(t, "testdata/repositories.txtar") {
		row := detectRow{name: path.Base(c.Name), files: c.Files}
		for line := range strings.Lines(c.Text) {
			kind, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			switch kind {
			case "doc":
				row.doc = true
			case "check":
				row.checks = append(row.checks, text)
			case "setup":
				row.setup = text
			case "bare":
				row.bare = append(row.bare, text)
			case "note":
				row.notes = append(row.notes, text)
			default:
				t.Fatalf("%s: what does %q mean?", c.Name, line)
			}
		}
		all = append(all, row)
	}
	return all
}

func (r detectRow) contents() map[string][]byte {
	files := map[string][]byte{}
	for name, content := range r.files {
		files[name] = []byte(content)
	}
	return files
}

func TestDetect(t *testing.T) {
	for _, row := range detectRows(t) {
		t.Run(row.name, func(t *testing.T) {
			files := row.contents()
			found := Repository(files)
			var got []string
			for _, d := range found.Checks {
				got = append(got, map[string]string{config.Hard: "", config.Soft: "~"}[d.Severity]+d.Command)
				sameWhy(t, d.Command, d.Why, files)
			}
			if !slices.Equal(got, row.checks) {
				t.Errorf("checks are\n%q, want\n%q", got, row.checks)
			}
			sameBare(t, found, row)
			var installs []string
			for _, s := range found.Setup {
				installs = append(installs, s.Command)
			}
			if setup := strings.Join(installs, " && "); setup != row.setup {
				t.Errorf("setup is %q, want %q", setup, row.setup)
			}
			for _, s := range found.Setup {
				sameWhy(t, s.Command, s.Why, files)
			}
			if len(found.Notes) != len(row.notes) {
				t.Fatalf("notes are %q, want %q", found.Notes, row.notes)
			}
			for i, note := range found.Notes {
				if !strings.HasPrefix(note, row.notes[i]) {
					t.Errorf("note %q does not begin with %q", note, row.notes[i])
				}
			}
		})
	}
}

// sameBare: without a setup, no check asks for what one would have made.
func sameBare(t *testing.T, found Result, row detectRow) {
	t.Helper()
	bare := found.Bare()
	var got []string
	for _, d := range bare.Checks {
		if got = append(got, d.Command); strings.Contains(d.Command, OwnEnvironment) {
			t.Errorf("without a setup %q runs", d.Command)
		}
	}
	if row.bare != nil && !slices.Equal(got, row.bare) {
		t.Errorf("without a setup the checks are %q, want %q", got, row.bare)
	}
	for _, s := range bare.Setup {
		if strings.Contains(s.Command, OwnEnvironment) {
			t.Errorf("without a setup %q is offered", s.Command)
		}
	}
}

// sameWhy: a reason names a file that is there.
func sameWhy(t *testing.T, command, why string, files map[string][]byte) {
	t.Helper()
	for name := range files {
		if strings.Contains(why, name) {
			return
		}
	}
	t.Errorf("%s: the reason %q names no file", command, why)
}

func TestDetectedGuardrailIsComplete(t *testing.T) {
	found := Repository(map[string][]byte{"Cargo.toml": nil, "rustfmt.toml": nil}).Checks
	if g := found[2].Guardrail(); g.Name != "cargo test" || g.FailAction != config.Append || g.Severity != config.Hard ||
		g.Timeout != config.Duration(10*time.Minute) {
		t.Errorf("%+v", g)
	}
	if g := found[0].Guardrail(); g.Severity != config.Soft || g.Timeout != config.Duration(3*time.Minute) {
		t.Errorf("%+v", g)
	}
}

// TestDetectFilesAreThoseThatAreRead: what a row gives content to in order to be detected, a real repository is asked
// for too.
func TestDetectFilesAreThoseThatAreRead(t *testing.T) {
	for _, row := range detectRows(t) {
		given, err := Read(slices.Collect(func(yield func(string) bool) {
			for name := range row.files {
				if !yield(name) {
					return
				}
			}
		}), func(name string, _ int) ([]byte, error) { return []byte(row.files[name]), nil })
		if err != nil || !reflect.DeepEqual(Repository(given), Repository(row.contents())) {
			t.Errorf("%s: read by its names, a repository shows %+v, %v", row.name, Repository(given), err)
		}
	}
}

func TestShown(t *testing.T) {
	files, err := Read([]string{"Makefile", "README.md"}, func(name string, most int) ([]byte, error) {
		return []byte(strings.Repeat("x", most+1)), nil
	})
	if _, there := files["README.md"]; err != nil || !there || files["README.md"] != nil ||
		len(files["Makefile"]) != MaxBytes || len(files) != 2 {
		t.Errorf("%d files, the Makefile of %d bytes, %v", len(files), len(files["Makefile"]), err)
	}
	broken := errors.New("no disk")
	if _, err := Read([]string{"Makefile"}, func(string, int) ([]byte, error) { return nil, broken }); !errors.Is(err,
		broken) {
		t.Errorf("%v", err)
	}
}

func TestBelow(t *testing.T) {
	got := Below([]string{"README.md", "go.mod", "api/go.mod", "api/main.go", "apps/web/package.json", "a/b/c/go.mod",
		"web/node_modules/package.json", "node_modules/x/package.json",
		"-x/go.mod", "we;b/package.json", "a/Makefile", "b/Cargo.toml", "c/pom.xml", "d/pom.xml"})
	if want := []string{"api/go.mod", "apps/web/package.json", "a/Makefile", "b/Cargo.toml",
		"c/pom.xml"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// line is all that a command line can be made of.
var line = regexp.MustCompile(`^[A-Za-z0-9 ._/:=@\[\]'-]+( && [A-Za-z0-9 ._/:=@\[\]'-]+)*$`)

func wellFormed(t *testing.T, files map[string][]byte) {
	t.Helper()
	found := Repository(files)
	for _, d := range found.Checks {
		if !line.MatchString(d.Command) || strings.Contains(d.Command, "..'") ||
			strings.Contains(strings.ReplaceAll(d.Command, "/...", ""), "..") || d.Why == "" || len(d.Command) > 6000 {
			t.Errorf("check %q, %q", d.Command, d.Why)
		}
	}
	for _, s := range found.Setup {
		if !line.MatchString(s.Command) || s.Why == "" {
			t.Errorf("setup %q, %q", s.Command, s.Why)
		}
	}
	if !reflect.DeepEqual(found, Repository(files)) {
		t.Error("the same files are seen differently")
	}
}

// FuzzDetect: whatever is in files, and whatever they are called, a command line is made of fixed words and plain
// names.
func FuzzDetect(f *testing.F) {
	for _, row := range detectRows(f) {
		for name, content := range row.files {
			f.Add(name, content, "x.sln")
		}
	}
	for _, hostile := range []string{"use ./$(reboot)\n", "use (\n\t./a`b`\n)\n",
		`{"packageManager":"npm;x@1","scripts":{"lint; x":"y","test":"vitest --watch $(x)"}}`, "test;x:\n\ttrue\n",
		"tasks:\n  test; x: y\n", `{"workflowPresets":[{"name":"a b"},{"name":"-x"}]}`,
		"[project.optional-dependencies]\n\"test'; x\"=['pytest']\n"} {
		f.Add("go.work", hostile, "a b.sln")
	}
	f.Fuzz(func(t *testing.T, name, content, other string) {
		for _, known := range Files {
			files := map[string][]byte{known: []byte(content), name: []byte(content), other: nil}
			if known == "CMakePresets.json" {
				files["CMakeLists.txt"] = nil
			}
			wellFormed(t, files)
		}
	})
}

// TestDetectIsBounded: no content within the bound brings a parser down, or keeps it busy for long: what is read by
// patterns is read in linear time anyway.
func TestDetectIsBounded(t *testing.T) {
	for _, part := range []string{"[", "a.", "a={", `{"a":`, "[a.b]\n", "'", "tasks:\n "} {
		for _, prefix := range []string{"", "a=", `{"scripts":`} {
			content := []byte(prefix + strings.Repeat(part, MaxBytes/len(part)))
			files := map[string][]byte{"CMakeLists.txt": nil}
			for _, name := range []string{"package.json", "deno.jsonc", "pyproject.toml", "Cargo.toml", "composer.json",
				"CMakePresets.json", "Taskfile.yml", "go.work"} {
				files[name] = content
			}
			if len(Repository(files).Checks) == 0 {
				t.Errorf("%.10q…: a Cargo.toml shows nothing", content)
			}
		}
	}
}

// TestDetectionIsDocumented: the rows of docs/internals/detection.md are what the examples show.
func TestDetectionIsDocumented(t *testing.T) {
	var table strings.Builder
	for _, row := range detectRows(t) {
		if !row.doc {
			continue
		}
		fmt.Fprintf(&table, "| %s | %s | %s |\n", row.name, documented(row.checks),
			cmp.Or(documented([]string{row.setup}), "–"))
	}
	documentedAs(t, "| there is | checks | installed before |\n|---|---|---|\n", table.String())
}

// documented are commands for a table.
func documented(commands []string) string {
	var out []string
	for _, c := range commands {
		if soft := strings.TrimPrefix(c, "~"); soft != c {
			out = append(out, "`"+soft+"` (soft)")
		} else if c != "" {
			out = append(out, "`"+c+"`")
		}
	}
	return strings.Join(out, ", ")
}

// TestWatches has the output of tools that wait for changes, and of some that do not.
func TestWatches(t *testing.T) {
	for _, tt := range []struct {
		command, output string
		summed          bool
		want            string
	}{
		{"make test", "\n DEV  v3.0.5 /app\n\n Tests  1 passed (1)\n", true, "vitest run"},
		{"npm test", "> jest --watch\n\nTests:       3 passed, 3 total\n", true, "--watch=false"},
		{"npm test", "> jest --watch\n", false, ""}, // it may not have run its tests yet
		{"npx jest --watchAll", "Tests: 1 passed\n\nWatch Usage\n › Press f\n", true, "--watch=false"},
		{"deno test --watch", "Watcher Test started.\nok | 1 passed\nWatcher Test finished. Restarting on file change...\n", true, "without --watch"},
		{"make e2e", "cypress open\n", false, "cypress run"},
		{"make test", "mocha -w\n  1 passing (2ms)\n", true, "--no-watch"},
		{"make build", "10:00:00 - Found 0 errors. Watching for file changes.\n", false, "without its watch mode"},
		{"npx ava --watch", "3 tests passed\n", true, "without --watch"},
		{"go test ./...", "ok  a 0.1s\nok  b 0.2s\n", true, ""},
		{"npm test", "> vitest run\n\n RUN  v3.0.5 /app\n Tests  1 passed (1)\n", true, ""},
		{"npm test", "> vitest\n\n RUN  v3.0.5 /app\n Tests  1 passed (1)\n", true, ""}, // CI is set
		{"make test", "Tests: 3 passed\nuse --watch to run them again\n", true, ""},
	} {
		if got := Watches(tt.command, tt.output, tt.summed); !strings.Contains(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("%s: %q\n got %q, want %q", tt.command, tt.output, got, tt.want)
		}
	}
}
