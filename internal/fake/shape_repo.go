package fake

import "fmt"

// repoLinks are the addresses in a repository's JSON, by key without _url: what follows the repository's own.
var repoLinks = map[string]string{
	"archive": "/{archive_format}{/ref}", "assignees": "/assignees{/user}", "blobs": "/git/blobs{/sha}",
	"branches":      "/branches{/branch}",
	"collaborators": "/collaborators{/collaborator}", "comments": "/comments{/number}", "commits": "/commits{/sha}",
	"compare": "/compare/{base}...{head}", "contents": "/contents/{+path}", "contributors": "/contributors",
	"deployments": "/deployments", "downloads": "/downloads", "events": "/events", "forks": "/forks",
	"git_commits": "/git/commits{/sha}", "git_refs": "/git/refs{/sha}", "git_tags": "/git/tags{/sha}", "hooks": "/hooks",
	"issue_comment": "/issues/comments{/number}", "issue_events": "/issues/events{/number}", "issues": "/issues{/number}",
	"keys": "/keys{/key_id}", "labels": "/labels{/name}", "languages": "/languages", "merges": "/merges",
	"milestones": "/milestones{/number}", "notifications": "/notifications{?since,all,participating}",
	"pulls":    "/pulls{/number}",
	"releases": "/releases{/id}", "stargazers": "/stargazers", "statuses": "/statuses/{sha}",
	"subscribers":  "/subscribers",
	"subscription": "/subscription", "tags": "/tags", "teams": "/teams", "trees": "/git/trees{/sha}",
}

// repoShape is a repository. fork is OWNER/NAME of a fork to show in its place, empty for the repository itself.
func (g *GitHub) repoShape(r *repo, fork string) object {
	owner, name, id, full := r.owner, r.name, r.id, r.String()
	if fork != "" {
		full = fork
		owner, name = splitName(fork)
		id = r.id + 1_000_000
	}
	api, page := g.APIURL()+"/repos/"+full, g.url+"/"+full
	at := stamp(r.createdAt)
	open := 0
	for _, is := range r.issues {
		if !is.Closed {
			open++
		}
	}
	o := object{
		"id": id, "node_id": node("R", id), "name": name, "full_name": full, "owner": g.accountShape(owner),
		"private":  r.private,
		"html_url": page, "description": nil, "fork": fork != "", "url": api,
		"git_url": "git://" + page[len("http://"):] + ".git",
		"ssh_url": "git@127.0.0.1:" + full + ".git", "clone_url": page + ".git", "svn_url": page, "mirror_url": nil,
		"homepage": nil,
		"language": nil, "license": nil, "topics": []string{}, "visibility": visibility(r), "default_branch": r.defaultBranch,
		"forks_count": 0, "stargazers_count": 0, "watchers_count": 0, "size": 1, "open_issues_count": open, "forks": 0,
		"watchers":    0,
		"open_issues": open, "has_issues": true, "has_projects": true, "has_wiki": true, "has_pages": false,
		"has_downloads":   true,
		"has_discussions": false, "archived": false, "disabled": false, "allow_forking": true, "is_template": false,
		"web_commit_signoff_required": false, "pushed_at": at, "created_at": at, "updated_at": at,
	}
	for key, rest := range repoLinks {
		o[key+"_url"] = api + rest
	}
	return o
}

func visibility(r *repo) string {
	if r.private {
		return "private"
	}
	return "public"
}

func (g *GitHub) pullShape(r *repo, is *issue) object {
	api := fmt.Sprintf("%s/pulls/%d", g.repoAPI(r), is.Number)
	issueAPI := fmt.Sprintf("%s/issues/%d", g.repoAPI(r), is.Number)
	page := g.pullPage(r, is)
	head := g.headSHA(r, is)
	statuses := g.repoAPI(r) + "/statuses/" + head
	link := func(to string) object { return object{"href": to} }
	p := is.pull
	return object{
		"url": api, "id": p.id, "node_id": pullNode(is), "html_url": page, "diff_url": page + ".diff",
		"patch_url": page + ".patch",
		"issue_url": issueAPI, "commits_url": api + "/commits", "review_comments_url": api + "/comments",
		"review_comment_url": g.repoAPI(r) + "/pulls/comments{/number}", "comments_url": issueAPI + "/comments",
		"statuses_url": statuses,
		"number":       is.Number, "state": state(is), "locked": false, "active_lock_reason": nil, "title": is.Title,
		"body": text(is.Body),
		"user": g.userShape(is.Author), "labels": g.labelShapes(r, is), "milestone": nil, "created_at": stamp(is.CreatedAt),
		"updated_at": stamp(is.UpdatedAt), "closed_at": closedAt(is), "merged_at": mergedAt(is),
		"merge_commit_sha": text(is.pull.mergeSHA),
		"assignee":         nil, "assignees": []object{},
		"requested_reviewers": g.userShapes(is.pull.requested), "requested_teams": []object{},
		"head": g.endShape(r, p.headRepo, p.head, head), "base": g.endShape(r, "", p.base, g.branchSHA(r, p.base)),
		"_links": object{
			"self": link(api), "html": link(page), "issue": link(issueAPI), "comments": link(issueAPI + "/comments"),
			"review_comments": link(api + "/comments"), "review_comment": link(g.repoAPI(r) + "/pulls/comments{/number}"),
			"commits": link(api + "/commits"), "statuses": link(statuses),
		},
		"author_association": association(r, is.Author), "auto_merge": nil, "draft": p.draft,
	}
}

// fullPullShape is what an answer about a single pull request adds to one in a list.
func (g *GitHub) fullPullShape(r *repo, is *issue) object {
	o := g.pullShape(r, is)
	mergedBy := any(nil)
	if is.pull.mergedBy != "" {
		mergedBy = g.userShape(is.pull.mergedBy)
	}
	for key, value := range (object{
		"merged": is.pull.merged, "mergeable": nil, "rebaseable": nil, "mergeable_state": "unknown", "merged_by": mergedBy,
		"comments": len(is.comments), "review_comments": len(is.pull.reviewComments()), "maintainer_can_modify": false,
		"commits": 1, "additions": 1, "deletions": 0,
		"changed_files": 1,
	}) {
		o[key] = value
	}
	return o
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
