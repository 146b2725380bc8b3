package fake

import (
	"cmp"
	"net/http"
	"slices"
)

// ActionsSettings are a repository's settings of GitHub Actions.
type ActionsSettings struct {
	Disabled       bool
	AllowedActions string // all (when it is not given), local_only or selected
	// WorkflowPermissions are what GITHUB_TOKEN has by default: read (when it is not given) or write.
	WorkflowPermissions   string
	CanApprovePullRequest bool // whether a workflow may open and approve pull requests
}

// Protection is the protection of a branch.
type Protection struct {
	RequiredChecks   []string // names of checks
	RequireSignature bool
}

type repoSettings struct {
	actions             ActionsSettings
	secrets, orgSecrets []string
	protections         map[string]Protection // by branch
	rules               map[string][]string   // types of rules by branch: "required_signatures"
	// noPulls refuses pull requests of workflows. Of a repository whose settings no one has set it is not so.
	noPulls bool
}

// SetActions sets a repository's settings of GitHub Actions.
func (g *GitHub) SetActions(owner, name string, s ActionsSettings) {
	defer g.lock()()
	settings := &g.mustRepo(owner, name).settings
	settings.actions, settings.noPulls = s, !s.CanApprovePullRequest
}

// SetSecrets sets the names of a repository's secrets.
func (g *GitHub) SetSecrets(owner, name string, secrets ...string) {
	defer g.lock()()
	g.mustRepo(owner, name).settings.secrets = slices.Clone(secrets)
}

// SetOrganizationSecrets sets the names of the organization's secrets that a repository can use.
func (g *GitHub) SetOrganizationSecrets(owner, name string, secrets ...string) {
	defer g.lock()()
	g.mustRepo(owner, name).settings.orgSecrets = slices.Clone(secrets)
}

// SetPrivate makes a repository private: a token then needs a permission for reading too.
func (g *GitHub) SetPrivate(owner, name string, private bool) {
	defer g.lock()()
	g.mustRepo(owner, name).private = private
}

// ProtectBranch protects a branch. Nothing is enforced: it is only told.
func (g *GitHub) ProtectBranch(owner, name, branch string, p Protection) {
	defer g.lock()()
	g.mustRepo(owner, name).settings.protections[branch] = p
}

// SetRules sets the types of the rules that rulesets put on a branch. Nothing is enforced: they are only told.
func (g *GitHub) SetRules(owner, name, branch string, rules ...string) {
	defer g.lock()()
	g.mustRepo(owner, name).settings.rules[branch] = rules
}

func (g *GitHub) getActionsPermissions(r *request) answer {
	s := r.repo.settings.actions
	if s.Disabled {
		return ok(object{"enabled": false})
	}
	return ok(object{"enabled": true, "allowed_actions": cmp.Or(s.AllowedActions, "all")})
}

func (g *GitHub) getWorkflowPermissions(r *request) answer {
	s := r.repo.settings.actions
	return ok(object{
		"default_workflow_permissions":     cmp.Or(s.WorkflowPermissions, "read"),
		"can_approve_pull_request_reviews": s.CanApprovePullRequest,
	})
}

func (g *GitHub) listSecrets(r *request) answer { return g.secretList(r, r.repo.settings.secrets) }

func (g *GitHub) listOrganizationSecrets(r *request) answer {
	return g.secretList(r, r.repo.settings.orgSecrets)
}

func (g *GitHub) secretList(r *request, names []string) answer {
	return counted(page(g, r, names, func(name string) object { return object{"name": name} }), "secrets", len(names))
}

func (g *GitHub) getProtection(r *request) answer {
	branch := r.parts["branch"]
	if g.branchSHA(r.repo, branch) == "" {
		return failure(http.StatusNotFound, "Branch not found")
	}
	p, protected := r.repo.settings.protections[branch]
	if !protected {
		return failure(http.StatusNotFound, "Branch not protected")
	}
	o := object{"required_signatures": object{"enabled": p.RequireSignature}}
	if len(p.RequiredChecks) > 0 {
		o["required_status_checks"] = object{"contexts": p.RequiredChecks}
	}
	return ok(o)
}

func (g *GitHub) listRules(r *request) answer {
	return page(g, r, r.repo.settings.rules[r.parts["branch"]], func(rule string) object {
		return object{"type": rule, "ruleset_source_type": "Repository", "ruleset_source": r.repo.String(), "ruleset_id": 1}
	})
}

// getRuleset is the ruleset of all rules, which no one can bypass.
func (g *GitHub) getRuleset(r *request) answer {
	return ok(object{"id": 1, "name": "signed", "source_type": "Repository", "source": r.repo.String(),
		"enforcement": "active", "current_user_can_bypass": "never"})
}
