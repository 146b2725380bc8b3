package local

import (
	"context"
	_ "embed"
	"encoding/json"
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

// Tasks are the tasks that a clone keeps as files under .ralph/tasks.
type Tasks struct {
	Dir  string // the current directory
	In   io.Reader
	Out  io.Writer
	JSON bool // print JSON for programs
}

// NewTask is a task to create: what the command line says of it, and the file that says the rest.
type NewTask struct {
	task.Task
	File  string // "": none; "-": standard input
	Force bool   // replace the task of this id
}

// Create stores a task, when it says what done means.
func (ts *Tasks) Create(ctx context.Context, n NewTask) error {
	t := n.Task
	if n.File != "" {
		content, err := readInput(n.File, ts.Dir, ts.In)
		if err != nil {
			return err
		}
		name := n.File
		if name == "-" {
			name = "standard input"
		}
		read, err := task.ParseFile(name, content)
		if err != nil {
			return invalid.Mark(err)
		}
		t = over(read, n.Task)
	}
	return ts.keep(session.Top(ts.Dir), t, n.Force)
}

// Followup stores a task that depends on another and inherits from it what it does not say itself, but for the outcome
// and the acceptance criteria: these are its own.
func (ts *Tasks) Followup(ctx context.Context, id string, n NewTask) error {
	dir := session.Top(ts.Dir)
	before, err := keptTask(dir, id)
	if err != nil {
		return err
	}
	t := before.Task
	t.Dependencies = []string{before.ID}
	if t.Completion != nil {
		roles := *t.Completion
		roles.Outcome, roles.Acceptance = "", nil
		t.Completion = &roles
	}
	needs := n.Dependencies
	n.Dependencies = nil
	t = over(t, n.Task)
	for _, need := range needs {
		if !slices.Contains(t.Dependencies, need) {
			t.Dependencies = append(t.Dependencies, need)
		}
	}
	return ts.keep(dir, t, n.Force)
}

// over lays what the command line says of a task over what a file says.
func over(t, said task.Task) task.Task {
	for _, text := range []struct {
		said string
		into *string
	}{{said.ID, &t.ID}, {said.SpecID, &t.SpecID}, {said.Title, &t.Title}, {said.Spec, &t.Spec}} {
		if text.said != "" {
			*text.into = text.said
		}
	}
	if said.Priority != 0 {
		t.Priority = said.Priority
	}
	if len(said.Dependencies) > 0 {
		t.Dependencies = said.Dependencies
	}
	t.Completion = task.Merge(t.Completion, said.Completion)
	return t
}

func (ts *Tasks) keep(dir string, t task.Task, force bool) error {
	if problems := t.Problems(); len(problems) > 0 {
		return invalid.Errorf("the task %s: %s", t.ID, problems[0])
	}
	if lacks := t.Completion.Lacks(); len(lacks) > 0 {
		return invalid.Errorf(
			"the task %s lacks %s: pass the finished state with --outcome TEXT, and each criterion with "+
				"--acceptance TEXT, or under completion in the file",
			t.ID, strings.Join(lacks, " and "),
		)
	}
	all, _ := readTasks(filepath.Join(dir, tasksDir), tasksDir) // a broken one is not in the way
	for _, k := range all {
		switch {
		case !strings.EqualFold(k.ID, t.ID):
		case !force:
			return invalid.Errorf(
				"the task %s already exists, in %s; pass --force to replace it, or choose another id", k.ID, k.file,
			)
		case k.file != tasksDir+"/"+t.ID+".yaml":
			return invalid.Errorf(
				"the task %s is in %s, which ralph did not create; change it there, or remove it", k.ID, k.file,
			)
		}
	}
	for _, need := range t.Dependencies {
		if !slices.ContainsFunc(all, func(k kept) bool { return k.ID == need }) {
			ts.say("note: %s depends on %s, which is no task yet", t.ID, need)
		}
	}
	file, err := keepTask(dir, t)
	if err == nil {
		ts.say("%s", file)
	}
	return err
}

// Shown is a task as programs are shown it.
type Shown struct {
	task.Form
	Status string `json:"status"` // open, unfinished, or the outcome of its newest run
	File   string `json:"file"`
}

// List prints the tasks, in the order in which they can be done. Files that are no tasks are an error, after those that
// are.
func (ts *Tasks) List(ctx context.Context) error {
	dir := session.Top(ts.Dir)
	all, broken := readTasks(filepath.Join(dir, tasksDir), tasksDir)
	sortKept(all)
	shown := []Shown{}
	for _, k := range all {
		shown = append(shown, Shown{k.Form(), taskStatus(dir, k.ID), k.file})
	}
	if ts.JSON {
		if err := ts.print(shown); err != nil {
			return err
		}
		return broken
	}
	if len(all) == 0 && broken == nil {
		ts.say("%s holds no tasks; create one with ralph task create", tasksDir)
		return nil
	}
	wide := 0
	for _, s := range shown {
		wide = max(wide, len(s.ID))
	}
	for _, s := range shown {
		needs := ""
		if len(s.Dependencies) > 0 {
			needs = " (after " + strings.Join(s.Dependencies, ", ") + ")"
		}
		ts.say("%-*s  %-10s  %3d  %s%s", wide, s.ID, s.Status, s.Priority, s.Title, needs)
	}
	return broken
}

// IDs are the ids of the tasks, without those that cannot be read.
func (ts *Tasks) IDs(ctx context.Context) []string {
	all, _ := readTasks(filepath.Join(session.Top(ts.Dir), tasksDir), tasksDir)
	return safetext.Map(all, func(k kept) string { return k.ID })
}

// sortKept sorts as task.Order does where it can; tasks that wait for each other stay as their files are named.
func sortKept(all []kept) {
	ordered, err := task.Order(safetext.Map(all, kept.asTask), func(string) bool { return true })
	if err != nil {
		return
	}
	at := map[string]int{}
	for i, t := range ordered {
		at[t.ID] = i
	}
	slices.SortStableFunc(all, func(a, b kept) int { return at[a.ID] - at[b.ID] })
}

// Show prints one task as a file, with the criteria of each role that it has.
func (ts *Tasks) Show(ctx context.Context, id string) error {
	dir := session.Top(ts.Dir)
	k, err := keptTask(dir, id)
	if err != nil {
		return err
	}
	status := taskStatus(dir, k.ID)
	if ts.JSON {
		return ts.print(Shown{k.Form(), status, k.file})
	}
	t := k.Task
	if t.Completion != nil {
		full := *t.Completion
		for _, r := range task.Roles {
			if of := full.For(r); of != nil {
				full.Set(r, new(of.Resolve(r, t.Title, full.Acceptance, "")))
			}
		}
		t.Completion = &full
	}
	text, err := task.Marshal(t)
	ts.say("# %s, in %s", status, k.file)
	for line := range strings.Lines(string(text)) {
		ts.say("%s", strings.TrimRight(line, "\n"))
	}
	return invalid.Mark(err)
}

func (ts *Tasks) print(v any) error {
	encoder := json.NewEncoder(ts.Out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}

func (ts *Tasks) say(format string, args ...any) {
	_, _ = fmt.Fprintln(ts.Out, safetext.Inert(fmt.Sprintf(format, args...)))
}

// TaskPrompt is the prompt of a coding agent that writes tasks: every task says what done means.
//
//go:embed task_prompt.md
var TaskPrompt string

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

func (k kept) asTask() task.Task { return k.Task }

// taskFile is the task that ref names: a file, seen from the directory from, or the id of one of the tasks that the
// clone at top keeps.
func taskFile(top, from, ref string) (task.Task, error) {
	name := session.From(from, ref)
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
	ordered, err := task.Order(safetext.Map(all, kept.asTask), nil)
	if err != nil {
		return nil, invalid.Errorf("%s: %w", dir, err)
	}
	return ordered, nil
}

// readTasks reads every task of a directory, and says what is wrong with files that are not tasks. shown is the
// directory in messages.
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
	return t, invalid.Mark(err)
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
	err = os.MkdirAll(filepath.Join(top, tasksDir), 0o755)
	if err == nil {
		err = files.Replace(filepath.Join(top, file), text)
	}
	if err != nil {
		return "", invalid.Errorf("writing %s: %w", file, files.Advise(err))
	}
	return file, nil
}

// taskStatus is how the newest run of a task stands, in one word: open if it has no run.
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

// readInput reads a file of tasks that someone names; - is standard input.
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
	content, err := session.ReadNamed(dir, name)
	if err != nil {
		return nil, invalid.Errorf(
			"invalid --file: %w; must be a file with a task in YAML or Markdown, or - for standard input", err,
		)
	}
	return content, nil
}
