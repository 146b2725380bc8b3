package main

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"
)

// A tree is a directory: a path with slashes → content.
type tree map[string]string

// A swap replaces one piece of text by another.
type swap struct{ old, new string }

// A task is one bug, what is known of it in the repository, and what only the benchmark knows.
type task struct {
	name   string
	lang   string // "go", "python" or "javascript"
	title  string
	text   string
	shows  string   // the names of the visible tests that fail
	module []string // path, old and new version, where the files are those of a Go module
	base   tree     // the code with the bug, and tests that pass
	red    tree     // visible tests that fail because of the bug
	fix    tree     // the files of an honest answer, whole
	hidden tree     // tests that only the benchmark has
	edits  []swap   // make the visible tests pass without a fix
	breaks []swap   // make a test of the base fail, in the files of the fix
}

//go:embed tasks
var embedded embed.FS

// check is the command that runs every test of a task's language, in a directory with a task's files.
var check = map[string]string{"go": "go test -vet=off ./...", "python": "python3 -m unittest", "javascript": "node --test"}

// tasks reads all tasks by name. Those whose module is not available are left out and named in absent, with the reason.
func tasks() (all []task, absent []string, err error) {
	files, err := fs.Glob(embedded, "tasks/*.txtar")
	if err != nil {
		return nil, nil, err
	}
	for _, file := range files {
		text, err := embedded.ReadFile(file)
		if err != nil {
			return nil, nil, err
		}
		t, err := parseTask(strings.TrimSuffix(path.Base(file), ".txtar"), txtar.Parse(text))
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", file, err)
		}
		if t.module != nil {
			if err := t.fetch(); err != nil {
				absent = append(absent, fmt.Sprintf("%s: %v", t.name, err))
				continue
			}
		}
		all = append(all, t)
	}
	return all, absent, nil
}

// parseTask reads one archive. Its comment has lines "lang: NAME", "shows: TESTS", "edit: OLD ==> NEW", "break: OLD ==> NEW", and
// "module: PATH OLD NEW" when the files are those of a Go module.
func parseTask(name string, archive *txtar.Archive) (task, error) {
	t := task{name: name, base: tree{}, red: tree{}, fix: tree{}, hidden: tree{}}
	for line := range strings.Lines(string(archive.Comment)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		from, to, isSwap := strings.Cut(value, " ==> ")
		switch {
		case key == "lang" && check[value] != "":
			t.lang = value
		case key == "shows":
			t.shows = value
		case key == "module" && len(strings.Fields(value)) == 3:
			t.module = strings.Fields(value)
		case key == "edit" && isSwap:
			t.edits = append(t.edits, swap{from, to})
		case key == "break" && isSwap:
			t.breaks = append(t.breaks, swap{from, to})
		default:
			return t, fmt.Errorf("line %q has an unknown key or value", line)
		}
	}
	places := map[string]tree{"base": t.base, "red": t.red, "fix": t.fix, "hidden": t.hidden}
	for _, f := range archive.Files {
		dir, name, _ := strings.Cut(f.Name, "/")
		if f.Name == "task.md" {
			t.title, t.text, _ = strings.Cut(strings.TrimSpace(string(f.Data)), "\n")
		} else if places[dir] != nil {
			places[dir][name] = string(f.Data)
		} else {
			return t, fmt.Errorf("file %q must be task.md or in base, red, fix or hidden", f.Name)
		}
	}
	if t.lang == "" || t.title == "" || t.shows == "" {
		return t, fmt.Errorf("a task needs a language, a title, and the names of the tests that fail")
	}
	return t, nil
}

// fetch fills in the files of a task made of two versions of a module: the old code, the tests of the new version that
// differ, and the code of the new version that differs.
func (t *task) fetch() error {
	old, err := module(t.module[0] + "@" + t.module[1])
	if err != nil {
		return err
	}
	newer, err := module(t.module[0] + "@" + t.module[2])
	if err != nil {
		return err
	}
	if old["go.mod"] == "" {
		old["go.mod"], newer["go.mod"] = "module "+t.module[0]+"\n", "module "+t.module[0]+"\n"
	}
	t.base = old
	for name, text := range newer {
		switch {
		case old[name] == text:
		case isTest(name):
			t.red[name] = text
		case strings.HasSuffix(name, ".go"), name == "go.mod", name == "go.sum":
			t.fix[name] = text
		}
	}
	t.hidden = t.red
	return nil
}

// module downloads a version through Go's module proxy, if the module cache does not have it, and reads its files.
func module(version string) (tree, error) {
	cmd := exec.Command("go", "mod", "download", "-json", version)
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod")
	cmd.Dir = os.TempDir()
	out, err := cmd.Output()
	var got struct{ Dir, Error string }
	if json.Unmarshal(out, &got) != nil || got.Dir == "" {
		return nil, fmt.Errorf("module %s could not be downloaded: %w %s", version, err, got.Error)
	}
	return readTree(got.Dir)
}

func readTree(dir string) (tree, error) {
	all := tree{}
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		name, err = filepath.Rel(dir, name)
		all[filepath.ToSlash(name)] = string(text)
		return err
	})
	return all, err
}

// write puts the files of trees into dir, those of later trees over those of earlier ones.
func write(dir string, trees ...tree) error {
	for _, t := range trees {
		for name, text := range t {
			file := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// product is the file of the fix that says most of the bug: the first that is source.
func (t task) product() string {
	for _, name := range slices.Sorted(maps.Keys(t.fix)) {
		if t.base[name] != "" && slices.Contains([]string{".go", ".py", ".mjs"}, path.Ext(name)) {
			return name
		}
	}
	return ""
}

// tests are the files of t that hold tests.
func (t task) tests() tree {
	all := tree{}
	for name, text := range t.base {
		if isTest(name) {
			all[name] = text
		}
	}
	maps.Copy(all, t.red)
	maps.Copy(all, t.hidden)
	return all
}

func isTest(name string) bool {
	dir, base := path.Split(name)
	return strings.HasSuffix(base, "_test.go") || strings.HasPrefix(base, "test_") || strings.HasSuffix(base, ".test.mjs") ||
		strings.HasSuffix(dir, "fixtures/") || strings.Contains(dir, "testdata/")
}

func apply(text string, swaps []swap) string {
	for _, s := range swaps {
		text = strings.ReplaceAll(text, s.old, s.new)
	}
	return text
}
