package fake

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// refusal is GraphQL's way to say no: status 200, and errors in the body.
type refusal struct {
	path          string // the field that has no value
	kind, message string
	problem       string // the problem when GitHub has no such thing; empty for an ordinary refusal
}

func (r *refusal) Error() string { return r.message }

func undefined(name, kind string) *refusal {
	message := fmt.Sprintf("Field '%s' doesn't exist on type '%s'", name, kind)
	return &refusal{kind: "undefinedField", message: message, problem: message}
}

func unresolved(path, message string) *refusal {
	return &refusal{path: path, kind: "NOT_FOUND", message: message}
}

// graphql serves what REST has not: threads of reviews, drafts, and when a text was last edited. It understands one
// operation without named fragments and knows the types as far as anyone asks; everything else is a problem.
func (g *GitHub) graphql(w http.ResponseWriter, r *http.Request) {
	t, refused := g.identify(r)
	if refused != nil {
		write(w, *refused)
		return
	}
	t.announce(w.Header(), "")
	var in struct {
		Query         string         `json:"query"`
		Variables     map[string]any `json:"variables"`
		OperationName string         `json:"operationName"`
	}
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &in)
	}
	if err != nil || r.Method != http.MethodPost {
		g.problem("%s /graphql: a POST with a query as JSON was expected: %v", r.Method, err)
		write(w, failure(http.StatusBadRequest, "Problems parsing JSON"))
		return
	}
	if t.kind == appKind {
		write(w, failure(http.StatusForbidden, "Resource not accessible by integration"))
		return
	}
	data, no := g.ask(t, in.Query, in.Variables)
	if no == nil {
		write(w, ok(object{"data": data}))
		return
	}
	if no.problem != "" {
		g.problem("POST /graphql: %s", no.problem)
	}
	write(w, no.answer())
}

// ask answers one operation.
func (g *GitHub) ask(t *token, query string, variables map[string]any) (object, *refusal) {
	kind, fields, err := parseQuery(query, variables)
	if err != nil {
		return nil, &refusal{kind: "PARSE_ERROR", message: "Parse error: " + err.Error(),
			problem: "the query cannot be read: " + err.Error()}
	}
	root := g.queryRoot
	if kind == "mutation" {
		root = g.mutationRoot
	}
	defer g.lock()()
	return project(root(t), fields, kind)
}

// resolver is a field with arguments.
type resolver func(args map[string]any) (any, *refusal)

// project picks the selected fields out of a value that has all of them. kind is the value's type, for GitHub's words.
func project(from object, fields []field, kind string) (object, *refusal) {
	out := object{}
	if named, ok := from["__typename"].(string); ok {
		kind = named
	}
	for _, f := range fields {
		if f.on != "" {
			if f.on == kind {
				part, no := project(from, f.sub, kind)
				if no != nil {
					return nil, no
				}
				maps.Copy(out, part)
			}
			continue
		}
		v, known := from[f.name]
		if !known {
			no := undefined(f.name, kind)
			if kind == "mutation" {
				no.problem = fmt.Sprintf("no such mutation: %q", f.name)
			}
			return nil, no
		}
		if ask, is := v.(resolver); is {
			var no *refusal
			if v, no = ask(f.args); no != nil {
				return nil, no
			}
		}
		picked, no := pick(v, f)
		if no != nil {
			return nil, no
		}
		out[f.alias] = picked
	}
	return out, nil
}

func pick(v any, f field) (any, *refusal) {
	switch v := v.(type) {
	case object:
		if len(f.sub) == 0 {
			message := fmt.Sprintf("Field must have selections (field '%s' returns an object but has no selections)", f.name)
			return nil, &refusal{kind: "selectionMismatch", message: message, problem: message}
		}
		return project(v, f.sub, f.name)
	case []object:
		list := []object{}
		for _, item := range v {
			one, no := project(item, f.sub, f.name)
			if no != nil {
				return nil, no
			}
			list = append(list, one)
		}
		return list, nil
	}
	return v, nil
}

func (r *refusal) answer() answer {
	e := object{"type": r.kind, "message": r.message, "locations": []object{{"line": 1, "column": 1}}}
	data := any(nil)
	if r.path != "" {
		e["path"] = []string{r.path}
		data = object{r.path: nil}
	}
	return ok(object{"data": data, "errors": []object{e}})
}

// field is one selected field of a query.
type field struct {
	alias, name string
	on          string // of a part that is for one type alone, "... on IssueComment { }": that type; it has no name
	args        map[string]any
	sub         []field
}

var graphqlToken = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|\.\.\.|[A-Za-z_]\w*|-?\d+(?:\.\d+)?|[{}()\[\]:$!=@]`)

// parser reads one operation without directives and with fragments in place only, which is all that the stand-in
// understands.
type parser struct {
	tokens    []string
	variables map[string]any
	err       error
}

// parseQuery reads an operation: its kind (query or mutation) and what it selects, with the values of the variables in
// place.
func parseQuery(query string, variables map[string]any) (kind string, fields []field, err error) {
	p := &parser{tokens: graphqlToken.FindAllString(query, -1), variables: variables}
	kind = "query"
	if p.peek() != "{" {
		kind = p.next()
		for p.peek() != "{" && p.peek() != "" { // the name and the variables' types
			if p.next() == "(" {
				p.skipTo(")")
			}
		}
	}
	if kind != "query" && kind != "mutation" {
		return "", nil, fmt.Errorf("a query or a mutation was expected, not %q", kind)
	}
	fields = p.selection()
	if p.err == nil && p.peek() != "" {
		p.fail("the end")
	}
	return kind, fields, p.err
}

func (p *parser) peek() string {
	if len(p.tokens) == 0 || p.err != nil {
		return ""
	}
	return p.tokens[0]
}

func (p *parser) next() string {
	t := p.peek()
	if t != "" {
		p.tokens = p.tokens[1:]
	}
	return t
}

func (p *parser) skipTo(end string) {
	for t := p.next(); t != end && t != ""; t = p.next() {
	}
}

func (p *parser) fail(wanted string) {
	if p.err == nil {
		p.err = fmt.Errorf("%s was expected, not %q", wanted, p.peek())
	}
}

func (p *parser) want(token string) {
	if p.next() != token {
		p.fail(token)
	}
}

func (p *parser) selection() []field {
	p.want("{")
	var fields []field
	for p.peek() != "}" {
		if p.peek() == "..." {
			p.want("...")
			p.want("on")
			f := field{on: p.word()}
			if f.sub = p.selection(); p.err != nil {
				return nil
			}
			fields = append(fields, f)
			continue
		}
		f := field{name: p.word()}
		f.alias = f.name
		if p.peek() == ":" {
			p.want(":")
			f.name = p.word()
		}
		if p.peek() == "(" {
			f.args = p.object("(", ")")
		}
		if p.peek() == "{" {
			f.sub = p.selection()
		}
		if p.err != nil {
			return nil
		}
		fields = append(fields, f)
	}
	p.want("}")
	return fields
}

func (p *parser) word() string {
	t := p.next()
	if t == "" || (t[0] != '_' && (t[0]|0x20 < 'a' || t[0]|0x20 > 'z')) {
		p.fail("a name")
	}
	return t
}

func (p *parser) object(begin, end string) map[string]any {
	p.want(begin)
	o := map[string]any{}
	for p.peek() != end && p.err == nil {
		name := p.word()
		p.want(":")
		o[name] = p.value()
	}
	p.want(end)
	return o
}

func (p *parser) value() any {
	switch t := p.peek(); t {
	case "{":
		return p.object("{", "}")
	case "[":
		p.want("[")
		list := []any{}
		for p.peek() != "]" && p.err == nil {
			list = append(list, p.value())
		}
		p.want("]")
		return list
	case "$":
		p.want("$")
		return p.variables[p.word()]
	default:
		p.next()
		var v any
		if json.Unmarshal([]byte(t), &v) != nil { // a word of an enumeration
			v = t
		}
		return v
	}
}

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
				if node("IC", c.ID) != id {
					continue
				}
				o := object{"__typename": "IssueComment", "lastEditedAt": moment(c.editedAt), "editor": nil,
					"issue": object{"__typename": "Issue", "closed": is.Closed}}
				if c.editedBy != "" { // otherwise it was never edited, or the account is gone
					o["editor"] = g.actorNode(c.editedBy)
				}
				return o, nil
			}
		}
	}
	return nil, noNode("node", id)
}

func noNode(path, id string) *refusal {
	return unresolved(path, fmt.Sprintf("Could not resolve to a node with the global id of '%s'", id))
}

func (g *GitHub) repositoryNode(t *token, args map[string]any) (any, *refusal) {
	name := fmt.Sprintf("%s/%s", args["owner"], args["name"])
	r := g.repos[strings.ToLower(name)]
	if r == nil || g.unreachable(t, r, false) != nil {
		no := unresolved("repository", fmt.Sprintf("Could not resolve to a Repository with the name '%s'.", name))
		if r == nil {
			no.problem = "no such repository: " + name
		}
		return nil, no
	}
	return object{
		"__typename": "Repository", "id": node("R", r.id),
		"issue":       resolver(func(args map[string]any) (any, *refusal) { return g.numbered(r, args, false) }),
		"pullRequest": resolver(func(args map[string]any) (any, *refusal) { return g.numbered(r, args, true) }),
		"issues":      resolver(func(args map[string]any) (any, *refusal) { return g.labelled(r, args) }),
		"object":      resolver(func(args map[string]any) (any, *refusal) { return g.object(r, args), nil }),
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
	return connection("issues", args, found, g.issueNode)
}

// numbered finds an issue or a pull request by its number; one is not the other here.
func (g *GitHub) numbered(r *repo, args map[string]any, pull bool) (any, *refusal) {
	number, _ := args["number"].(float64)
	if is := r.find(int64(number)); is != nil && (is.pull != nil) == pull {
		return g.issueNode(is), nil
	}
	return nil, unresolved("repository", fmt.Sprintf("Could not resolve to an issue or a pull request with the number of %d.",
		int(number)))
}

// issueNode is an issue or a pull request.
func (g *GitHub) issueNode(is *issue) object {
	o := object{"__typename": "Issue", "id": node("I", is.id), "closed": is.Closed, "lastEditedAt": moment(is.editedAt)}
	if is.pull != nil {
		o["__typename"], o["id"], o["isDraft"] = "PullRequest", pullNode(is), is.pull.draft
		o["reviewThreads"] = resolver(func(args map[string]any) (any, *refusal) {
			return connection("reviewThreads", args, is.pull.threads, g.threadNode)
		})
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
		"isOutdated": th.outdated, "path": th.path, "line": line, "originalLine": th.line,
		"comments": resolver(func(args map[string]any) (any, *refusal) {
			return connection("comments", args, th.comments, func(c *reviewComment) object {
				return object{"__typename": "PullRequestReviewComment", "databaseId": c.ID, "author": g.actorNode(c.Author),
					"body": c.Body, "createdAt": stamp(c.CreatedAt), "lastEditedAt": moment(c.editedAt)}
			})
		}),
	}
}

// actorNode is someone. Unlike in REST, the login of a bot is without [bot].
func (g *GitHub) actorNode(login string) object {
	u, kind := g.user(login), "User"
	if u.bot {
		kind = "Bot"
	}
	return object{"__typename": kind, "login": strings.TrimSuffix(u.login, "[bot]")}
}

// connection is one page of a list. As at GitHub, first must be given and is 100 at most.
func connection[T any](name string, args map[string]any, all []T, shape func(T) object) (any, *refusal) {
	first, given := args["first"].(float64)
	message := ""
	switch {
	case !given:
		message = fmt.Sprintf("You must provide a `first` or `last` value to properly paginate the `%s` connection.", name)
	case first < 1 || first > 100:
		message = fmt.Sprintf("Requesting %d records on the `%s` connection exceeds the `first` limit of 100 records.",
			int(first), name)
	}
	from := 0
	if after, ok := args["after"].(string); ok {
		if _, err := fmt.Sscanf(after, "cursor:%d", &from); err != nil || from < 0 || from > len(all) {
			message = fmt.Sprintf("`%s` does not appear to be a valid cursor.", after)
		}
	}
	if message != "" {
		return nil, &refusal{path: "repository", kind: "INVALID_PAGINATION", message: message, problem: message}
	}
	to := min(from+int(first), len(all))
	nodes := []object{}
	for _, item := range all[from:to] {
		nodes = append(nodes, shape(item))
	}
	return object{
		"nodes": nodes, "totalCount": len(all),
		"pageInfo": object{"hasNextPage": to < len(all), "endCursor": fmt.Sprintf("cursor:%d", to)},
	}, nil
}

// mutationRoot are the mutations that someone asks for.
func (g *GitHub) mutationRoot(t *token) object {
	change := func(mutation string, do func(is *issue, in object)) resolver {
		return func(args map[string]any) (any, *refusal) {
			if !t.may("pull_requests=write") {
				body, _ := t.forbidden().body.(object)
				return nil, &refusal{path: mutation, kind: "FORBIDDEN", message: fmt.Sprint(body["message"])}
			}
			in, _ := args["input"].(object)
			for _, r := range g.repos {
				for _, is := range r.issues {
					if is.pull != nil && pullNode(is) == in["pullRequestId"] {
						do(is, in)
						is.UpdatedAt = g.time()
						return object{"pullRequest": g.issueNode(is)}, nil
					}
				}
			}
			return nil, noNode(mutation, fmt.Sprint(in["pullRequestId"]))
		}
	}
	const ready, update = "markPullRequestReadyForReview", "updatePullRequest"
	return object{
		ready: change(ready, func(is *issue, _ object) { is.pull.draft = false }),
		update: change(update, func(is *issue, in object) {
			for key, to := range map[string]*string{"title": &is.Title, "body": &is.Body} {
				if text, given := in[key].(string); given {
					*to = text
				}
			}
		}),
	}
}
