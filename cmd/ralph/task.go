package main

import (
	"context"

	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/local"
	"github.com/ralph-loop/ralph/internal/task"
)

type taskCommand struct {
	Create   taskCreate   `cmd:"" help:"Write a task into .ralph/tasks: ralph task create TASK-1 'Fix the add function' --outcome TEXT --acceptance TEXT, or ralph task create -f FILE."`
	List     taskList     `cmd:"" help:"Show the tasks of this clone, in the order in which they can be done."`
	Show     taskShow     `cmd:"" help:"Show one task and its criteria."`
	Followup taskFollowup `cmd:"" help:"Write a task that comes after another and inherits its spec and its roles: ralph task followup TASK-1 TASK-2 'Subtract, too' --outcome TEXT --acceptance TEXT."`
	Prompt   taskPrompt   `cmd:"" help:"Print the prompt with which a coding agent writes tasks."`
}

// taskFlags say what a task is besides its names.
type taskFlags struct {
	Description string   `placeholder:"TEXT" help:"The request in Markdown."`
	Priority    int      `placeholder:"N" help:"The lower, the sooner. Default: 0."`
	DependsOn   []string `placeholder:"ID" help:"A task that must be done before. It may be given more than once."`
	Force       bool     `help:"Replace the task of this id."`
	criteriaFlags
}

// task is what the flags and the words before them say.
func (f taskFlags) task(id, spec, title string) (local.NewTask, error) {
	completion, err := f.completion()
	if err != nil {
		return local.NewTask{}, invalid.Mark(err)
	}
	return local.NewTask{Force: f.Force, Task: task.Task{
		ID: id, SpecID: spec, Title: title, Spec: f.Description, Priority: f.Priority, Dependencies: f.DependsOn,
		Completion: completion,
	}}, nil
}

type taskCreate struct {
	Words []string `arg:"" optional:"" name:"word" help:"ID TITLE, or ID SPEC TITLE with the id of the specification that the task belongs to. With --file: nothing, or another ID."`
	File  string   `short:"f" placeholder:"FILE" help:"A task in YAML or Markdown; - is standard input. Flags go before what it says."`
	taskFlags
}

// Run implements ralph task create.
func (c *taskCreate) Run(ctx context.Context, p process) error {
	var id, spec, title string
	switch n := len(c.Words); {
	case n == 3:
		id, spec, title = c.Words[0], c.Words[1], c.Words[2]
	case n == 2:
		id, title = c.Words[0], c.Words[1]
	case n == 1 && c.File != "":
		id = c.Words[0]
	case n == 0 && c.File != "":
	default:
		return invalid.Errorf("name the task: ralph task create ID [SPEC] TITLE, or ralph task create -f FILE; a title of " +
			"several words needs quotes")
	}
	n, err := c.task(id, spec, title)
	if err != nil {
		return err
	}
	n.File = c.File
	kept := tasks(p, false)
	if kept.In != nil {
		kept.In = until{ctx, kept.In}
	}
	return kept.Create(ctx, n)
}

type taskList struct {
	JSON bool `name:"json" help:"Print JSON for programs: a list of tasks."`
}

// Run implements ralph task list.
func (c *taskList) Run(ctx context.Context, p process) error {
	return tasks(p, c.JSON).List(ctx)
}

type taskShow struct {
	ID   string `arg:"" name:"id" help:"The task's id."`
	JSON bool   `name:"json" help:"Print JSON for programs."`
}

// Run implements ralph task show.
func (c *taskShow) Run(ctx context.Context, p process) error {
	return tasks(p, c.JSON).Show(ctx, c.ID)
}

type taskFollowup struct {
	ID    string `arg:"" name:"id" help:"The task that must be done before."`
	NewID string `arg:"" name:"new-id" help:"The id of the new task."`
	Title string `arg:"" help:"Its title."`
	taskFlags
}

// Run implements ralph task followup.
func (c *taskFollowup) Run(ctx context.Context, p process) error {
	n, err := c.task(c.NewID, "", c.Title)
	if err != nil {
		return err
	}
	return tasks(p, false).Followup(ctx, c.ID, n)
}

type taskPrompt struct{}

// Run implements ralph task prompt.
func (taskPrompt) Run(p process) error {
	_, err := p.out.Write([]byte(local.TaskPrompt))
	return err
}

func tasks(p process, asJSON bool) *local.Tasks {
	ts := &local.Tasks{Dir: p.dir, Out: p.out, JSON: asJSON}
	if p.in != nil {
		ts.In = p.in
	}
	return ts
}
