package config

import (
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// Input is an input of the action.
type Input struct {
	Name        string
	Default     string
	Description string
	Key         string // of the setting that the input sets: "agent.flags"; empty for one that is no setting

	kind     Kind // Text, Integer, Number or Boolean; of a list, the text is split later
	min, max float64
	secret   bool
	keys     []string // Key in its parts
	setting  *Setting // its row; nil for an input that is no setting
}

// InputTable is every input of the action: its own, and those that the table of settings asks for. Both action files
// are made from it.
var InputTable = sync.OnceValue(func() (inputs []Input) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Inputs]()) {
		name := f.Tag.Get("input")
		if name == "" { // the field of those that mirror settings
			inputs = append(inputs, settingInputs(nil, Table())...)
			continue
		}
		row := Input{Name: name, Default: f.Tag.Get("default"), Description: f.Tag.Get("says"), secret: f.Tag.Get("secret") != ""}
		switch f.Type.Kind() {
		case reflect.Int, reflect.Int64:
			row.kind, row.min = Integer, 1
			row.max, _ = strconv.ParseFloat(f.Tag.Get("max"), 64)
		case reflect.Bool:
			row.kind = Boolean
		}
		inputs = append(inputs, row)
	}
	return inputs
})

// settingInputs are the inputs that mirror settings.
func settingInputs(above []string, rows []Setting) (inputs []Input) {
	for _, row := range rows {
		keys := append(slices.Clone(above), row.Key)
		if row.Input != "" {
			inputs = append(inputs, Input{
				Name: row.Input, Description: row.inputDescription(), Key: strings.Join(keys, "."), kind: row.Kind,
				min: row.Min, max: row.Max, keys: keys, setting: &row,
			})
		}
		inputs = append(inputs, settingInputs(keys, row.Keys)...)
	}
	return inputs
}

func (s *Setting) inputDescription() string {
	switch {
	case s.InputSays != "":
		return s.InputSays
	case s.Default == nil:
		return plainText(s.Summary)
	}
	return fmt.Sprintf("%s Default: %v.", plainText(s.Summary), s.Default)
}

// Env is the variable the runner passes the input in.
func (i Input) Env() string { return "INPUT_" + strings.ToUpper(i.Name) }

// check returns the value in the form env reads, or what is wrong with it. Inputs are above 0: an empty one says
// nothing.
func (i Input) check(value string) (checked, problem string) {
	switch i.kind {
	case Integer:
		n, err := strconv.ParseInt(value, 10, 64)
		if least := int64(max(i.min, 1)); err != nil || n < least || n > int64(i.max) {
			return "", fmt.Sprintf("input %s is %s; must be a whole number from %d to %s.", i.Name, show(value), least,
				number(i.max))
		}
		return strconv.FormatInt(n, 10), ""
	case Number:
		f, err := strconv.ParseFloat(value, 64)
		if err != nil || !(f > 0 && f <= i.max) {
			return "", fmt.Sprintf("input %s is %s; must be a number above 0 and up to %s, such as 2.50.", i.Name,
				show(value), number(i.max))
		}
		return strconv.FormatFloat(f, 'f', -1, 64), ""
	case Boolean: // as YAML writes them
		if checked = strings.ToLower(value); checked != "true" && checked != "false" {
			return "", fmt.Sprintf("input %s is %s; must be true or false.", i.Name, show(value))
		}
		return checked, ""
	}
	return value, ""
}

// value is what a settings file would say instead of a text that check has passed; nil: nothing.
func (i Input) value(text string) (value any, problem string) {
	switch i.kind {
	case Integer, Number:
		return json.Number(text), ""
	case Boolean:
		return text == "true", ""
	case Path:
		if path.Clean(text) == "." {
			return nil, ""
		}
	case List:
		return i.list(text)
	}
	return text, ""
}

// list splits a text in the syntax of the setting.
func (i Input) list(text string) (value any, problem string) {
	switch i.setting.Syntax {
	case byShell:
		args, err := words(text)
		if err != nil {
			return nil, fmt.Sprintf("input %s: %v; must be arguments as in a shell.", i.Name, err)
		}
		return args, ""
	case byLines:
		lines := []map[string]any{}
		for _, command := range commands(text) {
			lines = append(lines, map[string]any{"command": command})
		}
		if len(lines) == 0 {
			return nil, ""
		}
		return lines, ""
	}
	entries := fields(text)
	switch {
	case len(entries) == 0:
		return nil, ""
	case slices.Equal(entries, []string{"none"}):
		return []string{}, ""
	}
	for _, entry := range entries {
		if allowed := i.setting.Entry.Choices; allowed != nil && !slices.Contains(allowed, entry) {
			return nil, fmt.Sprintf("input %s names %s; must be %s, separated by commas or whitespace, or only none.",
				i.Name, show(entry), safetext.Listed(allowed))
		}
	}
	return entries, ""
}

// put sets a key of an object in an object.
func put(object map[string]any, keys []string, value any) {
	for _, key := range keys[:len(keys)-1] {
		below, ok := object[key].(map[string]any)
		if !ok {
			below = map[string]any{}
			object[key] = below
		}
		object = below
	}
	object[keys[len(keys)-1]] = value
}

// Output is a row of OutputTable.
type Output struct {
	Name        string
	Description string
}

// OutputTable is every output of the action. Outputs carry only enums, numbers, names and addresses, never an agent's
// text.
var OutputTable = []Output{
	{"conclusion", "success, failure, neutral or cancelled."},
	{"outcome", "done, capped, stuck, timeout, budget, failed, invalid, waiting, refused, interrupted, or empty when " +
		"the event was not for ralph."},
	{"pr_url", "URL of the pull request."},
	{"pr_number", "Number of the pull request."},
	{"branch_name", "Branch with the work."},
	{"failure_branch", "Branch that keeps the work of a run stopped by a limit."},
	{"iterations", "Number of iterations."},
	{"total_cost_usd", "Cost that the agent reports, in US dollars."},
	{"input_tokens", "Tokens sent to the model, without those of the cache."},
	{"output_tokens", "Tokens the model answered."},
	{"cache_read_tokens", "Tokens read from the model's cache."},
	{"cache_write_tokens", "Tokens written to the model's cache."},
	{"report_file", "File with the report, as a web page."},
	{"matrix", "Work of a sweep, with the input list; in the form that strategy.matrix takes."},
}
