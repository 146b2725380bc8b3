package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/google/go-github/v60/github"
)

// demands are what a branch asks of who changes it, by protection and rulesets together.
type demands struct {
	reviews            int
	checks             []string
	signed, linear     bool
	restricted, locked bool
	others             []string // kinds of rules that are only named
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

// rules says what protection and rulesets of the branch mean for ralph's pull requests to it.
func (e *factCollector) rules(branch string) {
	const what, ask = "branch rules",
		"Look under Settings → Branches and Settings → Rules, or use a token of an administrator."
	var d demands
	protection, _, err := e.c.api.Repositories.GetBranchProtection(e.ctx, e.c.o.Repo.Owner, e.c.o.Repo.Name, branch)
	hidden := err != nil && !unprotected(err)
	if err == nil {
		d.protection(protection)
	}
	list, rerr := e.c.branchRules(e.ctx, branch)
	if rerr == nil {
		for _, r := range list {
			d.rule(r)
		}
	}
	e.tell(what, branch, d)
	if hidden {
		e.unread(what, err, ask)
	}
	if rerr != nil && !ErrGone(rerr) { // older servers have no rulesets
		e.unread(what, rerr, ask)
	}
}

// unprotected reports whether GitHub says that a branch has no protection, with a 404 whose words tell it from one for
// strangers.
func unprotected(err error) bool {
	var api *github.ErrorResponse
	return errors.Is(err, github.ErrBranchNotProtected) || errors.As(err, &api) && ErrGone(err) &&
		strings.Contains(api.Message, "Branch not protected")
}

func (d *demands) protection(p *github.Protection) {
	if r := p.GetRequiredPullRequestReviews(); r != nil {
		d.reviews = max(d.reviews, r.RequiredApprovingReviewCount)
	}
	if c := p.GetRequiredStatusChecks(); c != nil && c.Checks != nil {
		for _, one := range *c.Checks {
			d.checks = append(d.checks, one.Context)
		}
	} else if c != nil && c.Contexts != nil {
		d.checks = append(d.checks, *c.Contexts...)
	}
	d.signed = d.signed || p.GetRequiredSignatures().GetEnabled()
	d.linear = d.linear || p.GetRequireLinearHistory() != nil && p.GetRequireLinearHistory().Enabled
	d.restricted = d.restricted || p.GetRestrictions() != nil
	d.locked = d.locked || p.GetLockBranch().GetEnabled()
}

func (d *demands) rule(r rule) {
	var p struct {
		Reviews int                        `json:"required_approving_review_count"`
		Named   []struct{ Context string } `json:"required_status_checks"`
	}
	if len(r.Parameters) > 0 && json.Unmarshal(r.Parameters, &p) != nil {
		p.Reviews = 0
	}
	switch r.Type {
	case "pull_request":
		d.reviews = max(d.reviews, p.Reviews)
	case "required_status_checks":
		for _, c := range p.Named {
			d.checks = append(d.checks, c.Context)
		}
	case "required_signatures":
		d.signed = true
	case "required_linear_history":
		d.linear = true
	case "update":
		d.restricted = true
	case "deletion", "non_fast_forward", "creation": // which ralph does not do to it
	default:
		d.others = append(d.others, oneLine(r.Type))
	}
}

func (e *factCollector) tell(what, branch string, d demands) {
	before := len(e.report.Facts)
	branch = oneLine(branch)
	if d.locked {
		e.add(what, Problem, branch+" is locked: nothing can be merged to it.", "Unlock it under Settings → Branches.")
	}
	if d.reviews > 0 {
		e.add(what, OK, fmt.Sprintf("A pull request to %s takes %d approving reviews; ralph's wait for them.", branch,
			d.reviews), "")
	}
	if len(d.checks) > 0 {
		slices.Sort(d.checks)
		names := oneLine(strings.Join(slices.Compact(d.checks), ", "))
		if e.c.kind == JobToken {
			e.add(what, Warning, fmt.Sprintf("A pull request to %s takes the checks %s, which do not start on pushes with the "+
				"job's own token.", branch, names),
				"Give ralph an App or a personal access token, or start them by hand.")
		} else {
			e.add(what, OK, fmt.Sprintf("A pull request to %s takes the checks %s.", branch, names), "")
		}
	}
	if d.signed {
		e.add(what, Warning, "Commits on "+branch+" must be signed.",
			"Let ralph sign its commits, or squash its pull requests when merging.")
	}
	if d.linear {
		e.add(what, OK, branch+" takes no merge commits: ralph's pull requests are squashed or rebased.", "")
	}
	if d.restricted {
		e.add(what, OK, "Only some may push to "+branch+"; ralph pushes to branches of its own.", "")
	}
	if len(d.others) > 0 {
		e.add(what, OK, branch+" has further rules: "+oneLine(strings.Join(d.others, ", "))+".", "")
	}
	if len(e.report.Facts) == before {
		e.add(what, OK, "Branch rules allow a pull request to "+branch+".", "")
	}
}
