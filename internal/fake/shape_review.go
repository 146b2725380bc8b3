package fake

import "fmt"

func (g *GitHub) reviewShape(r *repo, is *issue, v *review) object {
	page := fmt.Sprintf("%s#pullrequestreview-%d", g.pullPage(r, is), v.ID)
	pullAPI := fmt.Sprintf("%s/pulls/%d", g.repoAPI(r), is.Number)
	return object{
		"id": v.ID, "node_id": node("PRR", v.ID), "user": g.userShape(v.Author), "body": v.Body, "state": v.State,
		"html_url":         page,
		"pull_request_url": pullAPI, "author_association": association(r, v.Author), "submitted_at": stamp(v.At),
		"commit_id": v.Commit,
		"_links":    object{"html": object{"href": page}, "pull_request": object{"href": pullAPI}},
	}
}

// reviewCommentShape is a comment on a line. Of an outdated one GitHub keeps only where it stood at first.
func (g *GitHub) reviewCommentShape(r *repo, is *issue, c *reviewComment) object {
	api := fmt.Sprintf("%s/pulls/comments/%d", g.repoAPI(r), c.ID)
	page := fmt.Sprintf("%s#discussion_r%d", g.pullPage(r, is), c.ID)
	pullAPI := fmt.Sprintf("%s/pulls/%d", g.repoAPI(r), is.Number)
	var line, position any = c.thread.line, 1
	if c.thread.outdated {
		line, position = nil, nil
	}
	o := object{
		"id": c.ID, "node_id": node("PRRC", c.ID), "url": api, "pull_request_review_id": c.ReviewID, "html_url": page,
		"pull_request_url": pullAPI, "diff_hunk": "@@ -1 +1 @@\n-old\n+new", "path": c.thread.path, "position": position,
		"original_position": 1, "commit_id": g.headSHA(r, is), "original_commit_id": c.commit, "user": g.userShape(c.Author),
		"body":       c.Body,
		"created_at": stamp(c.CreatedAt), "updated_at": stamp(c.UpdatedAt), "author_association": association(r, c.Author),
		"start_line": nil, "original_start_line": nil, "start_side": nil, "line": line, "original_line": c.thread.line,
		"side":         "RIGHT",
		"subject_type": "line", "reactions": reactionCounts(api, c.reactions),
		"_links": object{"self": object{"href": api}, "html": object{"href": page}, "pull_request": object{"href": pullAPI}},
	}
	if c.InReplyTo != 0 {
		o["in_reply_to_id"] = c.InReplyTo
	}
	return o
}
