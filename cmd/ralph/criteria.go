package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/task"
)

// criteriaFlags say on the command line when a task is done.
type criteriaFlags struct {
	Outcome    string    `placeholder:"TEXT" help:"Describe the finished state in one sentence."`
	Acceptance []string  `sep:"none" placeholder:"TEXT" help:"One thing that must be true. It may be given more than once."`
	Coder      roleFlags `embed:"" prefix:"coder-" set:"role=coder"`
	Tester     roleFlags `embed:"" prefix:"tester-" set:"role=tester"`
	Reviewer   roleFlags `embed:"" prefix:"reviewer-" set:"role=reviewer"`
	QA         roleFlags `embed:"" prefix:"qa-" set:"role=qa"`
}

type roleFlags struct {
	Promise   *string `placeholder:"TEXT" help:"What the ${role} prints in <promise> when it is done."`
	Verify    *string `placeholder:"METHOD" help:"How that is verified: string_match, semantic (of the acceptance criteria), or external."`
	VerifyCmd *string `placeholder:"COMMAND" help:"The command that verifies it."`
}

// completion is what the flags say, not yet held against the rest of the task; nil when they say nothing.
func (f criteriaFlags) completion() (*task.Completion, error) {
	c := &task.Completion{Outcome: strings.TrimSpace(f.Outcome), Acceptance: f.Acceptance}
	said := c.Outcome != "" || len(c.Acceptance) > 0
	for i, flags := range []roleFlags{f.Coder, f.Tester, f.Reviewer, f.QA} { // as task.Roles has them
		role := task.Roles[i]
		of, err := flags.criteria(role)
		if err != nil {
			return nil, err
		}
		if of != nil {
			c.Set(role, of)
			said = true
		}
	}
	if !said {
		return nil, nil
	}
	return c, nil
}

// criteria is one role's part; nil when nothing is said of it.
func (f roleFlags) criteria(role task.Role) (*task.Criteria, error) {
	if f == (roleFlags{}) {
		return nil, nil
	}
	for i, flag := range []*string{f.Promise, f.Verify, f.VerifyCmd} {
		if flag != nil && strings.TrimSpace(*flag) == "" {
			return nil, fmt.Errorf("flag --%s-%s is empty; give it a text, or leave it out", role,
				[]string{"promise", "verify", "verify-cmd"}[i])
		}
	}
	c := &task.Criteria{Promise: *cmp.Or(f.Promise, new("")), Method: task.Method(*cmp.Or(f.Verify, new("")))}
	switch {
	case c.Method != "" && !slices.Contains(task.Methods, c.Method):
		return nil, fmt.Errorf("invalid --%s-verify %q: must be string_match, semantic or external", role, c.Method)
	case c.Method == task.MultiStage:
		return nil, fmt.Errorf("flag --%s-verify is multi_stage, whose stages no flag can say; write them into a task file",
			role)
	case f.VerifyCmd != nil && c.Method != "" && c.Method != task.External:
		return nil, fmt.Errorf("flag --%s-verify-cmd gives a command, and --%s-verify is %s, which runs none; say "+
			"external, or leave one of them out", role, role, c.Method)
	case f.VerifyCmd != nil:
		c.Method, c.Config = task.External, &task.Verification{Command: *f.VerifyCmd}
	case c.Method == task.Semantic:
		c.Config = &task.Verification{CheckFor: task.Questions{task.AcceptanceCriteria}}
	}
	return c, nil
}
