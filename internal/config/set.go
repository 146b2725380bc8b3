package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// Set is the text of a settings file in which one key has another value; the order of the file and its comments stay.
// l.JSON is what the file holds now, empty for a file that does not exist. key is written as "agent.model". value is a
// text as it is; a number, true or false; a list in JSON, or as the action's inputs take it; or an object in JSON. An
// error is an *Error: what is wrong with the key, the value or the file, and what is allowed.
func (l Layer) Set(key, value string) ([]byte, error) {
	path := strings.Split(key, ".")
	row, err := find(path)
	if err != nil {
		return nil, err
	}
	made, err := row.written(path, value)
	if err != nil {
		return nil, err
	}
	return l.edit(func(root *hujson.Object) { putIn(root, path, made, 1) })
}

// Unset is the text of a settings file without a key; as it was, if the key does not exist.
func (l Layer) Unset(key string) ([]byte, error) {
	path := strings.Split(key, ".")
	if _, err := find(path); err != nil {
		return nil, err
	}
	return l.edit(func(root *hujson.Object) { takeFrom(root, path) })
}

// edit changes the text of a layer that is valid before and after.
func (l Layer) edit(change func(root *hujson.Object)) ([]byte, error) {
	if len(bytes.TrimSpace(l.JSON)) == 0 {
		l.JSON = []byte("{}\n")
	}
	if _, problems := l.parse(); len(problems) > 0 {
		return nil, asError(problems)
	}
	tree, err := hujson.Parse(append(bytes.Clone(l.JSON), '\n')) // the last line may be a comment
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", l.Name, err)
	}
	change(tree.Value.(*hujson.Object))
	l.JSON = append(bytes.TrimRight(tree.Pack(), "\n"), '\n')
	_, problems := l.parse()
	return l.JSON, asError(problems)
}

// find is the row of a key.
func find(path []string) (*Setting, error) {
	row := root()
	for i, step := range path {
		below := row.key(step)
		if below == nil || step == "$schema" {
			if row.Keys == nil {
				return nil, &Error{[]string{fmt.Sprintf("%s has no keys of its own; set the whole of it.", keyPath(path[:i]))}}
			}
			return nil, &Error{[]string{row.unknown(path[:i], step)}}
		}
		row = below
	}
	return row, nil
}

// written is the value of a row that a text on a command line says.
func (s *Setting) written(path []string, text string) (hujson.Value, error) {
	value, problem := s.typed(text)
	if problem == "" {
		s.check(value, path, func(_ []string, found string) bool { problem = found; return false })
	} else {
		problem = keyPath(path) + " " + problem
	}
	if problem != "" {
		return hujson.Value{}, &Error{[]string{problem}}
	}
	made, err := Indented(value)
	if err == nil && flat(value) {
		made, err = json.Marshal(value)
		made = bytes.ReplaceAll(made, []byte(`","`), []byte(`", "`))
	}
	if err != nil {
		return hujson.Value{}, err
	}
	indent := strings.Repeat("  ", len(path))
	return hujson.Parse(bytes.ReplaceAll(bytes.TrimSpace(made), []byte("\n"), []byte("\n"+indent)))
}

// flat reports whether a value is written on one line: it has no object in it.
func flat(value any) bool {
	list, ok := value.([]any)
	return !is[map[string]any](value) &&
		(!ok || !slices.ContainsFunc(list, func(entry any) bool { return !is[string](entry) }))
}

// typed reads a text as what the row has to be, as decoded makes values. Any other text stays a text, and check reports
// it.
func (s *Setting) typed(text string) (value any, problem string) {
	switch s.Kind {
	case Text, Duration24, Path:
		return text, ""
	case List:
		if !strings.HasPrefix(strings.TrimSpace(text), "[") {
			return s.entries(text)
		}
	case Object:
		if !strings.HasPrefix(strings.TrimSpace(text), "{") && s.Keys != nil {
			return nil, fmt.Sprintf("has keys of its own: set one of %s.", safetext.Listed(s.names()))
		}
	}
	tree, err := hujson.Parse([]byte(text))
	if err != nil {
		if s.Kind == List || s.Kind == Object {
			return nil, fmt.Sprintf("is %s, which is not JSON: %s.", show(text), reason(err))
		}
		return text, ""
	}
	value = decoded(tree, nil, func(key string) { problem = fmt.Sprintf("is not allowed: %s is there twice.", key) })
	return value, problem
}

// entries reads a list as the action's inputs take it. A list of something else than texts and commands is JSON.
func (s *Setting) entries(text string) (value any, problem string) {
	if s.Entry.Kind != Text && s.Syntax != byLines {
		return nil, fmt.Sprintf("is %s; must be a list in JSON, such as [].", show(text))
	}
	value, problem = Input{row: s}.list(text)
	if problem != "" {
		return nil, fmt.Sprintf("is %s; must be a list in JSON, or its entries.", show(text))
	}
	if value == nil {
		value = []any{}
	}
	return value, ""
}

// putIn sets a key of an object in an object, deep levels below the text's own.
func putIn(o *hujson.Object, path []string, value hujson.Value, deep int) {
	i := slices.IndexFunc(o.Members, func(m hujson.ObjectMember) bool { return nameOf(m) == path[0] })
	switch {
	case i < 0 && len(path) > 1:
		below := hujson.Object{}
		putIn(&below, path[1:], value, deep+1)
		value.Value = &below
		addTo(o, path[0], value.Value, deep)
	case i < 0:
		addTo(o, path[0], value.Value, deep)
	case len(path) > 1:
		if below, ok := o.Members[i].Value.Value.(*hujson.Object); ok {
			putIn(below, path[1:], value, deep+1)
		}
	default:
		o.Members[i].Value.Value = value.Value
	}
}

// addTo adds a member at the end with the layout of the one before it, whose comment stays on its line.
func addTo(o *hujson.Object, key string, value hujson.ValueTrimmed, deep int) {
	lead, after := string(o.AfterExtra), "\n"+strings.Repeat("  ", deep-1)
	indent := "\n" + strings.Repeat("  ", deep)
	if cut := strings.LastIndexByte(lead, '\n'); cut >= 0 {
		lead, after = lead[:cut], lead[cut:]
	}
	added := hujson.ObjectMember{
		Name:  hujson.Value{Value: hujson.String(key)},
		Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: value},
	}
	if n := len(o.Members); n > 0 {
		last := &o.Members[n-1]
		if before := string(last.Name.BeforeExtra); strings.Contains(before, "\n") {
			indent = before[strings.LastIndexByte(before, '\n'):]
		} else if !strings.Contains(string(o.AfterExtra), "\n") { // the object is on one line
			indent, after = " ", strings.TrimLeft(lead, " ")
			lead = ""
		}
		if last.Value.AfterExtra != nil {
			added.Value.AfterExtra = hujson.Extra{} // a comma that trails
		}
	}
	added.Name.BeforeExtra = hujson.Extra(strings.TrimRight(lead, " \t\n") + indent)
	o.Members, o.AfterExtra = append(o.Members, added), hujson.Extra(after)
}

// takeFrom removes a key of an object in an object, and an object that has none left.
func takeFrom(o *hujson.Object, path []string) {
	i := slices.IndexFunc(o.Members, func(m hujson.ObjectMember) bool { return nameOf(m) == path[0] })
	if i < 0 {
		return
	}
	if below, ok := o.Members[i].Value.Value.(*hujson.Object); ok && len(path) > 1 {
		if takeFrom(below, path[1:]); len(below.Members) > 0 {
			return
		}
	}
	if last := len(o.Members) - 1; i == last && i > 0 {
		o.Members[i-1].Value.AfterExtra = o.Members[i].Value.AfterExtra
	}
	o.Members = slices.Delete(o.Members, i, i+1)
}
