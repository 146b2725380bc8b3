package fake

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
)

// The events of webhooks. Callers hold the lock.

// subjectEvent is something that happened to an issue or a pull request.
func (g *GitHub) subjectEvent(r *repo, is *issue, action string) object {
	if is.pull == nil {
		return object{"action": action, "issue": g.issueShape(r, is)}
	}
	return object{"action": action, "number": is.Number, "pull_request": g.fullPullShape(r, is)}
}

func (g *GitHub) labelEvent(r *repo, is *issue, action, label string) object {
	o := g.subjectEvent(r, is, action)
	o["label"] = labelShape(label)
	return o
}

func (g *GitHub) editedEvent(r *repo, is *issue, was Issue) object {
	o, changes := g.subjectEvent(r, is, "edited"), object{}
	for key, text := range map[string][2]string{"title": {was.Title, is.Title}, "body": {was.Body, is.Body}} {
		if text[0] != text[1] {
			changes[key] = object{"from": text[0]}
		}
	}
	o["changes"] = changes
	return o
}

func (g *GitHub) commentEvent(r *repo, c *comment, action string) object {
	return object{"action": action, "issue": g.issueShape(r, c.issue), "comment": g.commentShape(r, c)}
}

// reviewEvent is a review that was submitted. Webhooks write its state in lower case.
func (g *GitHub) reviewEvent(r *repo, is *issue, v *Review) object {
	shown := g.reviewShape(r, is, v)
	shown["state"], shown["body"] = strings.ToLower(v.State), text(v.Body)
	return object{"action": "submitted", "review": shown, "pull_request": g.pullShape(r, is)}
}

// subjectHappened reports to Apps what happened to an issue or a pull request.
func (g *GitHub) subjectHappened(r *repo, is *issue, action, by string) {
	g.happened(r, kindOf(is), by, func() object { return g.subjectEvent(r, is, action) })
}

func (g *GitHub) labelHappened(r *repo, is *issue, action, label, by string) {
	g.happened(r, kindOf(is), by, func() object { return g.labelEvent(r, is, action, label) })
}

// kindOf is the name of the events of an issue or a pull request.
func kindOf(is *issue) string {
	if is.pull != nil {
		return "pull_request"
	}
	return "issues"
}

// payload adds what every event has.
func (g *GitHub) payload(r *repo, sender string, o object) []byte {
	o["repository"] = g.repoShape(r, "")
	if sender != "" {
		o["sender"] = g.userShape(sender)
	}
	raw, err := json.MarshalIndent(o, "", "  ")
	if err != nil { // only maps, slices and plain values come here
		panic(err)
	}
	return raw
}

// LabeledPayload is the payload of issues.labeled or pull_request.labeled: sender put label on. Label puts it on.
func (g *GitHub) LabeledPayload(owner, name string, number int, label, sender string) []byte {
	return g.labelPayload(owner, name, number, "labeled", label, sender)
}

// UnlabeledPayload is the payload of issues.unlabeled: sender took label off. Unlabel takes it off.
func (g *GitHub) UnlabeledPayload(owner, name string, number int, label, sender string) []byte {
	return g.labelPayload(owner, name, number, "unlabeled", label, sender)
}

func (g *GitHub) labelPayload(owner, name string, number int, action, label, sender string) []byte {
	defer g.lock()()
	r, is := g.mustIssue(owner, name, number)
	return g.payload(r, sender, g.labelEvent(r, is, action, label))
}

// ClosedPayload is the payload of issues.closed or pull_request.closed, for what CloseIssue closed or Merge merged.
func (g *GitHub) ClosedPayload(owner, name string, number int, sender string) []byte {
	defer g.lock()()
	r, is := g.mustIssue(owner, name, number)
	if !is.Closed {
		panic(fmt.Sprintf("fake: %s#%d is open", r, number))
	}
	return g.payload(r, sender, g.subjectEvent(r, is, "closed"))
}

// IssueEditedPayload is the payload of issues.edited for an issue that EditIssue edited: was has the title and the body
// from before.
func (g *GitHub) IssueEditedPayload(owner, name string, number int, was Issue, sender string) []byte {
	defer g.lock()()
	r, is := g.mustIssue(owner, name, number)
	return g.payload(r, sender, g.editedEvent(r, is, was))
}

// CommentPayload is the payload of issue_comment.created for a comment that AddComment made, on an issue or on a pull
// request.
func (g *GitHub) CommentPayload(owner, name string, commentID int64) []byte {
	defer g.lock()()
	r, c := g.mustComment(owner, name, commentID)
	return g.payload(r, c.Author, g.commentEvent(r, c, "created"))
}

// CommentEditedPayload is the payload of issue_comment.edited for a comment that EditComment edited: was is its text
// from before.
func (g *GitHub) CommentEditedPayload(owner, name string, commentID int64, was, sender string) []byte {
	defer g.lock()()
	r, c := g.mustComment(owner, name, commentID)
	o := g.commentEvent(r, c, "edited")
	o["changes"] = object{"body": object{"from": was}}
	return g.payload(r, sender, o)
}

// ReviewPayload is the payload of pull_request_review.submitted for a review that AddReview made.
func (g *GitHub) ReviewPayload(owner, name string, reviewID int64) []byte {
	defer g.lock()()
	r := g.mustRepo(owner, name)
	for _, is := range r.issues {
		if is.pull == nil {
			continue
		}
		if v := first(is.pull.reviews, func(v *Review) bool { return v.ID == reviewID }); v != nil {
			return g.payload(r, v.Author, g.reviewEvent(r, is, v))
		}
	}
	panic(fmt.Sprintf("fake: there is no review %d in %s", reviewID, r))
}

// WorkflowRunPayload is the payload of workflow_run.completed for a run of AddWorkflowRun's that has its conclusion.
func (g *GitHub) WorkflowRunPayload(owner, name string, runID int64) []byte {
	defer g.lock()()
	r := g.mustRepo(owner, name)
	w := must(first(r.runs, func(w *run) bool { return w.ID == runID && w.Conclusion != "" }), "completed run %d", runID)
	return g.payload(r, cmp.Or(w.TriggeringActor, w.Actor), object{"action": "completed", "workflow_run": g.runShape(r, w)})
}

// DispatchPayload is the payload of workflow_dispatch on the default branch.
func (g *GitHub) DispatchPayload(owner, name, sender string, inputs map[string]string) []byte {
	defer g.lock()()
	r := g.mustRepo(owner, name)
	o := object{"inputs": nil, "ref": "refs/heads/" + r.defaultBranch, "workflow": ".github/workflows/ralph.yml"}
	if inputs != nil {
		o["inputs"] = inputs
	}
	return g.payload(r, sender, o)
}

// RepositoryDispatchPayload is the payload of repository_dispatch: eventType is what was sent as event_type,
// clientPayload anything that becomes a JSON object.
func (g *GitHub) RepositoryDispatchPayload(owner, name, sender, eventType string, clientPayload any) []byte {
	defer g.lock()()
	r := g.mustRepo(owner, name)
	return g.payload(r, sender, object{"action": eventType, "branch": r.defaultBranch, "client_payload": clientPayload})
}

// SchedulePayload is what the runner writes for schedule, which is no webhook: no one is its sender.
func (g *GitHub) SchedulePayload(owner, name string) []byte {
	defer g.lock()()
	return g.payload(g.mustRepo(owner, name), "", object{"schedule": "17 * * * *", "workflow": ".github/workflows/ralph.yml"})
}
