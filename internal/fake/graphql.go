package fake

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// operations answers every operation of GraphQL that ralph sends, by its text with single spaces. Any other text is a
// problem: a new query is compared with GitHub's reference and added here.
var operations = map[string]func(*GitHub, *token, variables) object{
	`query { viewer { login } }`: func(g *GitHub, t *token, _ variables) object {
		return object{"viewer": g.actorNode(t.Login)}
	},
	`query($owner: String!, $name: String!, $number: Int!) { repository(owner: $owner, name: $name) ` +
		`{ issue(number: $number) { lastEditedAt } } }`: (*GitHub).askIssue,
	`query($owner: String!, $name: String!, $labels: [String!]!, $states: [IssueState!]!, $file: String!) ` +
		`{ repository(owner: $owner, name: $name) { issues(labels: $labels, states: $states, first: 1) { totalCount } ` +
		`object(expression: $file) { ... on Blob { text isTruncated } } } }`: (*GitHub).askPending,
	`query($owner: String!, $name: String!, $number: Int!, $after: String) { repository(owner: $owner, name: $name) ` +
		`{ pullRequest(number: $number) { reviewThreads(first: 100, after: $after) { pageInfo { hasNextPage endCursor } ` +
		`nodes { isResolved isOutdated path line originalLine comments(first: 100) ` +
		`{ nodes { databaseId body createdAt lastEditedAt author { __typename login } } } } } } } }`: (*GitHub).askThreads,
	`query($id: ID!) { node(id: $id) { ... on IssueComment { issue { closed } lastEditedAt ` +
		`editor { __typename login } } } }`: (*GitHub).askComment,
	`mutation($id: ID!) { markPullRequestReadyForReview(input: {pullRequestId: $id}) ` +
		`{ pullRequest { isDraft } } }`: (*GitHub).finishPull,
	`mutation($id: ID!, $title: String, $body: String!) ` +
		`{ updatePullRequest(input: {pullRequestId: $id, title: $title, body: $body}) { pullRequest { closed } } ` +
		`markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { isDraft } } }`: (*GitHub).finishPull,
}

var requiredVariable = regexp.MustCompile(`\$(\w+): \S+![,)]`)

// variables are the values that come with an operation.
type variables map[string]any

func (v variables) text(name string) string {
	s, _ := v[name].(string)
	return s
}

// refuse answers in GraphQL's way: status 200, and errors in the body. path is the field that has no value.
func refuse(path, kind, format string, args ...any) {
	panic(ok(object{"data": object{path: nil},
		"errors": []object{{"type": kind, "path": []string{path}, "message": fmt.Sprintf(format, args...)}}}))
}

func unresolved(path, format string, args ...any) {
	refuse(path, "NOT_FOUND", "Could not resolve to "+format, args...)
}

// graphql serves what REST cannot: threads of reviews, drafts, and when a text was last edited.
func (g *GitHub) graphql(r *request) answer {
	var in struct {
		Query     string    `json:"query"`
		Variables variables `json:"variables"`
	}
	r.decode(&in)
	query, problem := strings.Join(strings.Fields(in.Query), " "), ""
	ask, known := operations[query]
	if !known {
		problem = "no such operation is known here: " + query
	}
	for _, m := range requiredVariable.FindAllStringSubmatch(query, -1) {
		if in.Variables[m[1]] == nil {
			problem = fmt.Sprintf("the variable $%s has no value", m[1])
		}
	}
	if problem != "" {
		r.problems = append(r.problems, problem)
		refuse("query", "INVALID", "%s", problem)
	}
	return ok(object{"data": ask(g, r.token, in.Variables)})
}

// repository is the one that the variables name, if the token may read it.
func (g *GitHub) repository(t *token, v variables) *repo {
	full := v.text("owner") + "/" + v.text("name")
	r := g.repos[strings.ToLower(full)]
	if r == nil {
		g.problems = append(g.problems, "POST /graphql: no such repository: "+full)
	}
	if r == nil || g.unreachable(t, r, false) != nil {
		unresolved("repository", "a Repository with the name '%s'.", full)
	}
	return r
}

// numbered is the issue or the pull request that the variables name; one is not the other here.
func (g *GitHub) numbered(t *token, v variables, pull bool) *issue {
	number, _ := v["number"].(float64)
	is := g.repository(t, v).find(int64(number))
	if is == nil || (is.pull != nil) != pull {
		unresolved("repository", "an Issue or a PullRequest with the number of %v.", number)
	}
	return is
}

func (g *GitHub) askIssue(t *token, v variables) object {
	return object{"repository": object{"issue": object{"lastEditedAt": moment(g.numbered(t, v, false).editedAt)}}}
}

// askPending counts the issues in some states that have any of the labels, and reads a file, null where none is.
func (g *GitHub) askPending(t *token, v variables) object {
	r := g.repository(t, v)
	labels, _ := v["labels"].([]any)
	states, _ := v["states"].([]any)
	count, file := 0, any(nil)
	for _, is := range r.issues {
		if is.pull == nil && slices.Contains(states, any(strings.ToUpper(state(is)))) &&
			slices.ContainsFunc(labels, func(l any) bool { return hasLabels(is, fmt.Sprint(l)) }) {
			count++
		}
	}
	if at := v.text("file"); g.read(r, "cat-file", "-t", "--end-of-options", at) == "blob" {
		file = object{"text": g.read(r, "cat-file", "blob", "--end-of-options", at), "isTruncated": false}
	}
	return object{"repository": object{"issues": object{"totalCount": count}, "object": file}}
}

// askThreads answers with 100 threads of a pull request; the cursor is the number of those before.
func (g *GitHub) askThreads(t *token, v variables) object {
	is := g.numbered(t, v, true)
	from, _ := strconv.Atoi(v.text("after")) // without one it is 0
	to := min(from+100, len(is.pull.threads))
	nodes := each(is.pull.threads[from:to], func(th *thread) object {
		line := any(th.line)
		if th.outdated {
			line = nil
		}
		comments := each(th.comments, func(c *reviewComment) object {
			return object{"databaseId": c.ID, "body": c.Body, "createdAt": stamp(c.CreatedAt),
				"lastEditedAt": moment(c.editedAt), "author": g.actorNode(c.Author)}
		})
		return object{"isResolved": th.resolved, "isOutdated": th.outdated, "path": th.path, "line": line,
			"originalLine": th.line, "comments": object{"nodes": comments}}
	})
	return object{"repository": object{"pullRequest": object{"reviewThreads": object{"nodes": nodes,
		"pageInfo": object{"hasNextPage": to < len(is.pull.threads), "endCursor": strconv.Itoa(to)}}}}}
}

// everything is the issues and pull requests of all repositories.
func (g *GitHub) everything() (all []*issue) {
	for _, r := range g.repos {
		all = append(all, r.issues...)
	}
	return all
}

// askComment finds a comment by its global ID. The editor is null if the comment was never edited, or if the account that
// edited it is gone.
func (g *GitHub) askComment(_ *token, v variables) object {
	for _, is := range g.everything() {
		c := first(is.comments, func(c *comment) bool { return node("IC", c.ID) == v.text("id") })
		if c == nil {
			continue
		}
		o := object{"issue": object{"closed": is.Closed}, "lastEditedAt": moment(c.editedAt), "editor": nil}
		if c.editedBy != "" {
			o["editor"] = g.actorNode(c.editedBy)
		}
		return object{"node": o}
	}
	unresolved("node", "a node with the global id of '%s'", v.text("id"))
	return nil
}

// actorNode is a user. Unlike in REST, the login of a bot is without [bot].
func (g *GitHub) actorNode(login string) object {
	u := g.user(login)
	kind := "User"
	if u.bot {
		kind = "Bot"
	}
	return object{"__typename": kind, "login": strings.TrimSuffix(u.login, "[bot]")}
}

// finishPull takes a pull request out of draft, and changes its title and body where they are given.
func (g *GitHub) finishPull(t *token, v variables) object {
	const mutation = "markPullRequestReadyForReview"
	if !t.may("pull_requests=write") {
		body, _ := t.forbidden().body.(object)
		refuse(mutation, "FORBIDDEN", "%v", body["message"])
	}
	for _, is := range g.everything() {
		if is.pull == nil || pullNode(is) != v.text("id") {
			continue
		}
		for key, to := range map[string]*string{"title": &is.Title, "body": &is.Body} {
			if given, is := v[key].(string); is {
				*to = given
			}
		}
		is.pull.Draft, is.UpdatedAt = false, g.time()
		return object{mutation: object{"pullRequest": object{"isDraft": false}},
			"updatePullRequest": object{"pullRequest": object{"closed": is.Closed}}}
	}
	unresolved(mutation, "a node with the global id of '%s'", v.text("id"))
	return nil
}
