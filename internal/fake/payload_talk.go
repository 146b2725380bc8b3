package fake

import (
	"fmt"
	"strings"
)

// UnlabeledPayload is the payload of issues.unlabeled: sender took label off an issue. It does not take it off; Unlabel
// does.
func (g *GitHub) UnlabeledPayload(owner, name string, number int, label, sender string) []byte {
	g.mu.Lock()
	defer g.mu.Unlock()
	r, is := g.mustIssue(owner, name, number)
	return g.payload(r, sender, object{"action": "unlabeled", "issue": g.issueShape(r, is),
		"label": g.labelShape(r, label)})
}

// IssueClosedPayload is the payload of issues.closed for an issue that CloseIssue closed.
func (g *GitHub) IssueClosedPayload(owner, name string, number int, sender string) []byte {
	g.mu.Lock()
	defer g.mu.Unlock()
	r, is := g.mustIssue(owner, name, number)
	if !is.Closed || is.pull != nil {
		panic(fmt.Sprintf("fake: %s#%d is no closed issue", r, number))
	}
	return g.payload(r, sender, object{"action": "closed", "issue": g.issueShape(r, is)})
}

// IssueEditedPayload is the payload of issues.edited for an issue that EditIssue edited: was has the title and the body
// from before.
func (g *GitHub) IssueEditedPayload(owner, name string, number int, was Issue, sender string) []byte {
	g.mu.Lock()
	defer g.mu.Unlock()
	r, is := g.mustIssue(owner, name, number)
	changes := object{}
	for key, text := range map[string][2]string{"title": {was.Title, is.Title}, "body": {was.Body, is.Body}} {
		if text[0] != text[1] {
			changes[key] = object{"from": text[0]}
		}
	}
	return g.payload(r, sender, object{"action": "edited", "issue": g.issueShape(r, is), "changes": changes})
}

// CommentEditedPayload is the payload of issue_comment.edited for a comment that EditComment edited: was is its text
// from before.
func (g *GitHub) CommentEditedPayload(owner, name string, commentID int64, was, sender string) []byte {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.mustRepo(owner, name)
	c := r.findComment(commentID)
	if c == nil {
		panic(fmt.Sprintf("fake: there is no comment %d in %s", commentID, r))
	}
	return g.payload(r, sender, object{
		"action": "edited", "issue": g.issueShape(r, c.issue), "comment": g.commentShape(r, c),
		"changes": object{"body": object{"from": was}},
	})
}

// PullClosedPayload is the payload of pull_request.closed for one that ClosePull closed or Merge merged.
func (g *GitHub) PullClosedPayload(owner, name string, number int, sender string) []byte {
	g.mu.Lock()
	defer g.mu.Unlock()
	r, is := g.mustPull(owner, name, number)
	if !is.Closed {
		panic(fmt.Sprintf("fake: %s#%d is open", r, number))
	}
	return g.payload(r, sender, object{"action": "closed", "number": number, "pull_request": g.fullPullShape(r, is)})
}

// PullLabeledPayload is the payload of pull_request.labeled: sender put label on a pull request. It does not put it on;
// Label does.
func (g *GitHub) PullLabeledPayload(owner, name string, number int, label, sender string) []byte {
	g.mu.Lock()
	defer g.mu.Unlock()
	r, is := g.mustPull(owner, name, number)
	return g.payload(r, sender, object{
		"action": "labeled", "number": number, "pull_request": g.fullPullShape(r, is), "label": g.labelShape(r, label),
	})
}

// ReviewPayload is the payload of pull_request_review.submitted for a review that AddReview made. Webhooks write its
// state in lower case.
func (g *GitHub) ReviewPayload(owner, name string, reviewID int64) []byte {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.mustRepo(owner, name)
	is, v := r.reviewByID(reviewID)
	if v == nil {
		panic(fmt.Sprintf("fake: there is no review %d in %s", reviewID, r))
	}
	shown := g.reviewShape(r, is, v)
	shown["state"], shown["body"] = strings.ToLower(v.State), text(v.Body)
	return g.payload(r, v.Author, object{"action": "submitted", "review": shown, "pull_request": g.pullShape(r, is)})
}

func (r *repo) reviewByID(id int64) (*issue, *review) {
	for _, is := range r.issues {
		if is.pull == nil {
			continue
		}
		for _, v := range is.pull.reviews {
			if v.ID == id {
				return is, v
			}
		}
	}
	return nil, nil
}

// ReviewCommentPayload is the payload of pull_request_review_comment.created for a comment of AddReview's or
// AddReviewComment's.
func (g *GitHub) ReviewCommentPayload(owner, name string, commentID int64) []byte {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.mustRepo(owner, name)
	is, c := r.findReviewComment(commentID)
	if c == nil {
		panic(fmt.Sprintf("fake: there is no review comment %d in %s", commentID, r))
	}
	return g.payload(r, c.Author, object{
		"action": "created", "comment": g.reviewCommentShape(r, is, c), "pull_request": g.pullShape(r, is),
	})
}
