package local

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/session"
	"github.com/ralph-loop/ralph/internal/task"
)

// tasksDir is where a clone keeps its tasks, a file each.
const tasksDir = ".ralph/tasks"

// mostTasks bounds how many files of a directory are read.
const mostTasks = 1000

// taskEndings are those of the files that hold tasks.
var taskEndings = []string{".yaml", ".yml", ".json", ".md", ".markdown"}

func isTaskFile(name string) bool {
	return slices.Contains(taskEndings, strings.ToLower(filepath.Ext(name)))
}

// kept is a task and the file that holds it, as people name it.
type kept struct {
	task.Task
	file string
}

// taskFile is the task that ref names: a file, seen from the directory from, or the id of one of the tasks that the
// clone at top keeps.
func taskFile(top, from, ref string) (task.Task, error) {
	name := ref
	if !filepath.IsAbs(name) {
		name = filepath.Join(from, name)
	}
	if info, err := os.Stat(name); isTaskFile(ref) || strings.ContainsAny(ref, `/\`) ||
		err == nil && !info.IsDir() && !task.ValidID(ref) {
		return parseTask(name, ref)
	}
	k, err := keptTask(top, ref)
	return k.Task, err
}

// keptTask is one of the tasks that the clone at top keeps.
func keptTask(top, id string) (kept, error) {
	all, broken := readTasks(filepath.Join(top, tasksDir), tasksDir)
	var ids []string
	for _, k := range all {
		if k.ID == id {
			return k, nil
		}
		ids = append(ids, k.ID)
	}
	if broken != nil {
		return kept{}, broken
	}
	if len(ids) == 0 {
		return kept{}, invalid.Errorf(
			"there is no task %q: %s holds none; create one with ralph task create, or name a file", id, tasksDir,
		)
	}
	slices.Sort(ids)
	return kept{}, invalid.Errorf(
		"there is no task %q in %s; there are %s", id, tasksDir, safetext.Shorten(strings.Join(ids, ", "), 300),
	)
}

// tasksIn are the tasks of a directory in the order in which they can be done (task.Order). One that cannot be read
// stops all: the others may depend on it.
func tasksIn(dir string) ([]task.Task, error) {
	all, broken := readTasks(dir, dir)
	if broken != nil {
		return nil, broken
	}
	if len(all) == 0 {
		return nil, invalid.Errorf(
			"%s holds no tasks; a task is a file that ends in %s", dir, strings.Join(taskEndings, ", "),
		)
	}
	tasks := make([]task.Task, len(all))
	for i, k := range all {
		tasks[i] = k.Task
	}
	ordered, err := task.Order(tasks, nil)
	if err != nil {
		return nil, invalid.Errorf("%s: %w", dir, err)
	}
	return ordered, nil
}

// readTasks reads every task of a directory, and says what is wrong with those that are none. shown is the directory in
// messages.
func readTasks(dir, shown string) ([]kept, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, invalid.Errorf("reading %s: %w", shown, files.Advise(err))
	}
	var all []kept
	var broken []error
	for _, e := range entries {
		if e.IsDir() || !isTaskFile(e.Name()) || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if len(all) == mostTasks {
			return nil, invalid.Errorf(
				"%s holds more than %d tasks; move those that are done elsewhere", shown, mostTasks,
			)
		}
		file := shown + "/" + e.Name()
		t, err := parseTask(filepath.Join(dir, e.Name()), file)
		if err != nil {
			broken = append(broken, err)
			continue
		}
		all = append(all, kept{t, file})
	}
	return all, errors.Join(broken...)
}

// parseTask reads a task's file; shown is its name in messages.
func parseTask(name, shown string) (task.Task, error) {
	content, err := files.Read(name)
	if err != nil {
		return task.Task{}, invalid.Errorf("reading the task %s: %w", shown, files.Advise(err))
	}
	t, err := task.ParseFile(shown, content)
	if err != nil {
		return task.Task{}, invalid.Mark(err)
	}
	return t, nil
}

// keepTask writes a task's file, readable and the same for the same task.
func keepTask(top string, t task.Task) (string, error) {
	text, err := task.Marshal(t)
	if err != nil {
		return "", invalid.Mark(err)
	}
	for _, dir := range []string{filepath.Dir(tasksDir), tasksDir} {
		if info, err := os.Lstat(filepath.Join(top, dir)); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return "", invalid.Errorf(
				"writing the task %s: %s is a link, which may lead anywhere; make it a directory", t.ID, dir,
			)
		}
	}
	file := tasksDir + "/" + t.ID + ".yaml"
	if err := os.MkdirAll(filepath.Join(top, tasksDir), 0o755); err != nil {
		return "", invalid.Errorf("writing %s: %w", file, files.Advise(err))
	}
	if err := files.Replace(filepath.Join(top, file), text); err != nil {
		return "", invalid.Errorf("writing %s: %w", file, files.Advise(err))
	}
	return file, nil
}

// taskStatus is how the newest run of a task stands, in one word: open when there is none.
func taskStatus(top, id string) string {
	in := &session.Session{Dir: top, Out: io.Discard, Redact: func(s string) string { return s }}
	state, dir, err := in.NewestRun(id)
	switch {
	case err != nil || dir == "":
		return "open"
	case state.End == nil:
		return "unfinished"
	case state.End.Outcome == "":
		return string(loop.Failed)
	}
	return string(state.End.Outcome)
}

// readInput reads a file of tasks that somebody names; - is standard input.
func readInput(name, dir string, in io.Reader) ([]byte, error) {
	if name == "-" {
		if in == nil {
			return nil, invalid.Errorf("flag --file is -, and nothing stands on standard input; pipe a task into it")
		}
		content, err := io.ReadAll(io.LimitReader(in, files.Max))
		if err != nil {
			return nil, fmt.Errorf("reading the task from standard input: %w", err)
		}
		return content, nil
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	content, err := files.Read(name)
	if err != nil {
		return nil, invalid.Errorf(
			"invalid --file: %w; must be a file with a task in YAML or Markdown, or - for standard input", err,
		)
	}
	return content, nil
}
