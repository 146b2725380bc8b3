package github

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/google/go-github/v60/github"
)

// Grade is how a fact stands.
type Grade string

// The grades of a fact.
const (
	OK      Grade = "ok"
	Warning Grade = "warning" // ralph works, but not all of it
	Problem Grade = "problem" // ralph does not work before it is fixed
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
	Labels []string // the requested ones that do not exist; MakeLabel makes them
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
		if len(e.c.lacks) > 0 {
			e.add(what, gradeOf(e.c.lacks), "The App's installation lacks "+strings.Join(e.c.lacks, ", ")+".",
				"Grant it to the App, and accept it for this installation.")
		}
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

// gradeOf is a problem where ralph does not work without what lacks.
func gradeOf(lacks []string) Grade {
	if slices.ContainsFunc(lacks, func(l string) bool { return strings.HasPrefix(l, "contents") || strings.HasPrefix(l, "issues") }) {
		return Problem
	}
	return Warning
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

// rule is one of a ruleset. It is read here because go-github fails on kinds that are newer than itself.
type rule struct {
	Type       string
	Parameters json.RawMessage
	Ruleset    int64 `json:"ruleset_id"`
}

// read reads from a path below the repository's.
func (c *Client) read(ctx context.Context, path string, into any) error {
	req, err := c.api.NewRequest(http.MethodGet, fmt.Sprintf("repos/%s/%s/%s", c.o.Repo.Owner, c.o.Repo.Name, path), nil)
	if err == nil {
		_, err = c.api.Do(ctx, req, into)
	}
	return err
}

func (c *Client) branchRules(ctx context.Context, branch string) (list []rule, err error) {
	err = c.read(ctx, "rules/branches/"+branch+"?per_page=100", &list)
	return list, err
}

// Refuses reports why a ruleset refuses commits on a branch, with what helps; "" if none does, if the token can bypass it,
// or if it cannot be read. exists is true if the branch exists, signed if the commits are signed.
func (c *Client) Refuses(ctx context.Context, branch string, exists, signed bool) string {
	list, err := c.branchRules(ctx, branch)
	if err != nil {
		return ""
	}
	for _, r := range list {
		help := ""
		switch {
		case r.Type == "required_signatures" && !signed:
			help = "requires signed commits: set the input signing_key"
		case r.Type == "creation" && !exists, r.Type == "update":
			help = "restricts who can push: set the input branch_prefix to a prefix without that rule"
		default:
			continue
		}
		var set struct {
			Name   string
			Bypass string `json:"current_user_can_bypass"`
		}
		if err := c.read(ctx, fmt.Sprintf("rulesets/%d", r.Ruleset), &set); err == nil && set.Bypass == "never" {
			return fmt.Sprintf("the ruleset %q of %s %s, or let ralph bypass the ruleset", oneLine(set.Name), branch, help)
		}
	}
	return ""
}

// rules says which protection and rulesets of the branch hinder ralph's pull requests to it.
func (e *factCollector) rules(branch string) {
	const what, ask = "branch rules",
		"Look under Settings → Branches and Settings → Rules, or use a token of an administrator."
	protection, _, err := e.c.api.Repositories.GetBranchProtection(e.ctx, e.c.o.Repo.Owner, e.c.o.Repo.Name, branch)
	var checks []string // that a pull request takes, by protection and rulesets together
	if c := protection.GetRequiredStatusChecks(); c != nil && c.Contexts != nil {
		checks = slices.Clone(*c.Contexts)
	}
	signed := protection.GetRequiredSignatures().GetEnabled()
	list, rerr := e.c.branchRules(e.ctx, branch)
	for _, r := range list {
		var p struct {
			Named []struct{ Context string } `json:"required_status_checks"`
		}
		if r.Type == "required_status_checks" {
			_ = json.Unmarshal(r.Parameters, &p) // none are named where that is another shape
		}
		for _, c := range p.Named {
			checks = append(checks, c.Context)
		}
		signed = signed || r.Type == "required_signatures"
	}
	before := len(e.report.Facts)
	name := oneLine(branch)
	if protection.GetLockBranch().GetEnabled() {
		e.add(what, Problem, name+" is locked: nothing can be merged to it.", "Unlock it under Settings → Branches.")
	}
	if len(checks) > 0 && e.c.kind == JobToken {
		slices.Sort(checks)
		e.add(what, Warning, fmt.Sprintf("A pull request to %s takes the checks %s, which do not start on pushes with the "+
			"job's own token.", name, oneLine(strings.Join(slices.Compact(checks), ", "))),
			"Give ralph an App or a personal access token, or start them by hand.")
	}
	if signed {
		e.add(what, Warning, "Commits on "+name+" must be signed.",
			"Let ralph sign its commits, or squash its pull requests when merging.")
	}
	if len(e.report.Facts) == before {
		e.add(what, OK, "Branch rules allow a pull request to "+name+".", "")
	}
	if err != nil && !unprotected(err) {
		e.unread(what, err, ask)
	}
	if rerr != nil && !ErrGone(rerr) { // older servers have no rulesets
		e.unread(what, rerr, ask)
	}
}

// unprotected reports whether GitHub says that a branch has no protection, by the words of its 404, which differ from
// those for strangers.
func unprotected(err error) bool {
	var api *github.ErrorResponse
	return errors.Is(err, github.ErrBranchNotProtected) || errors.As(err, &api) && ErrGone(err) &&
		strings.Contains(api.Message, "Branch not protected")
}

// actions says whether workflows run at all, and whether they may open pull requests.
func (e *factCollector) actions() {
	const what, ask = "GitHub Actions", "Look under Settings → Actions → General, or use a token of an administrator."
	p, _, err := e.c.api.Repositories.GetActionsPermissions(e.ctx, e.c.o.Repo.Owner, e.c.o.Repo.Name)
	switch {
	case err != nil:
		e.unread(what, err, ask)
		return
	case !p.GetEnabled():
		e.add(what, Problem, "Actions are off in this repository.", "Turn them on under Settings → Actions → General.")
		return
	case p.GetAllowedActions() != "" && p.GetAllowedActions() != "all":
		e.add(what, Warning, "Only "+oneLine(p.GetAllowedActions())+" actions may run here.",
			"Allow ralph's action under Settings → Actions → General.")
	default:
		e.add(what, OK, "Actions are on.", "")
	}
	w, _, err := e.c.api.Repositories.GetDefaultWorkflowPermissions(e.ctx, e.c.o.Repo.Owner, e.c.o.Repo.Name)
	if err != nil {
		e.unread("the job's own token", err, ask)
		return
	}
	if !w.GetCanApprovePullRequestReviews() {
		e.add("the job's own token", Warning, "It may not open pull requests.",
			"Turn on “Allow GitHub Actions to create and approve pull requests” under Settings → Actions → General, or give "+
				"ralph an App or a personal access token.")
	}
}

// wantedSecrets are the names that an agent's keys are usually kept in, one of which is enough.
var wantedSecrets = []string{"ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "OPENAI_API_KEY", "GEMINI_API_KEY"}

// secrets looks at names alone: GitHub tells no one more.
func (e *factCollector) secrets() {
	const what = "secrets"
	var have []string
	for _, read := range []func(context.Context, string, string, *github.ListOptions) (*github.Secrets, *github.Response, error){
		e.c.api.Actions.ListRepoSecrets, e.c.api.Actions.ListRepoOrgSecrets,
	} {
		found, _, err := read(e.ctx, e.c.o.Repo.Owner, e.c.o.Repo.Name, &github.ListOptions{PerPage: 100})
		if err != nil && len(have) == 0 {
			e.unread(what, err, "Look under Settings → Secrets and variables → Actions for one of "+strings.Join(wantedSecrets, ", ")+".")
			return
		}
		if err != nil {
			break
		}
		for _, s := range found.Secrets {
			if slices.Contains(wantedSecrets, s.Name) {
				have = append(have, s.Name)
			}
		}
	}
	if len(have) == 0 {
		e.add(what, Warning, "No API key found: add one of "+strings.Join(wantedSecrets, ", ")+".",
			"Add the key of your agent: gh secret set ANTHROPIC_API_KEY")
		return
	}
	slices.Sort(have)
	e.add(what, OK, "There is "+strings.Join(slices.Compact(have), ", ")+".", "")
}

// mostWorkflows bounds how many workflow files are read.
const mostWorkflows = 10

// workflow looks for a workflow that names ralph: where ralph init writes it, then in the names and texts of the others.
func (e *factCollector) workflow(branch string) {
	const what, dir = "the workflow", ".github/workflows"
	if _, ok, err := e.c.File(e.ctx, branch, dir+"/ralph.yml"); ok && err == nil {
		e.add(what, OK, dir+"/ralph.yml is there.", "")
		return
	}
	_, files, _, err := e.c.api.Repositories.GetContents(e.ctx, e.c.o.Repo.Owner, e.c.o.Repo.Name, dir,
		&github.RepositoryContentGetOptions{Ref: branch})
	if err != nil && !ErrGone(err) {
		e.unread(what, err, "Give the token the permission contents: read.")
		return
	}
	files = slices.DeleteFunc(files, func(f *github.RepositoryContent) bool {
		return !strings.HasSuffix(f.GetName(), ".yml") && !strings.HasSuffix(f.GetName(), ".yaml")
	})
	for _, f := range files[:min(mostWorkflows, len(files))] {
		text, _, err := e.c.File(e.ctx, branch, f.GetPath())
		if strings.Contains(strings.ToLower(f.GetName()), "ralph") || err == nil && strings.Contains(strings.ToLower(string(text)), "ralph") {
			e.add(what, OK, oneLine(f.GetPath())+" names ralph.", "")
			return
		}
	}
	e.add(what, Problem, fmt.Sprintf("No workflow on %s runs ralph.", oneLine(branch)),
		"Make one: ralph init --github proposes it.")
}
