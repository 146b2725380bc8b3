package fake

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// The shapes are GitHub's JSON, with the fields that ralph reads. Callers hold the lock.

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

// userShape is a person, a bot or an organization.
func (g *GitHub) userShape(login string) object {
	u := g.user(login)
	kind := "User"
	switch {
	case u.bot:
		kind = "Bot"
	case g.organizations[strings.ToLower(login)] != nil:
		kind = "Organization"
	}
	return object{"login": u.login, "id": u.id, "type": kind}
}

func labelShape(name string) object { return object{"name": name} }

func (r *repo) visibility() string {
	if r.private {
		return "private"
	}
	return "public"
}

// ownShape is a repository itself.
func (g *GitHub) ownShape(r *repo) object { return g.repoShape(r, "") }

// repoShape is a repository. fork is OWNER/NAME of a fork to show in its place, empty for the repository itself.
func (g *GitHub) repoShape(r *repo, fork string) object {
	owner, name, id, full := r.owner, r.name, r.id, r.String()
	if fork != "" {
		full = fork
		owner, name = splitName(fork)
		id = r.id + 1_000_000
	}
	return object{
		"id": id, "name": name, "full_name": full, "owner": g.userShape(owner), "private": r.private,
		"visibility": r.visibility(), "html_url": g.url + "/" + full, "fork": fork != "", "default_branch": r.defaultBranch,
		"has_issues": true, "archived": false, "disabled": false,
	}
}

func (g *GitHub) issueShape(r *repo, is *issue) object {
	o := object{
		"id": is.id, "url": fmt.Sprintf("%s/issues/%d", g.repoAPI(r), is.Number), "html_url": g.issuePage(r, is),
		"number": is.Number, "state": state(is), "title": is.Title, "body": text(is.Body), "user": g.userShape(is.Author),
		"labels": g.labelShapes(r, is), "comments": len(is.comments), "closed_by": nil, "created_at": stamp(is.CreatedAt),
		"updated_at": stamp(is.UpdatedAt),
	}
	if is.Closed { // the owner closes every issue here
		o["closed_by"] = g.userShape(r.owner)
	}
	if is.pull != nil {
		o["pull_request"] = object{"html_url": g.pullPage(r, is)}
	}
	return o
}

func (g *GitHub) labelShapes(r *repo, is *issue) []object {
	return each(is.Labels, labelShape)
}

// text is a body as GitHub answers it: null when nothing was written.
func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// moment is a time as GitHub answers it: null when it was not yet.
func moment(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return stamp(t)
}

func (g *GitHub) commentShape(r *repo, c *comment) object {
	return object{
		"id": c.ID, "node_id": node("IC", c.ID), "html_url": fmt.Sprintf("%s#issuecomment-%d", g.issuePage(r, c.issue), c.ID),
		"issue_url": fmt.Sprintf("%s/issues/%d", g.repoAPI(r), c.issue.Number), "user": g.userShape(c.Author), "body": c.Body,
		"created_at": stamp(c.CreatedAt), "updated_at": stamp(c.UpdatedAt),
	}
}

func (g *GitHub) reactionShape(re Reaction) object {
	return object{"id": re.ID, "user": g.userShape(re.User), "content": re.Content, "created_at": stamp(re.At)}
}

func (g *GitHub) eventShape(r *repo, e *LabelEvent) object {
	kind := "labeled"
	if e.Removed {
		kind = "unlabeled"
	}
	return object{"id": e.ID, "actor": g.userShape(e.Actor), "event": kind, "created_at": stamp(e.At),
		"label": labelShape(e.Label)}
}

func (g *GitHub) pullShape(r *repo, is *issue) object {
	p := is.pull
	end := func(fork, branch, sha string) object {
		return object{"ref": branch, "sha": sha, "repo": g.repoShape(r, fork)}
	}
	return object{
		"id": p.id, "node_id": pullNode(is), "html_url": g.pullPage(r, is), "number": is.Number, "state": state(is),
		"title": is.Title, "body": text(is.Body), "user": g.userShape(is.Author), "labels": g.labelShapes(r, is),
		"created_at": stamp(is.CreatedAt), "updated_at": stamp(is.UpdatedAt), "merge_commit_sha": text(p.mergeSHA),
		"requested_reviewers": each(p.Requested, g.userShape), "draft": p.Draft,
		"head": end(p.HeadRepo, p.Head, g.headSHA(r, is)), "base": end("", p.Base, g.branchSHA(r, p.Base)),
	}
}

// fullPullShape is what an answer about a single pull request adds to one in a list.
func (g *GitHub) fullPullShape(r *repo, is *issue) object {
	o := g.pullShape(r, is)
	o["merged"] = is.pull.Merged
	if is.pull.mergedBy != "" {
		o["merged_by"] = g.userShape(is.pull.mergedBy)
	}
	return o
}

// pullsAt are the open pull requests of the repository itself whose head is a commit. Those of forks do not exist, as
// at GitHub.
func (g *GitHub) pullsAt(r *repo, sha string) []object {
	return each(those(r.issues, func(is *issue) bool {
		return is.pull != nil && !is.Closed && is.pull.HeadRepo == "" && g.headSHA(r, is) == sha
	}), func(is *issue) object { return object{"number": is.Number} })
}

func (g *GitHub) reviewShape(r *repo, is *issue, v *Review) object {
	return object{
		"id": v.ID, "user": g.userShape(v.Author), "body": v.Body, "state": v.State, "submitted_at": stamp(v.At),
		"html_url":         fmt.Sprintf("%s#pullrequestreview-%d", g.pullPage(r, is), v.ID),
		"pull_request_url": fmt.Sprintf("%s/pulls/%d", g.repoAPI(r), is.Number), "commit_id": v.Commit,
	}
}

// reviewCommentShape is a comment on a line, which an outdated one no longer has.
func (g *GitHub) reviewCommentShape(r *repo, is *issue, c *reviewComment) object {
	o := object{
		"id": c.ID, "node_id": node("PRRC", c.ID), "path": c.thread.path, "line": c.thread.line, "body": c.Body,
		"html_url":         fmt.Sprintf("%s#discussion_r%d", g.pullPage(r, is), c.ID),
		"pull_request_url": fmt.Sprintf("%s/pulls/%d", g.repoAPI(r), is.Number), "commit_id": g.headSHA(r, is),
		"user": g.userShape(c.Author), "created_at": stamp(c.CreatedAt), "updated_at": stamp(c.UpdatedAt),
	}
	if c.thread.outdated {
		o["line"] = nil
	}
	if c.InReplyTo != 0 {
		o["in_reply_to_id"] = c.InReplyTo
	}
	return o
}

func (g *GitHub) appShape(app *App) object {
	return object{"id": app.ID, "slug": app.Slug, "owner": g.userShape(app.Owner), "name": app.Slug}
}

func (g *GitHub) checkRunShape(r *repo, c *checkRun) object {
	page := fmt.Sprintf("%s/%s/runs/%d", g.url, r, c.ID)
	details := cmp.Or(c.DetailsURL, page)
	if j := r.findJob(c.ID); j != nil {
		page = g.jobPage(r, j)
		details = page
	}
	return object{
		"id": c.ID, "name": c.Name, "head_sha": c.HeadSHA, "external_id": c.ExternalID, "html_url": page,
		"details_url": details, "status": c.Status, "conclusion": text(c.Conclusion), "started_at": moment(c.StartedAt),
		"completed_at": moment(c.CompletedAt), "check_suite": object{"id": c.suite.id}, "app": g.appShape(c.app),
		"pull_requests": g.pullsAt(r, c.HeadSHA),
		"output": object{"title": text(c.Title), "summary": text(c.Summary), "text": text(c.Text),
			"annotations_count": len(c.Annotations)},
	}
}

func annotationShape(a Annotation) object {
	return object{"path": a.Path, "start_line": a.StartLine, "end_line": a.EndLine, "annotation_level": a.Level,
		"title": text(a.Title), "message": a.Message}
}
