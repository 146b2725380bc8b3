package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// JSONC is the merged settings as a settings file: every value on a line of its own, with its origin as a comment. Load
// reads it back to the same settings. Texts pass through Redact and then through redact, which may be nil.
func (e Explained) JSONC(redact func(string) string) ([]byte, error) {
	tree, err := e.tree(redact)
	if err != nil {
		return nil, err
	}
	root := tree.Value.(*hujson.Object)
	var notes strings.Builder
	for _, row := range Table() { // a default that depends on the run is not written as if it were set
		if row.Unset != "" && e.From[row.Key] == "" {
			root.Members = without(root.Members, row.Key)
			fmt.Fprintf(&notes, "  // %s is not set: %s\n", row.Key, row.Unset)
		}
	}
	for _, warning := range e.warnings(redact) {
		fmt.Fprintf(&notes, "  // warning: %s\n", warning)
	}
	p := page{origin: e.origin}
	p.members(root, "", "  ")
	return fmt.Appendf(nil, "{\n%s%s}\n", p.buffer.Bytes(), notes.String()), nil
}

// Plain is the merged settings alone, as indented JSON, redacted as JSONC is.
func (e Explained) Plain(redact func(string) string) ([]byte, error) {
	tree, err := e.tree(redact)
	if err != nil {
		return nil, err
	}
	return Indented(json.RawMessage(tree.Pack()))
}

// JSON is {"settings": {…}, "from": {"agent.command": "…"}, "warnings": ["…"]}, redacted as JSONC is.
func (e Explained) JSON(redact func(string) string) ([]byte, error) {
	tree, err := e.tree(redact)
	if err != nil {
		return nil, err
	}
	from := map[string]string{}
	e.origins(tree.Value.(*hujson.Object), "", from)
	return Indented(struct {
		Settings json.RawMessage   `json:"settings"`
		From     map[string]string `json:"from"`
		Warnings []string          `json:"warnings,omitempty"`
	}{tree.Pack(), from, e.warnings(redact)})
}

// Row is one setting with its value as JSON in one line, and where that comes from.
type Row struct{ Key, Value, From string }

// Rows are the merged settings, one a row, in the order of the table; redacted as JSONC is.
func (e Explained) Rows(redact func(string) string) ([]Row, error) {
	tree, err := e.tree(redact)
	if err != nil {
		return nil, err
	}
	list := e.rows(tree.Value.(*hujson.Object), "")
	if most := e.Settings.MostIterations; most > 0 && e.Settings.MaximumIterations == nil {
		list = append(list, Row{"maximumIterations", fmt.Sprintf("at most %d", most), Allowed})
	}
	return list, nil
}

func (e Explained) rows(o *hujson.Object, path string) (list []Row) {
	for _, m := range o.Members {
		key := path + nameOf(m)
		if below, ok := m.Value.Value.(*hujson.Object); ok {
			list = append(list, e.rows(below, key+".")...)
			continue
		}
		list = append(list, Row{key, string(m.Value.Pack()), e.origin(key)})
	}
	return list
}

func (e Explained) origins(o *hujson.Object, path string, from map[string]string) {
	for _, m := range o.Members {
		key := path + nameOf(m)
		if below, ok := m.Value.Value.(*hujson.Object); ok {
			e.origins(below, key+".", from)
			continue
		}
		from[key] = e.origin(key)
	}
}

// tree is the settings in the order of the struct, redacted.
func (e Explained) tree(redact func(string) string) (hujson.Value, error) {
	text, err := Indented(e.Settings)
	if err != nil {
		return hujson.Value{}, err
	}
	tree, err := hujson.Parse(text)
	if err != nil {
		return tree, fmt.Errorf("reading the merged settings: %w", err)
	}
	tree.Minimize()
	redactTree(&tree, redact)
	return tree, nil
}

// Indented is json.MarshalIndent with two spaces, but writes && as &&.
func Indented(value any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("writing settings as JSON: %w", err)
	}
	return b.Bytes(), nil
}

// page writes members, one a line, with their origin.
type page struct {
	buffer bytes.Buffer
	origin func(key string) string
}

func (p *page) members(o *hujson.Object, path, indent string) {
	for i, m := range o.Members {
		comma := ","
		if i == len(o.Members)-1 {
			comma = ""
		}
		fmt.Fprintf(&p.buffer, "%s%q: ", indent, nameOf(m))
		if below, ok := m.Value.Value.(*hujson.Object); ok {
			p.buffer.WriteString("{\n")
			p.members(below, path+nameOf(m)+".", indent+"  ")
			p.buffer.WriteString(indent + "}" + comma + "\n")
			continue
		}
		first, rest, several := strings.Cut(textOf(m.Value, indent)+comma, "\n")
		p.buffer.WriteString(first + " // " + p.origin(path+nameOf(m)) + "\n")
		if several {
			p.buffer.WriteString(rest + "\n")
		}
	}
}

// textOf writes a value; a list of objects takes several lines.
func textOf(v hujson.Value, indent string) string {
	list, ok := v.Value.(*hujson.Array)
	if !ok || len(list.Elements) == 0 {
		return string(v.Pack())
	}
	var b bytes.Buffer
	if err := json.Indent(&b, v.Pack(), indent, "  "); err != nil {
		return string(v.Pack())
	}
	return b.String()
}

func nameOf(m hujson.ObjectMember) string { return m.Name.Value.(hujson.Literal).String() }

func without(members []hujson.ObjectMember, key string) []hujson.ObjectMember {
	var kept []hujson.ObjectMember
	for _, m := range members {
		if nameOf(m) != key {
			kept = append(kept, m)
		}
	}
	return kept
}
