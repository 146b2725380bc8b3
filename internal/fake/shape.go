package fake

import (
	"fmt"
	"strings"
)

// The shapes are GitHub's JSON. Callers hold the lock.

func node(kind string, id int64) string { return fmt.Sprintf("%s_kwDO%08d", kind, id) }

func pullNode(is *issue) string { return node("PR", is.pull.id) }

func (g *GitHub) repoAPI(r *repo) string { return g.APIURL() + "/repos/" + r.String() }

func (g *GitHub) pullPage(r *repo, is *issue) string {
	return fmt.Sprintf("%s/%s/pull/%d", g.url, r, is.Number)
}

func (g *GitHub) issuePage(r *repo, is *issue) string {
	if is.pull != nil {
		return g.pullPage(r, is)
	}
	return fmt.Sprintf("%s/%s/issues/%d", g.url, r, is.Number)
}

func (g *GitHub) userShape(login string) object {
	u := g.user(login)
	kind, slug := "User", u.login
	page := g.url + "/" + u.login
	if u.bot {
		kind = "Bot"
		page = g.url + "/apps/" + strings.TrimSuffix(u.login, "[bot]")
		slug = strings.NewReplacer("[", "%5B", "]", "%5D").Replace(u.login)
	}
	api := g.APIURL() + "/users/" + slug
	return object{
		"login": u.login, "id": u.id, "node_id": node("U", u.id), "avatar_url": fmt.Sprintf("%s/avatars/u/%d", g.url, u.id),
		"gravatar_id": "", "url": api, "html_url": page, "type": kind, "site_admin": false,
		"followers_url": api + "/followers", "following_url": api + "/following{/other_user}",
		"gists_url":   api + "/gists{/gist_id}",
		"starred_url": api + "/starred{/owner}{/repo}", "subscriptions_url": api + "/subscriptions",
		"organizations_url": api + "/orgs",
		"repos_url":         api + "/repos", "events_url": api + "/events{/privacy}",
		"received_events_url": api + "/received_events",
	}
}

// association is GitHub's author_association, which says less than people think: it is no permission.
func association(r *repo, login string) string {
	switch legacy[r.permissions[strings.ToLower(login)]] {
	case "admin", "write":
		if strings.EqualFold(login, r.owner) {
			return "OWNER"
		}
		return "COLLABORATOR"
	}
	return "NONE"
}

func (g *GitHub) labelShape(r *repo, name string) object {
	l := g.repoLabel(r, name)
	var description any
	if l.description != "" {
		description = l.description
	}
	return object{
		"id": l.id, "node_id": node("LA", l.id), "url": g.repoAPI(r) + "/labels/" + l.name, "name": l.name,
		"color": l.color, "default": false, "description": description,
	}
}

func (g *GitHub) labelShapes(r *repo, is *issue) []object {
	labels := []object{}
	for _, l := range is.Labels {
		labels = append(labels, g.labelShape(r, l))
	}
	return labels
}

// closedBy is the owner of the repository, who closes every issue here; nil before.
func (g *GitHub) closedBy(r *repo, is *issue) any {
	if !is.Closed {
		return nil
	}
	return g.userShape(r.owner)
}

func (g *GitHub) issueShape(r *repo, is *issue) object {
	api := fmt.Sprintf("%s/issues/%d", g.repoAPI(r), is.Number)
	o := object{
		"id": is.id, "node_id": node("I", is.id), "url": api, "repository_url": g.repoAPI(r),
		"labels_url":   api + "/labels{/name}",
		"comments_url": api + "/comments", "events_url": api + "/events", "timeline_url": api + "/timeline",
		"html_url": g.issuePage(r, is), "number": is.Number, "state": state(is), "state_reason": stateReason(is),
		"title": is.Title,
		"body":  text(is.Body), "user": g.userShape(is.Author), "labels": g.labelShapes(r, is),
		"assignee": nil, "assignees": []object{},
		"milestone": nil, "locked": false, "active_lock_reason": nil, "comments": len(is.comments), "closed_at": closedAt(is),
		"closed_by": g.closedBy(r, is), "created_at": stamp(is.CreatedAt), "updated_at": stamp(is.UpdatedAt), "author_association": association(r, is.Author),
		"performed_via_github_app": nil, "reactions": reactionCounts(api, is.reactions),
	}
	if is.pull != nil {
		o["draft"] = is.pull.draft
		o["pull_request"] = object{
			"url": fmt.Sprintf("%s/pulls/%d", g.repoAPI(r), is.Number), "html_url": g.pullPage(r, is),
			"diff_url": g.pullPage(r, is) + ".diff", "patch_url": g.pullPage(r, is) + ".patch", "merged_at": mergedAt(is),
		}
	}
	return o
}

// text is a body as GitHub answers it: null when nothing was written.
func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func stateReason(is *issue) any {
	if !is.Closed || is.pull != nil {
		return nil
	}
	return "completed"
}

func closedAt(is *issue) any {
	if !is.Closed {
		return nil
	}
	return stamp(is.UpdatedAt)
}

func mergedAt(is *issue) any {
	if is.pull == nil || !is.pull.merged {
		return nil
	}
	return stamp(is.UpdatedAt)
}

func (g *GitHub) commentShape(r *repo, c *comment) object {
	api := fmt.Sprintf("%s/issues/comments/%d", g.repoAPI(r), c.ID)
	return object{
		"id": c.ID, "node_id": node("IC", c.ID), "url": api,
		"html_url":  fmt.Sprintf("%s#issuecomment-%d", g.issuePage(r, c.issue), c.ID),
		"issue_url": fmt.Sprintf("%s/issues/%d", g.repoAPI(r), c.issue.Number), "user": g.userShape(c.Author), "body": c.Body,
		"created_at": stamp(c.CreatedAt), "updated_at": stamp(c.UpdatedAt), "author_association": association(r, c.Author),
		"performed_via_github_app": nil, "reactions": reactionCounts(api, c.reactions),
	}
}

func (g *GitHub) reactionShape(re *Reaction) object {
	return object{
		"id": re.ID, "node_id": node("REA", re.ID), "user": g.userShape(re.User), "content": re.Content,
		"created_at": stamp(re.At),
	}
}

func reactionCounts(api string, reactions []*Reaction) object {
	o := object{"url": api + "/reactions", "total_count": len(reactions)}
	for _, content := range reactionKinds {
		n := 0
		for _, re := range reactions {
			if re.Content == content {
				n++
			}
		}
		o[content] = n
	}
	return o
}

func (g *GitHub) eventShape(r *repo, e *LabelEvent) object {
	kind := "labeled"
	if e.Removed {
		kind = "unlabeled"
	}
	return object{
		"id": e.ID, "node_id": node("LE", e.ID), "url": fmt.Sprintf("%s/issues/events/%d", g.repoAPI(r), e.ID),
		"actor": g.userShape(e.Actor), "event": kind, "commit_id": nil, "commit_url": nil, "created_at": stamp(e.At),
		"performed_via_github_app": nil, "label": object{"name": e.Label, "color": g.repoLabel(r, e.Label).color},
	}
}
