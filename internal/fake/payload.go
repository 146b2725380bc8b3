package fake

import (
	"encoding/json"
	"fmt"
)

// LabeledPayload is the payload of issues.labeled: sender put label on an issue. It does not put it on; Label does.
func (g *GitHub) LabeledPayload(owner, name string, number int, label, sender string) []byte {
	g.mu.Lock()
	defer g.mu.Unlock()
	r, is := g.mustIssue(owner, name, number)
	return g.payload(r, sender, object{"action": "labeled", "issue": g.issueShape(r, is), "label": g.labelShape(r, label)})
}

// CommentPayload is the payload of issue_comment.created for a comment that AddComment made, on an issue or on a pull
// request.
func (g *GitHub) CommentPayload(owner, name string, commentID int64) []byte {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.mustRepo(owner, name)
	c := r.findComment(commentID)
	if c == nil {
		panic(fmt.Sprintf("fake: there is no comment %d in %s", commentID, r))
	}
	return g.payload(r, c.Author, object{"action": "created", "issue": g.issueShape(r, c.issue),
		"comment": g.commentShape(r, c)})
}

// DispatchPayload is the payload of workflow_dispatch on the default branch.
func (g *GitHub) DispatchPayload(owner, name, sender string, inputs map[string]string) []byte {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.mustRepo(owner, name)
	o := object{"inputs": nil, "ref": "refs/heads/" + r.defaultBranch, "workflow": ".github/workflows/ralph.yml"}
	if inputs != nil {
		o["inputs"] = inputs
	}
	return g.payload(r, sender, o)
}

// SchedulePayload is what the runner writes for schedule, which is no webhook: no one is its sender.
func (g *GitHub) SchedulePayload(owner, name string) []byte {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.mustRepo(owner, name)
	return g.payload(r, "", object{"schedule": "17 * * * *", "workflow": ".github/workflows/ralph.yml"})
}

// payload adds what every event has. Callers hold the lock.
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
