package github

import (
	"cmp"
	"context"
)

// Grade is how a fact stands.
type Grade string

// The grades of a fact.
const (
	OK      Grade = "ok"
	Warning Grade = "warning" // ralph works, but not all of it
	Problem Grade = "problem" // ralph does not work before it is mended
	Unknown Grade = "unknown" // the token may not see it
)

// Fact is one thing about the repository or the token that matters to ralph.
type Fact struct {
	What   string // a few words: "the token", "branch protection"
	Grade  Grade
	Says   string // one sentence on how it is; names in it are what people wrote
	Advice string // what to do, one sentence; empty when there is nothing to do
}

// Report is what was found, in an order that reads well.
type Report struct {
	Facts  []Fact
	Labels []string // those that were asked for and are not there: MakeLabel makes them
}

// Examine looks at everything on GitHub that ralph needs: the token, the repository, Actions, the labels, the rules of
// the branch (the default branch when it is empty), secrets by their names, and the workflow file. It writes nothing,
// and what cannot be read is a fact too: there is no error.
func (c *Client) Examine(ctx context.Context, labels []string, branch string) Report {
	e := &factCollector{c: c, ctx: ctx}
	e.examine(labels, branch)
	return e.report
}

func (e *factCollector) examine(labels []string, branch string) {
	if !e.token() || !e.repository() {
		return
	}
	branch = cmp.Or(branch, e.repo.GetDefaultBranch())
	e.actions()
	e.labels(labels)
	e.rules(branch)
	e.secrets()
	e.workflow(branch)
}
