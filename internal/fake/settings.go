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
	RequiredReviews  int      // approvals
	RequiredChecks   []string // names of checks
	RequireSignature bool
	RestrictPushes   bool // to no one
	EnforceAdmins    bool
}

// Rule is one rule of a ruleset on a branch: {"required_signatures", nil}, {"pull_request",
// {"required_approving_review_count": 1}}.
type Rule struct {
	Type       string
	Parameters map[string]any
}

type repoSettings struct {
	actions             ActionsSettings
	secrets, orgSecrets []string
	protections         map[string]Protection // by branch
	rules               map[string][]Rule     // by branch
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
	s := &g.mustRepo(owner, name).settings
	if s.protections == nil {
		s.protections = map[string]Protection{}
	}
	s.protections[branch] = p
}

// SetRules sets the rules that rulesets put on a branch. Nothing is enforced: they are only told.
func (g *GitHub) SetRules(owner, name, branch string, rules ...Rule) {
	defer g.lock()()
	s := &g.mustRepo(owner, name).settings
	if s.rules == nil {
		s.rules = map[string][]Rule{}
	}
	s.rules[branch] = slices.Clone(rules)
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
	o := object{"enforce_admins": object{"enabled": p.EnforceAdmins}, "required_signatures": object{"enabled": p.RequireSignature}}
	if len(p.RequiredChecks) > 0 {
		o["required_status_checks"] = object{"contexts": p.RequiredChecks, "checks": checksOf(p.RequiredChecks)}
	}
	if p.RequiredReviews > 0 {
		o["required_pull_request_reviews"] = object{"required_approving_review_count": p.RequiredReviews}
	}
	if p.RestrictPushes {
		o["restrictions"] = object{"users": []object{}, "teams": []object{}, "apps": []object{}}
	}
	return ok(o)
}

func checksOf(names []string) []object {
	var all []object
	for _, name := range names {
		all = append(all, object{"context": name, "app_id": nil})
	}
	return all
}

func (g *GitHub) listRules(r *request) answer {
	return page(g, r, r.repo.settings.rules[r.parts["branch"]], func(rule Rule) object {
		o := object{"type": rule.Type, "ruleset_source_type": "Repository", "ruleset_source": r.repo.String(),
			"ruleset_id": 1}
		if rule.Parameters != nil {
			o["parameters"] = rule.Parameters
		}
		return o
	})
}

// getRuleset is the ruleset of all rules, which no one can bypass.
func (g *GitHub) getRuleset(r *request) answer {
	return ok(object{"id": 1, "name": "signed", "source_type": "Repository", "source": r.repo.String(),
		"enforcement": "active", "current_user_can_bypass": "never"})
}

func (g *GitHub) getRateLimit(*request) answer {
	limit := func(limit int) object {
		return object{"limit": limit, "used": 1, "remaining": limit - 1, "reset": g.time().Unix() + 3600}
	}
	return ok(object{
		"rate":      limit(5000),
		"resources": object{"core": limit(5000), "search": limit(30), "graphql": limit(5000)},
	})
}
