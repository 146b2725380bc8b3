package github

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-github/v60/github"
)

// factCollector collects facts.
type factCollector struct {
	c      *Client
	ctx    context.Context // it lives for one call
	report Report
	repo   *github.Repository
}

func (e *factCollector) add(what string, grade Grade, says, advice string) {
	e.report.Facts = append(e.report.Facts, Fact{What: what, Grade: grade, Says: says, Advice: advice})
}

// unread notes that something could not be read: unknown when the token may not, a warning otherwise.
func (e *factCollector) unread(what string, err error, advice string) {
	if ErrForbidden(err) || ErrGone(err) {
		e.add(what, Unknown, "The token may not see it.", advice)
		return
	}
	e.add(what, Warning, explain("reading it", err).Error(), "")
}

// token says who ralph writes as; without an answer there is nothing else to ask.
func (e *factCollector) token() bool {
	self, err := e.c.whoami(e.ctx)
	if err != nil {
		e.add("the token", Problem, err.Error(), "Give ralph a token that GitHub accepts.")
		return false
	}
	e.add("the token", OK, fmt.Sprintf("It is %s and writes as %s.", e.c.kind, self), "")
	for _, note := range e.c.TokenNotes() {
		e.add("the token", Warning, note, "")
	}
	return true
}

func (e *factCollector) repository() bool {
	r, _, err := e.c.api.Repositories.Get(e.ctx, e.c.o.Repo.Owner, e.c.o.Repo.Name)
	if err != nil {
		e.add("the repository", Problem, explain("reading "+e.c.o.Repo.String(), err).Error(), "")
		return false
	}
	e.repo = r
	visibility := cmp.Or(r.GetVisibility(), map[bool]string{true: "private", false: "public"}[r.GetPrivate()])
	e.add("the repository", OK, fmt.Sprintf("%s is %s, its default branch is %s.", e.c.o.Repo, oneLine(visibility),
		oneLine(r.GetDefaultBranch())), "")
	if r.GetArchived() || r.GetDisabled() {
		e.add("the repository", Problem, "It is archived or disabled: no one can write to it.",
			"Unarchive it under Settings → General.")
	}
	if r.GetFork() {
		e.add("the repository", Warning, "It is a fork: Actions and issues are off in a fork until they are turned on.",
			"Turn Actions on in its Actions tab.")
	}
	if r.HasIssues != nil && !r.GetHasIssues() {
		e.add("issues", Problem, "The repository has no issues.", "Turn issues on under Settings → General → Features.")
	}
	e.may()
	return true
}

// may says what the token may do, as far as it can be known without trying: what a person may, and what an App was
// granted.
func (e *factCollector) may() {
	const what = "permissions"
	if !e.c.kind.personal() {
		e.granted(what)
		return
	}
	p, _, err := e.c.api.Repositories.GetPermissionLevel(e.ctx, e.c.o.Repo.Owner, e.c.o.Repo.Name, e.c.self)
	switch {
	case err != nil:
		e.unread(what, err, "Look under Settings → Collaborators.")
	case p.GetPermission() == "admin" || p.GetPermission() == "write":
		e.add(what, OK, "The token's owner may push to this repository.", "")
	default:
		e.add(what, Problem, "The token's owner may not push to this repository.",
			"Give the owner write access, or use another token.")
	}
}

func (e *factCollector) granted(what string) {
	if len(e.c.lacks) == 0 {
		return
	}
	grade := Warning
	if lacksMuch(e.c.lacks) {
		grade = Problem
	}
	e.add(what, grade, "The App's installation lacks "+strings.Join(e.c.lacks, ", ")+".",
		"Grant it to the App, and accept it for this installation.")
}

// lacksMuch reports whether ralph does not work without what lacks.
func lacksMuch(lacks []string) bool {
	return slices.ContainsFunc(lacks,
		func(l string) bool { return strings.HasPrefix(l, "contents") || strings.HasPrefix(l, "issues") })
}

// labels says which are missing. They are made when they are first put on, so that is no problem.
func (e *factCollector) labels(want []string) {
	have, err := e.c.Labels(e.ctx)
	if err != nil {
		e.unread("labels", err, "Give the token the permission issues: read.")
		return
	}
	for _, name := range want {
		if !slices.ContainsFunc(have, func(h string) bool { return strings.EqualFold(h, name) }) {
			e.report.Labels = append(e.report.Labels, name)
		}
	}
	if len(e.report.Labels) == 0 {
		e.add("labels", OK, "All of ralph's labels are there.", "")
		return
	}
	e.add("labels", Warning, "There is no label "+strings.Join(e.report.Labels, ", ")+".",
		"Make them, or let ralph do it.")
}
