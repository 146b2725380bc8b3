package fake

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

func (g *GitHub) listReviews(r *request) answer {
	is := g.findPull(r)
	if is == nil {
		return notFound()
	}
	return page(g, r, is.pull.reviews, func(v *review) object { return g.reviewShape(r.repo, is, v) })
}

func (g *GitHub) getReview(r *request) answer {
	is, v := g.findReview(r)
	if v == nil {
		return notFound()
	}
	return ok(g.reviewShape(r.repo, is, v))
}

func (g *GitHub) findReview(r *request) (*issue, *review) {
	is := g.findPull(r)
	if is == nil {
		return nil, nil
	}
	for _, v := range is.pull.reviews {
		if v.ID == r.number("id") {
			return is, v
		}
	}
	return is, nil
}

func (g *GitHub) listPullComments(r *request) answer {
	is := g.findPull(r)
	if is == nil {
		return notFound()
	}
	since, err := sinceTime(r.query.Get("since"))
	if err != nil {
		return invalid("PullRequestReviewComment", "since", "invalid", "")
	}
	var found []*reviewComment
	for _, c := range is.pull.reviewComments() {
		if !c.UpdatedAt.Before(since) {
			found = append(found, c)
		}
	}
	sortReviewComments(found, r.query.Get("sort"), r.query.Get("direction"))
	return page(g, r, found, func(c *reviewComment) object { return g.reviewCommentShape(r.repo, is, c) })
}

// sortReviewComments orders oldest first unless sort is given; then, as at GitHub, direction counts and is desc when it
// is left out.
func sortReviewComments(list []*reviewComment, by, direction string) {
	slices.SortStableFunc(list, func(a, b *reviewComment) int {
		order := cmp.Compare(a.ID, b.ID)
		if by == "updated" {
			order = cmp.Or(a.UpdatedAt.Compare(b.UpdatedAt), order)
		}
		if by != "" && direction != "asc" {
			return -order
		}
		return order
	})
}

// findReviewComment finds one in the whole repository: its address names no pull request.
func (r *repo) findReviewComment(id int64) (*issue, *reviewComment) {
	for _, is := range r.issues {
		if is.pull == nil {
			continue
		}
		for _, c := range is.pull.reviewComments() {
			if c.ID == id {
				return is, c
			}
		}
	}
	return nil, nil
}

func (g *GitHub) getReviewComment(r *request) answer {
	is, c := r.repo.findReviewComment(r.number("id"))
	if c == nil {
		return notFound()
	}
	return ok(g.reviewCommentShape(r.repo, is, c))
}

// replyToReviewComment answers in a thread. Only the thread's first comment can be replied to: any other is not found.
func (g *GitHub) replyToReviewComment(r *request) answer {
	is := g.findPull(r)
	if is == nil {
		return notFound()
	}
	in, c := r.repo.findReviewComment(r.number("id"))
	if c == nil || in != is || c.InReplyTo != 0 {
		return notFound()
	}
	body, bad := reviewCommentBody(r)
	if bad != nil {
		return *bad
	}
	added := g.reviewComment(r.repo, is, ReviewComment{Author: r.token.login, Body: body, InReplyTo: c.ID})
	return created(g.reviewCommentShape(r.repo, is, added))
}

func reviewCommentBody(r *request) (string, *answer) {
	var in struct{ Body *string }
	if bad := r.decode(&in); bad != nil {
		return "", bad
	}
	if in.Body == nil || strings.TrimSpace(*in.Body) == "" {
		a := invalid("PullRequestReviewComment", "body", "missing_field", "")
		return "", &a
	}
	if utf8.RuneCountInString(*in.Body) > mostCharacters {
		a := invalid("PullRequestReviewComment", "body", "custom", "body is too long (maximum is 65536 characters)")
		return "", &a
	}
	return *in.Body, nil
}

func (g *GitHub) reactToReviewComment(r *request) answer {
	_, c := r.repo.findReviewComment(r.number("id"))
	if c == nil {
		return notFound()
	}
	return g.react(r, &c.reactions)
}
