package fake

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"
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
	return links(object{
		"login": u.login, "id": u.id, "node_id": node("U", u.id), "avatar_url": fmt.Sprintf("%s/avatars/u/%d", g.url, u.id),
		"gravatar_id": "", "url": api, "html_url": page, "type": kind, "site_admin": false,
	}, api, "followers following{/other_user} gists{/gist_id} starred{/owner}{/repo} subscriptions organizations=orgs "+
		"repos events{/privacy} received_events")
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

var linkName = regexp.MustCompile(`^\w+`)

// links adds the addresses below api that a resource has: for each word NAME=PATH, or PATH that begins with NAME, the key
// NAME_url.
func links(o object, api, words string) object {
	for _, word := range strings.Fields(words) {
		name, path, given := strings.Cut(word, "=")
		if !given {
			path, name = name, linkName.FindString(name)
		}
		o[name+"_url"] = api + "/" + path
	}
	return o
}

// setAll sets each of the keys to a value.
func setAll(o object, value any, keys string) object {
	for _, key := range strings.Fields(keys) {
		o[key] = value
	}
	return o
}

// repoShape is a repository. fork is OWNER/NAME of a fork to show in its place, empty for the repository itself.
func (g *GitHub) repoShape(r *repo, fork string) object {
	owner, name, id, full := r.owner, r.name, r.id, r.String()
	if fork != "" {
		full = fork
		owner, name = splitName(fork)
		id = r.id + 1_000_000
	}
	api, page, open := g.APIURL()+"/repos/"+full, g.url+"/"+full, 0
	for _, is := range r.issues {
		if !is.Closed {
			open++
		}
	}
	o := object{"id": id, "node_id": node("R", id), "name": name, "full_name": full, "owner": g.accountShape(owner),
		"private": r.private, "fork": fork != "", "html_url": page, "url": api, "visibility": visibility(r),
		"git_url": "git://" + page[len("http://"):] + ".git", "ssh_url": "git@127.0.0.1:" + full + ".git",
		"clone_url": page + ".git", "svn_url": page, "topics": []string{}, "default_branch": r.defaultBranch, "size": 1}
	setAll(o, nil, "description mirror_url homepage language license")
	setAll(o, 0, "forks_count stargazers_count watchers_count forks watchers")
	setAll(o, open, "open_issues_count open_issues")
	setAll(o, true, "has_issues has_projects has_wiki has_downloads allow_forking")
	setAll(o, false, "has_pages has_discussions archived disabled is_template web_commit_signoff_required")
	setAll(o, stamp(r.createdAt), "pushed_at created_at updated_at")
	return links(o, api, "archive={archive_format}{/ref} assignees{/user} blobs=git/blobs{/sha} branches{/branch} "+
		"collaborators{/collaborator} comments{/number} commits{/sha} compare/{base}...{head} contents/{+path} "+
		"contributors deployments downloads events forks git_commits=git/commits{/sha} git_refs=git/refs{/sha} "+
		"git_tags=git/tags{/sha} hooks issue_comment=issues/comments{/number} issue_events=issues/events{/number} "+
		"issues{/number} keys{/key_id} labels{/name} languages merges milestones{/number} "+
		"notifications{?since,all,participating} pulls{/number} releases{/id} stargazers statuses/{sha} subscribers "+
		"subscription tags teams trees=git/trees{/sha}")
}

func visibility(r *repo) string {
	if r.private {
		return "private"
	}
	return "public"
}

func (g *GitHub) pullShape(r *repo, is *issue) object {
	repo := g.repoAPI(r)
	api, issueAPI := fmt.Sprintf("%s/pulls/%d", repo, is.Number), fmt.Sprintf("%s/issues/%d", repo, is.Number)
	page, head, p := g.pullPage(r, is), g.headSHA(r, is), is.pull
	link := func(to string) object { return object{"href": to} }
	return object{
		"url": api, "id": p.id, "node_id": pullNode(is), "html_url": page, "diff_url": page + ".diff",
		"patch_url": page + ".patch", "issue_url": issueAPI, "commits_url": api + "/commits",
		"review_comments_url": api + "/comments", "review_comment_url": repo + "/pulls/comments{/number}",
		"comments_url": issueAPI + "/comments", "statuses_url": repo + "/statuses/" + head, "number": is.Number,
		"state": state(is), "locked": false, "active_lock_reason": nil, "title": is.Title, "body": text(is.Body),
		"user": g.userShape(is.Author), "labels": g.labelShapes(r, is), "milestone": nil, "created_at": stamp(is.CreatedAt),
		"updated_at": stamp(is.UpdatedAt), "closed_at": closedAt(is), "merged_at": mergedAt(is),
		"merge_commit_sha": text(p.mergeSHA), "assignee": nil, "assignees": []object{},
		"requested_reviewers": g.userShapes(p.requested), "requested_teams": []object{},
		"head": g.endShape(r, p.headRepo, p.head, head), "base": g.endShape(r, "", p.base, g.branchSHA(r, p.base)),
		"_links": object{"self": link(api), "html": link(page), "issue": link(issueAPI),
			"comments": link(issueAPI + "/comments"), "review_comments": link(api + "/comments"),
			"review_comment": link(repo + "/pulls/comments{/number}"), "commits": link(api + "/commits"),
			"statuses": link(repo + "/statuses/" + head)},
		"author_association": association(r, is.Author), "auto_merge": nil, "draft": p.draft,
	}
}

// fullPullShape is what an answer about a single pull request adds to one in a list.
func (g *GitHub) fullPullShape(r *repo, is *issue) object {
	o := g.pullShape(r, is)
	o["merged"], o["comments"], o["review_comments"] = is.pull.merged, len(is.comments), len(is.pull.reviewComments())
	o["mergeable_state"], o["maintainer_can_modify"], o["deletions"] = "unknown", false, 0
	setAll(o, nil, "mergeable rebaseable merged_by")
	if is.pull.mergedBy != "" {
		o["merged_by"] = g.userShape(is.pull.mergedBy)
	}
	return setAll(o, 1, "commits additions changed_files")
}

// endShape is the head or the base of a pull request.
func (g *GitHub) endShape(r *repo, fork, branch, sha string) object {
	shown := g.repoShape(r, fork)
	owner := r.owner
	if fork != "" {
		owner, _ = splitName(fork)
	}
	return object{"label": owner + ":" + branch, "ref": branch, "sha": sha, "user": g.userShape(owner), "repo": shown}
}

func (g *GitHub) checkRunShape(r *repo, c *checkRun) object {
	api := fmt.Sprintf("%s/check-runs/%d", g.repoAPI(r), c.ID)
	page := fmt.Sprintf("%s/%s/runs/%d", g.url, r, c.ID)
	details := page
	if c.DetailsURL != "" {
		details = c.DetailsURL
	}
	if j := r.findJob(c.ID); j != nil {
		page = g.jobPage(r, j)
		details = page
	}
	return object{
		"id": c.ID, "name": c.Name, "node_id": node("CR", c.ID), "head_sha": c.HeadSHA, "external_id": c.ExternalID,
		"url":      api,
		"html_url": page, "details_url": details, "status": c.Status, "conclusion": text(c.Conclusion),
		"started_at":   moment(c.StartedAt),
		"completed_at": moment(c.CompletedAt), "check_suite": object{"id": c.suite.id}, "app": g.appShape(c.app),
		"pull_requests": g.pullsAt(r, c.HeadSHA),
		"output": object{
			"title": text(c.Title), "summary": text(c.Summary), "text": text(c.Text), "annotations_count": len(c.Annotations),
			"annotations_url": api + "/annotations",
		},
	}
}

// moment is a time as GitHub answers it: null when it was not yet.
func moment(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return stamp(t)
}

func (g *GitHub) annotationShape(r *repo, c *checkRun, a Annotation) object {
	column := func(n int) any {
		if n == 0 {
			return nil
		}
		return n
	}
	return object{
		"path": a.Path, "blob_href": fmt.Sprintf("%s/%s/blob/%s/%s", g.url, r, c.HeadSHA, url.PathEscape(a.Path)),
		"start_line": a.StartLine,
		"end_line":   a.EndLine, "start_column": column(a.StartColumn), "end_column": column(a.EndColumn),
		"annotation_level": a.Level,
		"title":            text(a.Title), "message": a.Message, "raw_details": text(a.RawDetails),
	}
}

func (g *GitHub) appShape(app *App) object {
	at := stamp(time.Unix(0, 0))
	return object{
		"id": app.ID, "slug": app.Slug, "node_id": node("A", app.ID), "owner": g.userShape(app.Owner), "name": app.Slug,
		"description":  "",
		"external_url": g.url, "html_url": g.url + "/apps/" + app.Slug, "created_at": at, "updated_at": at,
		"permissions": object{}, "events": []string{},
	}
}

// pullsAt are the open pull requests of the repository itself whose head is a commit. Those of forks do not exist, as
// at GitHub.
func (g *GitHub) pullsAt(r *repo, sha string) []object {
	found := []object{}
	for _, is := range r.issues {
		if is.pull == nil || is.Closed || is.pull.headRepo != "" || g.headSHA(r, is) != sha {
			continue
		}
		end := func(ref, sha string) object {
			return object{"ref": ref, "sha": sha, "repo": object{"id": r.id, "url": g.repoAPI(r), "name": r.name}}
		}
		found = append(found, object{
			"id": is.pull.id, "number": is.Number, "url": fmt.Sprintf("%s/pulls/%d", g.repoAPI(r), is.Number),
			"head": end(is.pull.head, sha), "base": end(is.pull.base, g.branchSHA(r, is.pull.base)),
		})
	}
	return found
}

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

// reviewCommentShape is a comment on a line. GitHub keeps only the first place of an outdated one.
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
