package fake_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/fake"
)

// get reads an address as a client with a token; what it answers goes into a map.
func (s *scene) get(token, path string) (map[string]any, int) {
	s.t.Helper()
	c := s.client(token)
	r, err := c.NewRequest("GET", path, nil)
	check(s.t, err)
	var out map[string]any
	resp, _ := c.Do(s.ctx, r, &out)
	return out, status(resp)
}

func TestSettings(t *testing.T) {
	s := newScene(t)
	c := s.client(pat)
	p, _, err := c.Repositories.GetActionsPermissions(s.ctx, owner, name)
	check(t, err)
	equal(t, "Actions are on", fmt.Sprint(p.GetEnabled(), " ", p.GetAllowedActions()), "true all")
	s.SetActions(owner, name, fake.ActionsSettings{AllowedActions: "selected", WorkflowPermissions: "write",
		CanApprovePullRequest: true})
	p, _, err = c.Repositories.GetActionsPermissions(s.ctx, owner, name)
	check(t, err)
	equal(t, "allowed actions", p.GetAllowedActions(), "selected")
	w, _, err := c.Repositories.GetDefaultWorkflowPermissions(s.ctx, owner, name)
	check(t, err)
	equal(t, "default permissions", w.GetDefaultWorkflowPermissions(), "write")
	equal(t, "may approve", w.GetCanApprovePullRequestReviews(), true)
	s.SetActions(owner, name, fake.ActionsSettings{Disabled: true})
	p, _, err = c.Repositories.GetActionsPermissions(s.ctx, owner, name)
	check(t, err)
	equal(t, "Actions are off", p.GetEnabled(), false)

	s.SetSecrets(owner, name, "A_KEY", "B_KEY")
	s.SetOrganizationSecrets(owner, name, "ORG_KEY")
	own, _, err := c.Actions.ListRepoSecrets(s.ctx, owner, name, &github.ListOptions{PerPage: 1})
	check(t, err)
	equal(t, "secrets", fmt.Sprint(own.TotalCount, " ", own.Secrets[0].Name), "2 A_KEY")
	shared, _, err := c.Actions.ListRepoOrgSecrets(s.ctx, owner, name, nil)
	check(t, err)
	equal(t, "the organization's", shared.Secrets[0].Name, "ORG_KEY")
	s.SetPermission(owner, name, "bob", "write")
	s.AddToken("ghp_bob", "bob", fake.PAT)
	if _, code := s.get("ghp_bob", "repos/alice/demo/actions/secrets"); code != 403 {
		t.Errorf("the secrets for one who is no administrator: %d, want 403", code)
	}
	limits, _, err := c.RateLimit.Get(s.ctx)
	check(t, err)
	equal(t, "the limit", limits.GetCore().Limit, 5000)
}

func TestProtection(t *testing.T) {
	s := newScene(t)
	s.branch("release/1")
	c := s.client(pat)
	_, resp, err := c.Repositories.GetBranchProtection(s.ctx, owner, name, "main")
	if !errors.Is(err, github.ErrBranchNotProtected) || status(resp) != 404 {
		t.Errorf("an unprotected branch: %v", err)
	}
	s.ProtectBranch(owner, name, "release/1",
		fake.Protection{RequiredReviews: 2, RequiredChecks: []string{"test"}, RestrictPushes: true, RequireSignature: true})
	p, _, err := c.Repositories.GetBranchProtection(s.ctx, owner, name, "release/1")
	check(t, err)
	equal(t, "approvals", p.GetRequiredPullRequestReviews().RequiredApprovingReviewCount, 2)
	equal(t, "checks", (*p.GetRequiredStatusChecks().Contexts)[0], "test")
	equal(t, "signed", p.GetRequiredSignatures().GetEnabled(), true)
	b, _, err := c.Repositories.GetBranch(s.ctx, owner, name, "release/1", 0)
	check(t, err)
	equal(t, "the branch says so", b.GetProtected(), true)
	if _, code := s.get(pat, "repos/alice/demo/branches/nope/protection"); code != 404 {
		t.Errorf("a missing branch: %d, want 404", code)
	}
	s.SetRules(owner, name, "release/1", fake.Rule{Type: "required_signatures"}, fake.Rule{Type: "non_fast_forward"})
	rules, _, err := c.Repositories.GetRulesForBranch(s.ctx, owner, name, "release/1")
	check(t, err)
	equal(t, "rules", len(rules), 2)
	equal(t, "the first", rules[0].Type, "required_signatures")
}

func TestLabelList(t *testing.T) {
	s := newScene(t)
	n := s.AddIssue(owner, name, fake.Issue{Title: "t"})
	for i := range 40 {
		s.Label(owner, name, n, fmt.Sprintf("l%02d", i), owner)
	}
	list, resp, err := s.client(actions).Issues.ListLabels(s.ctx, owner, name, nil)
	check(t, err)
	equal(t, "labels on a page", len(list), 30)
	equal(t, "next page", resp.NextPage, 2)
}
