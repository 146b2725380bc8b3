package local

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/task"
)

func put(t *testing.T, dir, name, content string) {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := errors.Join(
		os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(content), 0o644),
	); err != nil {
		t.Fatal(err)
	}
}

const form = "title: t\ncompletion: {outcome: x, acceptance_criteria: [y]}\n"

// TestTaskFile: a reference is an id under .ralph/tasks, or a file seen from where one is.
func TestTaskFile(t *testing.T) {
	top := t.TempDir()
	put(t, top, ".ralph/tasks/T-1.yaml", "id: T-1\n"+form)
	put(t, top, ".ralph/tasks/01-first.md", "---\nid: T-2\n---\n# t\n")
	put(t, top, "deep/mine.yaml", "id: MINE\n"+form)
	put(t, top, "deep/T-1", "another file of this name")
	for ref, want := range map[string]string{"T-1": "T-1", "T-2": "T-2", "mine.yaml": "MINE", "./mine.yaml": "MINE",
		filepath.Join(top, "deep/mine.yaml"): "MINE", "../.ralph/tasks/T-1.yaml": "T-1"} {
		if got, err := taskFile(top, filepath.Join(top, "deep"), ref); err != nil || got.ID != want {
			t.Errorf("%s: %q, %v", ref, got.ID, err)
		}
	}
	for ref, want := range map[string]string{
		"T-9": `there is no task "T-9" in .ralph/tasks; there are T-1, T-2`, "gone.yaml": "reading the task gone.yaml",
		"a/b":  "reading the task a/b",
		"mine": `there is no task "mine"`, "../..": "a directory, not a file",
	} {
		if _, err := taskFile(top, filepath.Join(top, "deep"), ref); err == nil || !invalid.Is(err) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", ref, err, want)
		}
	}
	if _, err := taskFile(t.TempDir(), top, "T-1"); err == nil ||
		!strings.Contains(err.Error(), "holds none; create one") {
		t.Errorf("of an empty clone: %v", err)
	}
}

// TestTasksIn: the tasks of a directory come in the order in which they can be done, or not at all.
func TestTasksIn(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"order", map[string]string{"a.yaml": "id: A\ndependencies: [C]\npriority: 1\n" + form,
			"b.yaml": "id: B\npriority: 5\n" + form, "C.md": "# c\n", "README.txt": "not one", ".d.yaml": "not one"}, "C A B"},
		{"unknown", map[string]string{"a.yaml": "id: A\ndependencies: [C]\n" + form},
			`task A depends on "C", which is no task here`},
		{"circle", map[string]string{"a.yaml": "id: A\ndependencies: [B]\n" + form,
			"b.yaml": "id: B\ndependencies: [A]\n" + form}, "A → B → A"},
		{"broken", map[string]string{"a.yaml": "id: A\n" + form, "b.yaml": "id: B\ntitel: x\n"},
			"b.yaml, line 2, column 1: titel is an unknown key"},
		{"one id twice", map[string]string{"a.yaml": "id: A\n" + form, "b.yaml": "id: A\n" + form},
			"two tasks have the id A"},
		{"none", map[string]string{"a.txt": "x"}, "holds no tasks"},
	} {
		dir := t.TempDir()
		for name, content := range c.files {
			put(t, dir, name, content)
		}
		tasks, err := tasksIn(dir)
		var ids []string
		for _, one := range tasks {
			ids = append(ids, one.ID)
		}
		if got := strings.Join(ids, " "); err == nil && got != c.want ||
			err != nil && (!invalid.Is(err) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %s, %v, want %s", c.name, got, err, c.want)
		}
	}
}

// TestTaskStatus: a task stands as its newest run does.
func TestTaskStatus(t *testing.T) {
	top := t.TempDir()
	put(t, top, ".ralph/tasks/T-1.yaml", "id: T-1\n"+form)
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	run := func(dir, id string, end loop.Outcome) {
		t.Helper()
		j, err := journal.Open(filepath.Join(top, ".ralph", "runs", dir))
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		records := []loop.Record{{Type: loop.Started, At: at, Start: &loop.Start{Run: dir, Task: id}}}
		if end != "" {
			records = append(records, loop.Record{Type: loop.Ended, At: at, End: &loop.End{Outcome: end}})
		}
		for _, r := range records {
			if _, err := j.Append(r); err != nil {
				t.Fatal(err)
			}
		}
	}
	status := func() string {
		t.Helper()
		var out bytes.Buffer
		ts := &Tasks{Dir: top, Out: &out, JSON: true}
		if err := ts.Show(t.Context(), "T-1"); err != nil {
			t.Fatal(err)
		}
		var shown Shown
		if err := json.Unmarshal(out.Bytes(), &shown); err != nil {
			t.Fatal(err)
		}
		return shown.Status
	}
	for _, step := range []struct {
		dir, id string
		end     loop.Outcome
		want    string
	}{{"20261121-1", "T-2", loop.Done, "open"}, {"20261121-2", "T-1", loop.Stuck, "stuck"},
		{"20261121-3", "T-1", "", "unfinished"}, {"20261121-4", "T-1", loop.Done, "done"}} {
		run(step.dir, step.id, step.end)
		if got := status(); got != step.want {
			t.Errorf("after %s: %s, want %s", step.dir, got, step.want)
		}
	}
}

// TestHostileTasks: files that somebody put there write nothing elsewhere and nothing to the terminal.
func TestHostileTasks(t *testing.T) {
	top, elsewhere := t.TempDir(), t.TempDir()
	fine := NewTask{
		Task: task.Task{ID: "T-1", Title: "t", Completion: &task.Completion{Outcome: "x", Acceptance: []string{"y"}}},
	}
	if err := os.MkdirAll(filepath.Join(top, ".ralph"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, filepath.Join(top, ".ralph", "tasks")); err != nil {
		t.Fatal(err)
	}
	ts := &Tasks{Dir: top, Out: &bytes.Buffer{}}
	if err := ts.Create(t.Context(), fine); err == nil ||
		!strings.Contains(err.Error(), ".ralph/tasks is a link, which may lead anywhere") {
		t.Errorf("through a link: %v", err)
	}
	if left, _ := os.ReadDir(elsewhere); len(left) > 0 {
		t.Errorf("%v was written elsewhere", left)
	}

	top = t.TempDir()
	put(
		t, top, ".ralph/tasks/T-1.yaml",
		"id: T-1\ntitle: \"\\e]0;gone\\a red \\e[31m\\u202e\"\n"+strings.TrimPrefix(
			form, "title: t\n",
		)+"description: |\n  ::set-env name=x::y\n",
	)
	put(t, top, ".ralph/tasks/dir.yaml/x", "a directory")
	var out bytes.Buffer
	ts = &Tasks{Dir: top, Out: &out}
	if err := ts.Show(t.Context(), "T-1"); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(out.String(), "\x1b\a\u202e") || strings.Contains("\n"+out.String(), "\n::") {
		t.Errorf("shown: %q", out.String())
	}
}
