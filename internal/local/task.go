package local

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/session"
	"github.com/ralph-loop/ralph/internal/task"
)

// Tasks are the tasks that a clone keeps as files under .ralph/tasks.
type Tasks struct {
	Parent []string // the environment, NAME=value
	Dir    string   // the current directory
	In     io.Reader
	Out    io.Writer
	JSON   bool // print JSON for programs
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
	return ts.keep(session.Top(ctx, ts.Dir, ts.Parent), t, n.Force)
}

// Followup stores a task that depends on another and inherits from it what it does not say itself, but for the outcome
// and the acceptance criteria: these are its own.
func (ts *Tasks) Followup(ctx context.Context, id string, n NewTask) error {
	dir := session.Top(ctx, ts.Dir, ts.Parent)
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
			"the task %s lacks %s: say what is so when it is done with --outcome TEXT, and each thing to look at with "+
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
				"the task %s already exists, in %s; say --force to replace it, or choose another id", k.ID, k.file,
			)
		case k.file != tasksDir+"/"+t.ID+".yaml":
			return invalid.Errorf(
				"the task %s is in %s, which is somebody's own file; change it there, or remove it", k.ID, k.file,
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
	dir := session.Top(ctx, ts.Dir, ts.Parent)
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

// sortKept sorts as task.Order does where it can; tasks that wait for each other stay as their files are named.
func sortKept(all []kept) {
	tasks := make([]task.Task, len(all))
	for i, k := range all {
		tasks[i] = k.Task
	}
	ordered, err := task.Order(tasks, func(string) bool { return true })
	if err != nil {
		return
	}
	at := map[string]int{}
	for i, t := range ordered {
		at[t.ID] = i
	}
	slices.SortStableFunc(all, func(a, b kept) int { return at[a.ID] - at[b.ID] })
}

// Show prints one task with its criteria.
func (ts *Tasks) Show(ctx context.Context, id string) error {
	dir := session.Top(ctx, ts.Dir, ts.Parent)
	k, err := keptTask(dir, id)
	if err != nil {
		return err
	}
	status := taskStatus(dir, k.ID)
	if ts.JSON {
		return ts.print(Shown{k.Form(), status, k.file})
	}
	for line := range strings.Lines(describeTask(k.Task, status)) {
		ts.say("%s", strings.TrimRight(line, "\n"))
	}
	return nil
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

// TaskPrompt is what a coding agent is told that writes tasks: every task says what done means.
//
//go:embed task_prompt.md
var TaskPrompt string

// describeTask is a task as people read it, with the criteria of each role that it speaks of.
func describeTask(t task.Task, status string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("%s: %s", t.ID, t.Title)
	line("status: %s", status)
	if t.SpecID != "" {
		line("spec: %s", t.SpecID)
	}
	line("priority: %d", t.Priority)
	if len(t.Dependencies) > 0 {
		line("depends on: %s", strings.Join(t.Dependencies, ", "))
	}
	if t.Spec != "" {
		line("\n%s", t.Spec)
	}
	c := t.Completion
	if c == nil {
		line("\nIt does not say when it is done.")
		return b.String()
	}
	if c.Outcome != "" {
		line("\nOutcome: %s", c.Outcome)
	}
	if len(c.Acceptance) > 0 {
		line("\nAcceptance criteria:")
	}
	for _, text := range c.Acceptance {
		line("- [ ] %s", text)
	}
	for _, r := range task.Roles {
		if of := c.For(r); of != nil {
			full := of.Resolve(r, t.Title, c.Acceptance, "")
			showRole(line, r, full)
		}
	}
	return b.String()
}

func showRole(line func(string, ...any), r task.Role, c task.Criteria) {
	turns := ""
	if c.MaxIterations > 0 {
		turns = fmt.Sprintf(", at most %d turns", c.MaxIterations)
	}
	line("\n%s: <promise>%s</promise>, verified by %s%s", r, c.Promise, c.Method, turns)
	line("  %s", indented(c.Description, "  "))
	showVerification(line, "  ", c.Config)
}

func showVerification(line func(string, ...any), in string, v *task.Verification) {
	if v == nil {
		return
	}
	for _, q := range v.CheckFor {
		line("%scheck for: %s", in, q)
	}
	for _, p := range v.NegativePatterns {
		line("%snot: %s", in, p)
	}
	if v.Command != "" {
		line("%scommand: %s", in, indented(strings.TrimSpace(v.Command), in+"         "))
		line("%sexit code: %d", in, v.SuccessExitCode)
	}
	for _, of := range []struct{ name, value string }{{"output contains", v.OutputContains},
		{"output does not contain", v.OutputNotContains}, {"in", v.WorkingDir}, {"model", v.Model}} {
		if of.value != "" {
			line("%s%s: %s", in, of.name, of.value)
		}
	}
	if v.Timeout > 0 {
		line("%stimeout: %d s", in, v.Timeout)
	}
	for i, s := range v.Stages {
		name, method, more := s.Name, s.Method, ""
		if name == "" {
			name = "unnamed"
		}
		if method == "" {
			method = task.StringMatch
		}
		if s.Required != nil && !*s.Required {
			more = ", only warns"
		}
		line("%s%d. %s, by %s%s", in, i+1, name, method, more)
		showVerification(line, in+"   ", s.Config)
	}
}

// indented is a text whose lines but the first are moved to the right.
func indented(text, by string) string {
	return strings.ReplaceAll(text, "\n", "\n"+by)
}
