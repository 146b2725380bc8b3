package fake

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

func (g *GitHub) findPull(r *request) *issue {
	is := r.repo.find(r.number("number"))
	if is == nil || is.pull == nil {
		return nil
	}
	return is
}

func (g *GitHub) getPull(r *request) answer {
	is := g.findPull(r)
	if is == nil {
		return notFound()
	}
	return ok(g.fullPullShape(r.repo, is))
}

func (g *GitHub) listPulls(r *request) answer {
	q := r.query
	head := q.Get("head")
	if head != "" && !strings.Contains(head, ":") {
		// GitHub ignores such a filter and answers with every pull request: surely not what was meant.
		r.oddBody = append(r.oddBody, "the filter head is "+head+", not OWNER:BRANCH, so GitHub ignores it")
		head = ""
	}
	var found []*issue
	for _, is := range r.repo.issues {
		if is.pull == nil || !stateMatches(q.Get("state"), is) || (q.Get("base") != "" && q.Get("base") != is.pull.base) ||
			(head != "" && !strings.EqualFold(head, headLabel(r.repo, is))) {
			continue
		}
		found = append(found, is)
	}
	// Unlike for issues, the order of creation is newest first only when asked by creation or not at all.
	direction := q.Get("direction")
	if direction == "" && q.Get("sort") != "" && q.Get("sort") != "created" {
		direction = "asc"
	}
	sortIssues(found, q.Get("sort"), direction)
	return page(g, r, found, func(is *issue) object { return g.pullShape(r.repo, is) })
}

func headLabel(r *repo, is *issue) string {
	owner := r.owner
	if is.pull.headRepo != "" {
		owner, _ = splitName(is.pull.headRepo)
	}
	return owner + ":" + is.pull.head
}

func (g *GitHub) createPull(r *request) answer {
	var in struct {
		Title, Head, Base, Body string
		Draft                   bool
		MaintainerCanModify     *bool `json:"maintainer_can_modify"`
	}
	if bad := r.decode(&in); bad != nil {
		return *bad
	}
	if r.repo.settings.noPulls && r.token.kind == Actions {
		return failure(http.StatusForbidden, "GitHub Actions is not permitted to create or approve pull requests.")
	}
	head := strings.TrimPrefix(in.Head, r.repo.owner+":")
	switch {
	case in.Title == "":
		return invalid("PullRequest", "title", "missing_field", "")
	case in.Head == "":
		return invalid("PullRequest", "head", "missing_field", "")
	case in.Base == "":
		return invalid("PullRequest", "base", "missing_field", "")
	case g.branchSHA(r.repo, in.Base) == "":
		return invalid("PullRequest", "base", "invalid", "")
	case g.branchSHA(r.repo, head) == "":
		return invalid("PullRequest", "head", "invalid", "")
	case !g.ahead(r.repo, in.Base, head):
		return invalid("PullRequest", "", "custom", fmt.Sprintf("No commits between %s and %s", in.Base, head))
	case utf8.RuneCountInString(in.Body) > mostCharacters:
		return invalid("PullRequest", "body", "custom", "body is too long (maximum is 65536 characters)")
	case utf8.RuneCountInString(in.Title) > 256:
		return invalid("PullRequest", "title", "custom", "title is too long (maximum is 256 characters)")
	}
	if slices.ContainsFunc(r.repo.issues, func(is *issue) bool {
		return is.pull != nil && !is.Closed && is.pull.headRepo == "" && is.pull.head == head && is.pull.base == in.Base
	}) {
		return invalid("PullRequest", "", "custom",
			fmt.Sprintf("A pull request already exists for %s:%s.", r.repo.owner, head))
	}
	is := g.open(r.repo, Issue{Title: in.Title, Body: in.Body, Author: r.token.login})
	is.pull = &pull{id: g.id(), head: head, base: in.Base, draft: in.Draft}
	g.pullHappened(r.repo, is, "opened", is.Author)
	return created(g.fullPullShape(r.repo, is))
}

func (g *GitHub) editPull(r *request) answer {
	is := g.findPull(r)
	if is == nil {
		return notFound()
	}
	var in struct {
		Title, Body, State, Base *string
		MaintainerCanModify      *bool `json:"maintainer_can_modify"`
	}
	if bad := r.decode(&in); bad != nil {
		return *bad
	}
	switch {
	case in.Title != nil && *in.Title == "":
		return invalid("PullRequest", "title", "missing_field", "")
	case in.Body != nil && utf8.RuneCountInString(*in.Body) > mostCharacters:
		return invalid("PullRequest", "body", "custom", "body is too long (maximum is 65536 characters)")
	case in.State != nil && *in.State != "open" && *in.State != "closed":
		return invalid("PullRequest", "state", "invalid", "")
	case in.Base != nil && g.branchSHA(r.repo, *in.Base) == "":
		return invalid("PullRequest", "base", "invalid", "")
	}
	for to, from := range map[*string]*string{&is.Title: in.Title, &is.Body: in.Body, &is.pull.base: in.Base} {
		if from != nil {
			*to = *from
		}
	}
	if in.State != nil {
		is.Closed = *in.State == "closed"
	}
	is.UpdatedAt = g.time()
	return ok(g.fullPullShape(r.repo, is))
}

func splitName(full string) (owner, name string) {
	owner, name, _ = strings.Cut(full, "/")
	return owner, name
}
