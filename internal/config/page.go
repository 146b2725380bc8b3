package config

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// Text is the merged settings for people, one a line, with the origin of each. Texts pass through Redact and then through
// redact, which may be nil.
func (e Explained) Text(redact func(string) string) (string, error) {
	rows, err := e.Rows(redact)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	notSet := map[string]bool{} // whose default depends on the run
	for _, row := range Table() {
		if notSet[row.Key] = row.Unset != "" && e.From[row.Key] == ""; notSet[row.Key] {
			fmt.Fprintf(&b, "%s: not set (%s)\n", row.Key, row.Unset)
		}
	}
	for _, r := range rows {
		if !notSet[r.Key] {
			fmt.Fprintf(&b, "%s: %s (%s)\n", r.Key, r.Value, r.From)
		}
	}
	for _, warning := range e.warnings(redact) {
		fmt.Fprintf(&b, "warning: %s\n", warning)
	}
	return b.String(), nil
}

// Plain is the merged settings as indented JSON, without origins, redacted as Text is.
func (e Explained) Plain(redact func(string) string) ([]byte, error) {
	tree, err := e.tree(redact)
	if err != nil {
		return nil, err
	}
	return Indented(json.RawMessage(tree.Pack()))
}

// JSON is {"settings": {…}, "from": {"agent.command": "…"}, "warnings": ["…"]}, redacted as Text is.
func (e Explained) JSON(redact func(string) string) ([]byte, error) {
	tree, err := e.tree(redact)
	if err != nil {
		return nil, err
	}
	from := map[string]string{}
	for _, row := range e.rows(tree.Value.(*hujson.Object), "") {
		from[row.Key] = row.From
	}
	return Indented(struct {
		Settings json.RawMessage   `json:"settings"`
		From     map[string]string `json:"from"`
		Warnings []string          `json:"warnings,omitempty"`
	}{tree.Pack(), from, e.warnings(redact)})
}

// Row is one setting with its value as JSON in one line, and where that comes from.
type Row struct{ Key, Value, From string }

// Rows are the merged settings, one a row, in the order of the table; redacted as Text is.
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

// warnings are those of the settings, redacted.
func (e Explained) warnings(redact func(string) string) []string {
	list := e.Settings.Warnings()
	for i := range list {
		if list[i] = Redact(list[i]); redact != nil {
			list[i] = redact(list[i])
		}
	}
	return list
}
