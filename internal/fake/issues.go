package fake

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// mostCharacters is how long GitHub lets a comment or a description be.
const mostCharacters = 65536

func (g *GitHub) getIssue(r *request) answer {
	is := r.repo.find(r.number("number"))
	if is == nil {
		return notFound()
	}
	if is.movedTo != 0 {
		at := fmt.Sprintf("%s/issues/%d", g.repoAPI(r.repo), is.movedTo)
		return answer{status: http.StatusMovedPermanently, body: object{"message": "Moved Permanently", "url": at,
			"documentation_url": docsURL}, header: http.Header{"Location": {at}}}
	}
	return ok(g.issueShape(r.repo, is))
}

func (g *GitHub) listIssues(r *request) answer {
	q := r.query
	since, err := sinceTime(q.Get("since"))
	if err != nil {
		return invalid("Issue", "since", "invalid", "")
	}
	var found []*issue
	for _, is := range r.repo.issues {
		if stateMatches(q.Get("state"), is) && hasLabels(is, q.Get("labels")) && !is.UpdatedAt.Before(since) &&
			(q.Get("creator") == "" || strings.EqualFold(q.Get("creator"), is.Author)) {
			found = append(found, is)
		}
	}
	sortIssues(found, q.Get("sort"), q.Get("direction"))
	return page(g, r, found, func(is *issue) object { return g.issueShape(r.repo, is) })
}

func stateMatches(want string, is *issue) bool {
	switch want {
	case "all":
		return true
	case "closed":
		return is.Closed
	default:
		return !is.Closed
	}
}

// hasLabels reports whether an issue has every label of a comma-separated list.
func hasLabels(is *issue, list string) bool {
	for want := range strings.SplitSeq(list, ",") {
		want = strings.TrimSpace(want)
		if want != "" && !slices.ContainsFunc(is.Labels, func(l string) bool { return strings.EqualFold(l, want) }) {
			return false
		}
	}
	return true
}

func sortIssues(list []*issue, by, direction string) {
	slices.SortStableFunc(list, func(a, b *issue) int {
		order := 0
		switch by {
		case "updated":
			order = a.UpdatedAt.Compare(b.UpdatedAt)
		case "comments":
			order = len(a.comments) - len(b.comments)
		default:
			order = a.CreatedAt.Compare(b.CreatedAt)
		}
		if order == 0 {
			order = a.Number - b.Number
		}
		if direction != "asc" {
			order = -order
		}
		return order
	})
}

func sinceTime(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	return time.Parse(time.RFC3339, s)
}

func (g *GitHub) listComments(r *request) answer {
	is := r.repo.find(r.number("number"))
	if is == nil {
		return notFound()
	}
	since, err := sinceTime(r.query.Get("since"))
	if err != nil {
		return invalid("IssueComment", "since", "invalid", "")
	}
	var found []*comment
	for _, c := range is.comments {
		if !c.UpdatedAt.Before(since) {
			found = append(found, c)
		}
	}
	return page(g, r, found, func(c *comment) object { return g.commentShape(r.repo, c) })
}

// commentBody reads and judges the body of a comment that is to be written.
func commentBody(r *request) (string, *answer) {
	var in struct{ Body *string }
	if bad := r.decode(&in); bad != nil {
		return "", bad
	}
	if in.Body == nil || strings.TrimSpace(*in.Body) == "" {
		a := invalid("IssueComment", "body", "missing_field", "")
		return "", &a
	}
	if utf8.RuneCountInString(*in.Body) > mostCharacters {
		a := invalid("IssueComment", "data", "unprocessable", "Body is too long (maximum is 65536 characters)")
		return "", &a
	}
	return *in.Body, nil
}

func (g *GitHub) createComment(r *request) answer {
	is := r.repo.find(r.number("number"))
	if is == nil {
		return notFound()
	}
	body, bad := commentBody(r)
	if bad != nil {
		return *bad
	}
	c := g.comment(r.repo, is, Comment{Author: r.token.login, Body: body})
	return created(g.commentShape(r.repo, c))
}

func (g *GitHub) getComment(r *request) answer {
	c := r.repo.findComment(r.number("id"))
	if c == nil {
		return notFound()
	}
	return ok(g.commentShape(r.repo, c))
}

func (g *GitHub) editComment(r *request) answer {
	c := r.repo.findComment(r.number("id"))
	if c == nil {
		return notFound()
	}
	body, bad := commentBody(r)
	if bad != nil {
		return *bad
	}
	now := g.time()
	c.Body, c.UpdatedAt, c.editedAt, c.editedBy = body, now, now, r.token.login
	return ok(g.commentShape(r.repo, c))
}

func (g *GitHub) listEvents(r *request) answer {
	is := r.repo.find(r.number("number"))
	if is == nil {
		return notFound()
	}
	return page(g, r, is.events, func(e *LabelEvent) object { return g.eventShape(r.repo, e) })
}

// reactionKinds are the reactions that GitHub knows.
var reactionKinds = []string{"+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes"}

func (g *GitHub) reactToIssue(r *request) answer {
	is := r.repo.find(r.number("number"))
	if is == nil {
		return notFound()
	}
	return g.react(r, &is.reactions)
}

func (g *GitHub) reactToComment(r *request) answer {
	c := r.repo.findComment(r.number("id"))
	if c == nil {
		return notFound()
	}
	return g.react(r, &c.reactions)
}

// react adds a reaction once: the second time GitHub answers 200 with the first.
func (g *GitHub) react(r *request, to *[]*Reaction) answer {
	var in struct{ Content string }
	if bad := r.decode(&in); bad != nil {
		return *bad
	}
	if !slices.Contains(reactionKinds, in.Content) {
		return invalid("Reaction", "content", "invalid", "")
	}
	for _, re := range *to {
		if re.Content == in.Content && re.User == r.token.login {
			return ok(g.reactionShape(re))
		}
	}
	re := &Reaction{ID: g.id(), User: r.token.login, Content: in.Content, At: g.time()}
	*to = append(*to, re)
	return created(g.reactionShape(re))
}
