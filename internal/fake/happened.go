package fake

import "strings"

// What Apps hear of when someone does something in the miniature. Callers hold the lock.

func (g *GitHub) issueHappened(r *repo, is *issue, action, by string, was *Issue) {
	g.happened(r, "issues", by, func() object {
		o := object{"action": action, "issue": g.issueShape(r, is)}
		if was == nil {
			return o
		}
		changes := object{}
		for key, text := range map[string][2]string{"title": {was.Title, is.Title}, "body": {was.Body, is.Body}} {
			if text[0] != text[1] {
				changes[key] = object{"from": text[0]}
			}
		}
		o["changes"] = changes
		return o
	})
}

func (g *GitHub) labelHappened(r *repo, is *issue, action, label, by string) {
	if is.pull == nil {
		g.happened(r, "issues", by, func() object {
			return object{"action": action, "issue": g.issueShape(r, is), "label": g.labelShape(r, label)}
		})
		return
	}
	g.happened(r, "pull_request", by, func() object {
		return object{"action": action, "number": is.Number, "pull_request": g.fullPullShape(r, is),
			"label": g.labelShape(r, label)}
	})
}

func (g *GitHub) pullHappened(r *repo, is *issue, action, by string) {
	g.happened(r, "pull_request", by, func() object {
		return object{"action": action, "number": is.Number, "pull_request": g.fullPullShape(r, is)}
	})
}

func (g *GitHub) closedHappened(r *repo, is *issue, by string) {
	if is.pull != nil {
		g.pullHappened(r, is, "closed", by)
		return
	}
	g.issueHappened(r, is, "closed", by, nil)
}

// reviewHappened reports a review and of its comments. Webhooks write a review's state in lower case.
func (g *GitHub) reviewHappened(r *repo, is *issue, v *review) {
	g.happened(r, "pull_request_review", v.Author, func() object {
		shown := g.reviewShape(r, is, v)
		shown["state"], shown["body"] = strings.ToLower(v.State), text(v.Body)
		return object{"action": "submitted", "review": shown, "pull_request": g.pullShape(r, is)}
	})
}
