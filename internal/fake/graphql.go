package fake

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"strings"
)

var variableUse = regexp.MustCompile(`\$(\w+)(?:\s*:\s*([\w\[\]!]+)(\s*=)?)?`)

// refusal is GraphQL's way to say no: status 200, and errors in the body.
type refusal struct {
	path          string // the field that has no value
	kind, message string
	problem       string // what a test is told when GitHub has no such thing; empty for an ordinary no
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
	if no := judgeVariables(query, variables); no != nil {
		return nil, no
	}
	kind, fields, err := parseQuery(query, variables)
	if err != nil {
		return nil, &refusal{kind: "PARSE_ERROR", message: "Parse error: " + err.Error(),
			problem: "the query cannot be read: " + err.Error()}
	}
	root := g.queryRoot
	if kind == "mutation" {
		root = g.mutationRoot
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return project(root(t), fields, kind)
}

// judgeVariables refuses a variable that is used and not declared, or declared and not used, and one that needs a value
// and has none.
func judgeVariables(query string, variables map[string]any) *refusal {
	uses, declared := map[string]int{}, map[string]string{}
	for _, m := range variableUse.FindAllStringSubmatch(query, -1) {
		uses[m[1]]++
		if m[2] == "" {
			continue
		}
		declared[m[1]] = m[2]
		if m[3] != "" {
			return &refusal{kind: "INVALID", message: "defaults are not imitated",
				problem: fmt.Sprintf("the variable $%s has a default, which the stand-in does not understand", m[1])}
		}
	}
	for name, n := range uses {
		message, problem := "", ""
		switch kind, known := declared[name]; {
		case !known:
			message = fmt.Sprintf("Variable $%s is used but not declared", name)
		case n == 1:
			message = fmt.Sprintf("Variable $%s is declared but not used", name)
		case strings.HasSuffix(kind, "!") && variables[name] == nil:
			message = fmt.Sprintf("Variable $%s of type %s was provided invalid value", name, kind)
			problem = fmt.Sprintf("the variable $%s has no value", name)
		default:
			continue
		}
		return &refusal{kind: "INVALID", message: message, problem: cmp.Or(problem, message)}
	}
	return nil
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
