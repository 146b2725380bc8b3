// Package internal_test holds the rooms to their plan: which room may know which (arrows), and who alone reaches an
// outside thing (doors). .golangci.yml says a part of the same to whoever lints.
package internal_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/ralph-loop/ralph/"

// source is a Go file that is not a test.
type source struct {
	path    string // from the root of the module: "internal/loop/next.go"
	room    string // "loop", "cmd"
	text    string
	imports []string
	file    *ast.File
}

// arrows are what each room may import of the others, as the table of docs/internals/architecture.md says. A room that may import
// everything is not in it.
func arrows(t *testing.T) map[string][]string {
	t.Helper()
	page, err := os.ReadFile("../docs/internals/architecture.md")
	noError(t, err)
	rows := map[string][]string{}
	for _, m := range roomRow.FindAllStringSubmatch(string(page), -1) {
		if strings.Contains(m[3], "everything") {
			continue
		}
		rows[m[2]] = []string{}
		for _, of := range quoted.FindAllStringSubmatch(m[3], -1) {
			rows[m[2]] = append(rows[m[2]], of[1])
		}
	}
	if len(rows) < 20 {
		t.Fatalf("the table has %d rooms", len(rows))
	}
	return rows
}

var (
	roomRow = regexp.MustCompile("(?m)^\\| `(internal/)?([a-z/]+)` \\|.*\\| ([^|]*) \\|$")
	quoted  = regexp.MustCompile("`([a-z]+)`")
)

// doors are the packages that only the listed rooms may import.
var doors = map[string][]string{
	"github.com/google/go-github":           {"github", "fake"},
	"github.com/bradleyfalzon":              {"github"},
	"golang.org/x/oauth2":                   {"github"},
	"github.com/coreos/go-oidc":             {"github"},
	"github.com/sethvargo/go-githubactions": {"actions"},
	"github.com/alecthomas/kong":            {"cmd"},
	"os/exec":                               {"proc", "fake"},
	"database/sql":                          {"store"},
	"modernc.org/sqlite":                    {"store"},
}

// pure rooms get what they need as arguments.
var pure = []string{"event", "task", "loop", "failure", "report", "hook", "bisect", "cleanup", "plan", "diffscan",
	"safetext", "detect"}

func TestArrows(t *testing.T) {
	arrows := arrows(t)
	for _, s := range sources(t) {
		allowed, listed := arrows[s.room]
		if !listed && s.room != "cmd" && s.room != "fake" {
			t.Errorf("%s: the table of docs/internals/architecture.md has no row for %s", s.path, s.room)
		}
		for _, path := range s.imports {
			room, ours := strings.CutPrefix(path, module+"internal/")
			room, _, _ = strings.Cut(room, "/")
			if !ours || !listed || room == s.room {
				continue
			}
			if !slices.Contains(allowed, room) {
				t.Errorf("%s imports %s: %s may import only %v", s.path, path, s.room, allowed)
			}
		}
	}
}

func TestDoors(t *testing.T) {
	for _, s := range sources(t) {
		for _, path := range s.imports {
			for door, owners := range doors {
				if within(path, door) && !slices.Contains(owners, s.room) {
					t.Errorf("%s imports %s: only %v may", s.path, path, owners)
				}
			}
			if slices.Contains(pure, s.room) && impure(path) {
				t.Errorf("%s imports %s: %s is pure", s.path, path, s.room)
			}
			if s.room == "config" && within(path, "os") {
				t.Errorf("%s imports %s: config gets bytes and maps", s.path, path)
			}
		}
	}
}

func impure(path string) bool {
	for _, outside := range []string{"os", "net", "syscall", "runtime", "database", "log", "io/ioutil", "path/filepath"} {
		if within(path, outside) && path != "net/url" { // which only parses
			return true
		}
	}
	return false
}

// within reports whether path is parent or below it; a major version counts as below: go-github/v60.
func within(path, parent string) bool { return path == parent || strings.HasPrefix(path, parent+"/") }

// TestTheEnvironmentIsReadOnce: only main hands the process's environment on; nobody looks up a variable by name.
func TestTheEnvironmentIsReadOnce(t *testing.T) {
	for _, s := range sources(t) {
		for _, used := range selected(s.file) {
			if s.room != "fake" && slices.Contains([]string{"os.Getenv", "os.LookupEnv", "os.ExpandEnv"}, used) { // only tests use fakes
				t.Errorf("%s uses %s: the environment is read once, in cmd", s.path, used)
			}
		}
	}
}

// selected are the names of packages that a part of a file uses: "os.Getenv".
func selected(part ast.Node) (names []string) {
	ast.Inspect(part, func(n ast.Node) bool {
		if of, ok := n.(*ast.SelectorExpr); ok {
			if in, ok := of.X.(*ast.Ident); ok && in.Obj == nil {
				names = append(names, in.Name+"."+of.Sel.Name)
			}
		}
		return true
	})
	return names
}

// TestEveryRoomHasItsSentence: a package says in one sentence what it is for. A name that says nothing collects everything.
func TestEveryRoomHasItsSentence(t *testing.T) {
	said := map[string]bool{}
	for _, s := range sources(t) {
		dir := filepath.Dir(s.path)
		said[dir] = said[dir] || s.file.Doc != nil
		if slices.Contains([]string{"util", "utils", "common", "shared", "helpers", "manager", "misc"}, s.file.Name.Name) {
			t.Errorf("%s: package %s", s.path, s.file.Name.Name)
		}
	}
	for dir, ok := range said {
		if !ok {
			t.Errorf("%s: no file says what the package is for", dir)
		}
	}
}

// sources parses every Go file of cmd and internal that is not a test, once.
func sources(t *testing.T) []source {
	t.Helper()
	found, err := parsed()
	noError(t, err)
	return found
}

var parsed = sync.OnceValues(func() (found []source, err error) {
	for path, text := range goFiles() {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		s, failed := parse(path, text)
		found, err = append(found, s), errors.Join(err, failed)
	}
	slices.SortFunc(found, func(a, b source) int { return strings.Compare(a.path, b.path) })
	return found, err
})

// goFiles are the texts of all Go files of cmd and internal, by their paths from the root of the module.
var goFiles = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for _, top := range []string{"../cmd", "../internal"} {
		err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && entry.Name() == "testdata":
				return fs.SkipDir
			case entry.IsDir() || !strings.HasSuffix(path, ".go"):
				return nil
			}
			text, err := os.ReadFile(path)
			all[filepath.ToSlash(strings.TrimPrefix(path, "../"))] = string(text)
			return err
		})
		if err != nil {
			panic(err)
		}
	}
	return all
})

func parse(path, text string) (source, error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ParseComments)
	if err != nil {
		return source{}, err
	}
	s := source{path: path, text: text, file: file}
	steps := strings.Split(s.path, "/")
	s.room = steps[0]
	if s.room == "internal" {
		s.room = steps[1]
	}
	for _, spec := range file.Imports {
		s.imports = append(s.imports, strings.Trim(spec.Path.Value, `"`))
	}
	return s, nil
}
