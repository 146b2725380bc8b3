package github

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-github/v60/github"
)

// actions says whether workflows run at all, and what the job's own token may do unless a workflow says otherwise.
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
	if w.GetDefaultWorkflowPermissions() == "write" {
		e.add("the job's own token", OK, "It can write by default.", "")
	} else {
		e.add("the job's own token", OK,
			"It can only read by default; ralph's workflow asks for more under permissions.", "")
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
	for _, list := range []func() (*github.Secrets, error){e.ownSecrets, e.organizationSecrets} {
		found, err := list()
		if err != nil {
			if len(have) == 0 {
				e.unread(what, err, "Look under Settings → Secrets and variables → Actions for one of "+
					strings.Join(wantedSecrets, ", ")+".")
				return
			}
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

func (e *factCollector) ownSecrets() (*github.Secrets, error) {
	list, _, err := e.c.api.Actions.ListRepoSecrets(e.ctx, e.c.o.Repo.Owner, e.c.o.Repo.Name,
		&github.ListOptions{PerPage: 100})
	return list, err
}

func (e *factCollector) organizationSecrets() (*github.Secrets, error) {
	list, _, err := e.c.api.Actions.ListRepoOrgSecrets(e.ctx, e.c.o.Repo.Owner, e.c.o.Repo.Name,
		&github.ListOptions{PerPage: 100})
	return list, err
}

// mostWorkflows bounds how many workflow files are read.
const mostWorkflows = 10

// workflow looks for a workflow that names ralph: where ralph init writes it, then by its file's name, then in what it
// says.
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
	found := workflows(files)
	for _, path := range found[:min(mostWorkflows, len(found))] {
		if e.namesRalph(branch, path) {
			e.add(what, OK, oneLine(path)+" names ralph.", "")
			return
		}
	}
	e.add(what, Problem, fmt.Sprintf("No workflow on %s runs ralph.", oneLine(branch)),
		"Make one: ralph init --github proposes it.")
}

func (e *factCollector) namesRalph(branch, path string) bool {
	if strings.Contains(strings.ToLower(path), "ralph") {
		return true
	}
	text, ok, err := e.c.File(e.ctx, branch, path)
	return err == nil && ok && strings.Contains(strings.ToLower(string(text)), "ralph")
}

// workflows are the paths of workflow files, those that name ralph first.
func workflows(files []*github.RepositoryContent) []string {
	var named, others []string
	for _, f := range files {
		switch {
		case !strings.HasSuffix(f.GetName(), ".yml") && !strings.HasSuffix(f.GetName(), ".yaml"):
		case strings.Contains(strings.ToLower(f.GetName()), "ralph"):
			named = append(named, f.GetPath())
		default:
			others = append(others, f.GetPath())
		}
	}
	return append(named, others...)
}
