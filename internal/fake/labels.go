package fake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"unicode/utf8"
)

var labelColor = regexp.MustCompile(`^[0-9a-fA-F]{6}$`)

func (g *GitHub) findLabel(r *repo, name string) *label {
	for _, l := range r.labels {
		if strings.EqualFold(l.name, name) {
			return l
		}
	}
	return nil
}

func (g *GitHub) listLabels(r *request) answer {
	return page(g, r, r.repo.labels, func(l *label) object { return g.labelShape(r.repo, l.name) })
}

func (g *GitHub) createLabel(r *request) answer {
	var in struct{ Name, Color, Description string }
	if bad := r.decode(&in); bad != nil {
		return *bad
	}
	if in.Color == "" {
		in.Color = "ededed"
	}
	switch {
	case in.Name == "":
		return invalid("Label", "name", "missing_field", "")
	case utf8.RuneCountInString(in.Name) > 50:
		return invalid("Label", "name", "custom", "name is too long (maximum is 50 characters)")
	case !labelColor.MatchString(in.Color):
		return invalid("Label", "color", "invalid", "")
	case utf8.RuneCountInString(in.Description) > 100:
		return invalid("Label", "description", "custom", "description is too long (maximum is 100 characters)")
	case g.findLabel(r.repo, in.Name) != nil:
		return invalid("Label", "name", "already_exists", "")
	}
	r.repo.labels = append(r.repo.labels,
		&label{id: g.id(), name: in.Name, color: strings.ToLower(in.Color), description: in.Description})
	return created(g.labelShape(r.repo, in.Name))
}

func (g *GitHub) addLabels(r *request) answer {
	is := r.repo.find(r.number("number"))
	if is == nil {
		return notFound()
	}
	names, err := labelNames(r.body)
	if err != nil {
		r.oddBody = append(r.oddBody, "bad request body: "+err.Error())
		return failure(http.StatusBadRequest, "Problems parsing JSON")
	}
	for _, name := range names {
		if name == "" {
			return invalid("Label", "name", "missing_field", "")
		}
	}
	for _, name := range names {
		g.label(r.repo, is, name, r.token.login)
	}
	return ok(g.labelShapes(r.repo, is))
}

// labelNames reads the forms that GitHub takes: a list of names or of objects with a name, bare or as the field labels,
// or one name.
func labelNames(body []byte) ([]string, error) {
	var in any
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	if o, isObject := in.(object); isObject {
		if len(o) != 1 || o["labels"] == nil {
			return nil, fmt.Errorf("an object with labels alone was expected")
		}
		in = o["labels"]
	}
	if one, isString := in.(string); isString {
		return []string{one}, nil
	}
	list, isList := in.([]any)
	if !isList {
		return nil, fmt.Errorf("a list of labels was expected")
	}
	var names []string
	for _, item := range list {
		if o, isObject := item.(object); isObject {
			item = o["name"]
		}
		name, isString := item.(string)
		if !isString {
			return nil, fmt.Errorf("a label is neither a name nor an object with a name")
		}
		names = append(names, name)
	}
	return names, nil
}

func (g *GitHub) removeLabel(r *request) answer {
	is := r.repo.find(r.number("number"))
	if is == nil {
		return notFound()
	}
	if !g.unlabel(r.repo, is, r.parts["name"], r.token.login) {
		return failure(http.StatusNotFound, "Label does not exist")
	}
	return ok(g.labelShapes(r.repo, is))
}
