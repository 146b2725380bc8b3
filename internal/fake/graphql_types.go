package fake

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

func (g *GitHub) queryRoot(t *token) object {
	return object{
		"viewer":     g.actorNode(t.login),
		"repository": resolver(func(args map[string]any) (any, *refusal) { return g.repositoryNode(t, args) }),
		"node":       resolver(g.byID),
	}
}

// byID finds a comment by its global id; no one asks for anything else that way.
func (g *GitHub) byID(args map[string]any) (any, *refusal) {
	id, _ := args["id"].(string)
	for _, r := range g.repos {
		for _, is := range r.issues {
			for _, c := range is.comments {
				if node("IC", c.ID) == id {
					o := g.commentNode(c)
					o["issue"] = object{"__typename": "Issue", "closed": is.Closed}
					return o, nil
				}
			}
		}
	}
	return nil, unresolved("node", fmt.Sprintf("Could not resolve to a node with the global id of '%s'", id))
}

func (g *GitHub) repositoryNode(t *token, args map[string]any) (any, *refusal) {
	owner, _ := args["owner"].(string)
	name, _ := args["name"].(string)
	r := g.repos[strings.ToLower(owner+"/"+name)]
	if r == nil {
		no := unresolved("repository", fmt.Sprintf("Could not resolve to a Repository with the name '%s/%s'.", owner, name))
		no.problem = "no such repository: " + owner + "/" + name
		return nil, no
	}
	if g.unreachable(t, r, false) != nil {
		return nil, unresolved("repository", fmt.Sprintf("Could not resolve to a Repository with the name '%s'.", r))
	}
	return object{
		"__typename": "Repository", "id": node("R", r.id), "name": r.name, "nameWithOwner": r.String(),
		"isPrivate": r.private,
		"issue": resolver(func(args map[string]any) (any, *refusal) {
			return g.numbered(r, args, false)
		}),
		"pullRequest": resolver(func(args map[string]any) (any, *refusal) {
			return g.numbered(r, args, true)
		}),
		"issues": resolver(func(args map[string]any) (any, *refusal) { return g.labelled(r, args) }),
		"object": resolver(func(args map[string]any) (any, *refusal) { return g.object(r, args), nil }),
	}, nil
}

// object is the file that an expression such as main:README.md names, or nil.
func (g *GitHub) object(r *repo, args map[string]any) any {
	expression, _ := args["expression"].(string)
	if strings.HasPrefix(expression, "-") || strings.TrimSpace(g.read(r, "cat-file", "-t", expression)) != "blob" {
		return nil
	}
	return object{"__typename": "Blob", "text": g.read(r, "cat-file", "blob", expression), "isTruncated": false}
}

// labelled are the issues in some states that have any of the labels; REST wants all of them.
func (g *GitHub) labelled(r *repo, args map[string]any) (any, *refusal) {
	labels, _ := args["labels"].([]any)
	states, _ := args["states"].([]any)
	var found []*issue
	for _, is := range r.issues {
		if is.pull == nil && slices.Contains(states, any(strings.ToUpper(state(is)))) &&
			slices.ContainsFunc(labels, func(l any) bool { return hasLabels(is, fmt.Sprint(l)) }) {
			found = append(found, is)
		}
	}
	return connection("issues", args, found, func(is *issue) object { return g.issueNode(r, is) })
}

// numbered finds an issue or a pull request by its number; one is not the other here.
func (g *GitHub) numbered(r *repo, args map[string]any, pull bool) (any, *refusal) {
	number, _ := args["number"].(float64)
	is := r.find(int64(number))
	switch {
	case is == nil || (is.pull != nil) != pull:
		kind := "an Issue"
		if pull {
			kind = "a PullRequest"
		}
		return nil, unresolved("repository", fmt.Sprintf("Could not resolve to %s with the number of %d.", kind, int(number)))
	case pull:
		return g.pullNodeObject(r, is), nil
	}
	return g.issueNode(r, is), nil
}

func (g *GitHub) issueNode(r *repo, is *issue) object {
	return object{
		"__typename": "Issue", "id": node("I", is.id), "number": is.Number, "title": is.Title, "body": is.Body,
		"closed": is.Closed, "state": strings.ToUpper(state(is)), "url": g.issuePage(r, is), "author": g.actorNode(is.Author),
		"createdAt": stamp(is.CreatedAt),
		"updatedAt": stamp(is.UpdatedAt), "lastEditedAt": moment(is.editedAt),
		"comments": resolver(func(args map[string]any) (any, *refusal) {
			return connection("comments", args, is.comments, g.commentNode)
		}),
	}
}

func (g *GitHub) commentNode(c *comment) object {
	editor := any(nil) // of a comment that was never edited, or by an account that is gone
	if c.editedBy != "" {
		editor = g.actorNode(c.editedBy)
	}
	return object{
		"editor":     editor,
		"__typename": "IssueComment", "id": node("IC", c.ID), "databaseId": c.ID, "body": c.Body,
		"author":    g.actorNode(c.Author),
		"createdAt": stamp(c.CreatedAt), "updatedAt": stamp(c.UpdatedAt), "lastEditedAt": moment(c.editedAt),
	}
}

func (g *GitHub) pullNodeObject(r *repo, is *issue) object {
	o := g.issueNode(r, is)
	for key, v := range (object{
		"__typename": "PullRequest", "id": pullNode(is), "isDraft": is.pull.draft, "merged": is.pull.merged,
		"headRefName": is.pull.head,
		"headRefOid":  g.headSHA(r, is), "baseRefName": is.pull.base,
		"reviewThreads": resolver(func(args map[string]any) (any, *refusal) {
			return connection("reviewThreads", args, is.pull.threads, g.threadNode)
		}),
	}) {
		o[key] = v
	}
	if is.pull.merged {
		o["state"] = "MERGED"
	}
	return o
}

func (g *GitHub) threadNode(th *thread) object {
	line := any(th.line)
	if th.outdated {
		line = nil
	}
	return object{
		"__typename": "PullRequestReviewThread", "id": node("PRRT", th.id), "isResolved": th.resolved,
		"isOutdated":  th.outdated,
		"isCollapsed": th.resolved || th.outdated, "path": th.path, "line": line, "originalLine": th.line, "startLine": nil,
		"diffSide": "RIGHT", "subjectType": "LINE",
		"comments": resolver(func(args map[string]any) (any, *refusal) {
			return connection("comments", args, th.comments, g.reviewCommentNode)
		}),
	}
}

func (g *GitHub) reviewCommentNode(c *reviewComment) object {
	reply := any(nil)
	if c.InReplyTo != 0 {
		reply = object{"databaseId": c.InReplyTo, "id": node("PRRC", c.InReplyTo)}
	}
	return object{
		"__typename": "PullRequestReviewComment", "id": node("PRRC", c.ID), "databaseId": c.ID,
		"fullDatabaseId": strconv.FormatInt(c.ID, 10),
		"author":         g.actorNode(c.Author), "body": c.Body, "path": c.thread.path, "createdAt": stamp(c.CreatedAt),
		"updatedAt": stamp(c.UpdatedAt), "lastEditedAt": moment(c.editedAt), "replyTo": reply, "outdated": c.thread.outdated,
		"isMinimized": false, "pullRequestReview": object{"databaseId": c.ReviewID, "id": node("PRR", c.ReviewID)},
	}
}

// actorNode is someone. Unlike in REST, the login of a bot is without [bot].
func (g *GitHub) actorNode(login string) object {
	u := g.user(login)
	kind := "User"
	if u.bot {
		kind = "Bot"
	}
	return object{"__typename": kind, "login": strings.TrimSuffix(u.login, "[bot]"), "id": node("U", u.id),
		"databaseId": u.id}
}

// connection is one page of a list. As at GitHub, first has to be given and is 100 at most.
func connection[T any](name string, args map[string]any, all []T, shape func(T) object) (any, *refusal) {
	first, given := args["first"].(float64)
	if !given {
		message := fmt.Sprintf("You must provide a `first` or `last` value to properly paginate the `%s` connection.", name)
		return nil, &refusal{path: "repository", kind: "MISSING_PAGINATION_BOUNDARIES", message: message, problem: message}
	}
	if first < 1 || first > 100 {
		message := fmt.Sprintf("Requesting %d records on the `%s` connection exceeds the `first` limit of 100 records.",
			int(first), name)
		return nil, &refusal{path: "repository", kind: "EXCESSIVE_PAGINATION", message: message, problem: message}
	}
	from := 0
	if after, ok := args["after"].(string); ok {
		var fine bool
		if from, fine = cursorPlace(after); !fine || from > len(all) {
			message := fmt.Sprintf("`%s` does not appear to be a valid cursor.", after)
			return nil, &refusal{path: "repository", kind: "INVALID_CURSOR_ARGUMENTS", message: message, problem: message}
		}
	}
	to := min(from+int(first), len(all))
	nodes := []object{}
	for _, item := range all[from:to] {
		nodes = append(nodes, shape(item))
	}
	cursor := any(nil)
	if len(nodes) > 0 {
		cursor = base64.StdEncoding.EncodeToString([]byte("cursor:" + strconv.Itoa(to)))
	}
	return object{
		"nodes": nodes, "totalCount": len(all),
		"pageInfo": object{"hasNextPage": to < len(all), "hasPreviousPage": from > 0, "endCursor": cursor},
	}, nil
}

// cursorPlace is where a cursor of ours points.
func cursorPlace(cursor string) (int, bool) {
	raw, err := base64.StdEncoding.DecodeString(cursor)
	if err != nil {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimPrefix(string(raw), "cursor:"))
	return n, err == nil && n >= 0
}

// mutationRoot are the mutations that someone asks for.
func (g *GitHub) mutationRoot(t *token) object {
	draft := func(draft bool) resolver {
		return func(args map[string]any) (any, *refusal) { return g.setDraft(t, args, draft) }
	}
	return object{
		"updatePullRequest":             resolver(func(args map[string]any) (any, *refusal) { return g.updatePull(t, args) }),
		"markPullRequestReadyForReview": draft(false), "convertPullRequestToDraft": draft(true),
	}
}

func mutationInput(args map[string]any, key string) string {
	in, _ := args["input"].(object)
	id, _ := in[key].(string)
	return id
}

// mayTalk is the refusal of a token that cannot write to pull requests.
func mayTalk(t *token, mutation string) *refusal {
	if t.may("pull_requests=write") {
		return nil
	}
	body, _ := t.forbidden().body.(object)
	return &refusal{path: mutation, kind: "FORBIDDEN", message: fmt.Sprint(body["message"])}
}

func (g *GitHub) setDraft(t *token, args map[string]any, draft bool) (any, *refusal) {
	mutation := "markPullRequestReadyForReview"
	if draft {
		mutation = "convertPullRequestToDraft"
	}
	if no := mayTalk(t, mutation); no != nil {
		return nil, no
	}
	id := mutationInput(args, "pullRequestId")
	for _, r := range g.repos {
		for _, is := range r.issues {
			if is.pull != nil && pullNode(is) == id {
				is.pull.draft, is.UpdatedAt = draft, g.time()
				return object{"clientMutationId": nil, "pullRequest": g.pullNodeObject(r, is)}, nil
			}
		}
	}
	return nil, unresolved(mutation, fmt.Sprintf("Could not resolve to a node with the global id of '%s'", id))
}
