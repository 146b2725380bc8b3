package fake

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
)

var (
	mutationName = regexp.MustCompile(`\{\s*(?:\w+\s*:\s*)?(\w+)\s*\(`)
	inlineID     = regexp.MustCompile(`pullRequestId\s*:\s*(?:"([^"]*)"|\$(\w+))`)
	lastEdited   = regexp.MustCompile(`(?s)repository\(.*issue\(number:.*lastEditedAt`)
	variableUse  = regexp.MustCompile(`\$(\w+)`)
)

// graphql serves what REST has not: a draft made ready, and back, and when an issue was last edited. It reads queries by pattern, not by grammar, and
// answers with more than was selected.
func (g *GitHub) graphql(w http.ResponseWriter, r *http.Request) {
	t, refused := g.identify(r)
	if refused != nil {
		write(w, *refused)
		return
	}
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
	for _, use := range variableUse.FindAllStringSubmatch(in.Query, -1) {
		if _, given := in.Variables[use[1]]; !given {
			g.problem("POST /graphql: the variable $%s has no value", use[1])
			write(w, graphqlError("", "INVALID", fmt.Sprintf("Variable $%s was provided invalid value", use[1])))
			return
		}
	}
	name := ""
	if m := mutationName.FindStringSubmatch(in.Query); m != nil {
		name = m[1]
	}
	if lastEdited.MatchString(in.Query) {
		write(w, g.lastEditedAt(in.Variables))
		return
	}
	var draft bool
	switch name {
	case "markPullRequestReadyForReview":
	case "convertPullRequestToDraft":
		draft = true
	default:
		g.problem("POST /graphql: no such mutation: %q", name)
		write(w, graphqlError("", "undefinedField", fmt.Sprintf("Field '%s' doesn't exist on type 'Mutation'", name)))
		return
	}
	write(w, g.setDraft(t, name, pullRequestID(in.Query, in.Variables), draft))
}

// pullRequestID finds the id where clients put it: in the query, in a variable of its own or in a variable for the whole input.
func pullRequestID(query string, variables map[string]any) string {
	if m := inlineID.FindStringSubmatch(query); m != nil {
		if m[1] != "" {
			return m[1]
		}
		id, _ := variables[m[2]].(string)
		return id
	}
	for _, v := range variables {
		if input, isObject := v.(object); isObject {
			if id, isString := input["pullRequestId"].(string); isString {
				return id
			}
		}
	}
	return ""
}

func (g *GitHub) setDraft(t *token, mutation, id string, draft bool) answer {
	if t.kind == appKind {
		return failure(http.StatusForbidden, "Resource not accessible by integration")
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range g.repos {
		for _, is := range r.issues {
			if is.pull == nil || pullNode(is) != id {
				continue
			}
			is.pull.draft, is.UpdatedAt = draft, g.time()
			return ok(object{"data": object{mutation: object{
				"clientMutationId": nil,
				"pullRequest": object{
					"id": id, "number": is.Number, "isDraft": draft, "url": g.pullPage(r, is), "title": is.Title, "state": "OPEN",
				},
			}}})
		}
	}
	return graphqlError(mutation, "NOT_FOUND", fmt.Sprintf("Could not resolve to a node with the global id of '%s'", id))
}

// lastEditedAt answers for the issue that the variables owner, name and number point to.
func (g *GitHub) lastEditedAt(variables map[string]any) answer {
	owner, _ := variables["owner"].(string)
	name, _ := variables["name"].(string)
	number, _ := variables["number"].(float64)
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.repos[strings.ToLower(owner+"/"+name)]
	if r == nil {
		return graphqlError("repository", "NOT_FOUND", "Could not resolve to a Repository")
	}
	for _, is := range r.issues {
		if is.Number == int(number) && is.pull == nil {
			edited := any(nil)
			if !is.editedAt.IsZero() {
				edited = is.editedAt
			}
			return ok(object{"data": object{"repository": object{"issue": object{"lastEditedAt": edited}}}})
		}
	}
	return graphqlError("repository", "NOT_FOUND", fmt.Sprintf("Could not resolve to an Issue with the number of %d.", int(number)))
}

// graphqlError is GraphQL's way to say no: status 200, and errors in the body.
func graphqlError(mutation, kind, message string) answer {
	e := object{"type": kind, "message": message, "locations": []object{{"line": 1, "column": 1}}}
	data := any(nil)
	if mutation != "" {
		e["path"] = []string{mutation}
		data = object{mutation: nil}
	}
	return ok(object{"data": data, "errors": []object{e}})
}
