package bot

import (
	"fmt"
	"path"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/loop"
)

// wantsPlan reports whether a plan in the repository is one that this sweep is for.
func (a *Action) wantsPlan(file string) bool {
	return a.Inputs.Issue == 0 && (a.Inputs.Plan == "" || path.Clean(a.Inputs.Plan) == file)
}

// orphanPlan is the request to continue with a run of a plan in the repository: it was authorized when it began.
func (a *Action) orphanPlan(ev event.Event, s loop.State) pending {
	return pending{request: planRequest(ev, s.Start.Plan.File), plan: goingOn(s)}
}

func planRequest(ev event.Event, file string) event.Request {
	return event.Request{Command: event.Command{Verb: event.Run}, Event: ev, PlanFile: file}
}

// pending is a request that no one works on, and why it is one.
type pending struct {
	request event.Request
	facts   event.Facts
	plan    *workRequest // of a plan in the repository; else nil
	why     string
	// untold is a run that has ended and was cut off while it told of that; nil: none.
	untold *loop.State
	// undelivered is a run that waits for its pull request; nil: none.
	undelivered *loop.State
}

// wants reports whether an issue is one that this sweep is for.
func (a *Action) wants(issue int) bool {
	return a.Inputs.Plan == "" && (a.Inputs.Issue == 0 || a.Inputs.Issue == issue)
}

// row is the request as a matrix reports it.
func (p pending) row() Listed {
	if p.plan != nil || p.request.Event.Issue == nil {
		return Listed{Plan: p.request.PlanFile, Why: p.why}
	}
	return Listed{Issue: p.request.Event.Issue.Number, Why: p.why}
}

func (l Listed) String() string {
	if l.Plan != "" {
		return fmt.Sprintf("%s: %s", l.Plan, l.Why)
	}
	return fmt.Sprintf("issue #%d: %s", l.Issue, l.Why)
}

// Listed is one row of the matrix that a workflow fans out over: an issue, or a plan by its path.
type Listed struct {
	Issue int    `json:"issue,omitempty"`
	Plan  string `json:"plan,omitempty"`
	Why   string `json:"why"`
}
