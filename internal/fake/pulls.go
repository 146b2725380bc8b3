package fake

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
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
	is := found(g.findPull(r))
	return ok(g.fullPullShape(r.repo, is))
}

func (g *GitHub) listPulls(r *request) answer {
	q := r.query
	head := q.Get("head")
	if head != "" && !strings.Contains(head, ":") {
		// GitHub ignores such a filter and answers with every pull request: surely not what was meant.
		r.problems = append(r.problems, "the filter head is "+head+", not OWNER:BRANCH, so GitHub ignores it")
		head = ""
	}
	r.onlyOpen()
	found := those(r.repo.issues, func(is *issue) bool {
		return is.pull != nil && !is.Closed && (q.Get("base") == "" || q.Get("base") == is.pull.Base) &&
			(head == "" || strings.EqualFold(head, headLabel(r.repo, is)))
	})
	sortIssues(found, q.Get("direction"))
	return page(g, r, found, func(is *issue) object { return g.pullShape(r.repo, is) })
}

func headLabel(r *repo, is *issue) string {
	owner := r.owner
	if is.pull.HeadRepo != "" {
		owner, _ = splitName(is.pull.HeadRepo)
	}
	return owner + ":" + is.pull.Head
}

func (g *GitHub) createPull(r *request) answer {
	var in struct {
		Title, Head, Base, Body string
		Draft                   bool
		MaintainerCanModify     *bool `json:"maintainer_can_modify"`
	}
	r.decode(&in)
	if r.repo.settings.noPulls && r.token.Kind == Actions {
		return failure(http.StatusForbidden, "GitHub Actions is not permitted to create or approve pull requests.")
	}
	head := strings.TrimPrefix(in.Head, r.repo.owner+":")
	switch {
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
		return is.pull != nil && !is.Closed && is.pull.HeadRepo == "" && is.pull.Head == head && is.pull.Base == in.Base
	}) {
		return invalid("PullRequest", "", "custom",
			fmt.Sprintf("A pull request already exists for %s:%s.", r.repo.owner, head))
	}
	is := g.open(r.repo, Issue{Title: in.Title, Body: in.Body, Author: r.token.Login})
	is.pull = &pull{Pull: Pull{Head: head, Base: in.Base, Draft: in.Draft}, id: g.id()}
	g.subjectHappened(r.repo, is, "opened", is.Author)
	return created(g.fullPullShape(r.repo, is))
}

func (g *GitHub) editPull(r *request) answer {
	is := found(g.findPull(r))
	in := struct{ Title, Body, Base string }{is.Title, is.Body, is.pull.Base}
	r.decode(&in)
	switch {
	case in.Title == "":
		return invalid("PullRequest", "title", "missing_field", "")
	case utf8.RuneCountInString(in.Body) > mostCharacters:
		return invalid("PullRequest", "body", "custom", "body is too long (maximum is 65536 characters)")
	case in.Base != is.pull.Base && g.branchSHA(r.repo, in.Base) == "":
		return invalid("PullRequest", "base", "invalid", "")
	}
	is.Title, is.Body, is.pull.Base = in.Title, in.Body, in.Base
	is.UpdatedAt = g.time()
	return ok(g.fullPullShape(r.repo, is))
}

func splitName(full string) (owner, name string) {
	owner, name, _ = strings.Cut(full, "/")
	return owner, name
}

var closing = regexp.MustCompile(`(?i)\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):? #(\d+)\b`)

// Merge merges a pull request as someone, with a merge commit whose id it returns, and closes the issues that its text
// says it closes. When its head is not in the repository, only the records say that it was merged.
func (g *GitHub) Merge(owner, name string, number int, by string) string {
	defer g.lock()()
	r, is := g.mustPull(owner, name, number)
	g.user(by)
	is.pull.mergeSHA = cmp.Or(g.mergeCommit(r, is, by), g.headSHA(r, is))
	is.pull.Merged, is.pull.mergedBy, is.Closed, is.UpdatedAt = true, by, true, g.time()
	defer g.subjectHappened(r, is, "closed", by)
	if is.pull.Base != r.defaultBranch {
		return is.pull.mergeSHA
	}
	for _, m := range closing.FindAllStringSubmatch(is.Body, -1) {
		n, err := strconv.ParseInt(m[1], 10, 64)
		if linked := r.find(n); err == nil && linked != nil && linked.pull == nil {
			linked.Closed, linked.UpdatedAt = true, g.time()
			g.subjectHappened(r, linked, "closed", by)
		}
	}
	return is.pull.mergeSHA
}

// mergeCommit merges the head into the base; empty when the head does not exist. Callers hold the lock.
func (g *GitHub) mergeCommit(r *repo, is *issue, by string) string {
	base, head := g.branchSHA(r, is.pull.Base), g.headSHA(r, is)
	if base == "" || !g.hasCommit(r, head) {
		return ""
	}
	tree, err := runGit(r.gitDir, "", "merge-tree", "--write-tree", base, head)
	sha := ""
	if err == nil {
		sha, err = g.commit(r, is.pull.Base, g.identity(by),
			fmt.Sprintf("Merge pull request #%d from %s\n\n%s", is.Number, headLabel(r, is), is.Title),
			"merge "+head+"\nM 040000 "+tree+" \n")
	}
	if err != nil {
		panic(fmt.Sprintf("fake: merging %s#%d: %v", r, is.Number, err))
	}
	return sha
}
