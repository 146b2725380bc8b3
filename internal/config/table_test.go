package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestTableSays: each key has words for it and for its default, and each row of the file is that of a key.
func TestTableSays(t *testing.T) {
	n := 0
	var look func(path string, rows []Setting)
	look = func(path string, rows []Setting) {
		for _, row := range rows {
			n++
			if row.Summary == "" || !strings.HasSuffix(strings.TrimSuffix(row.Summary, `"`), ".") {
				t.Errorf("%s%s: %q is no sentence", path, row.Key, row.Summary)
			}
			if row.Default == nil && row.NoValue == "" && row.Unset == "" && path != "judge." {
				t.Errorf("%s%s has neither a default nor words for it", path, row.Key)
			}
			look(path+row.Key+".", row.Keys)
			if row.Entry != nil {
				look(path+row.Key+".", row.Entry.Keys)
			}
		}
	}
	look("", Table())
	if rows := strings.Count("\n"+settingsRows, "\n["); rows != n {
		t.Errorf("settings.toml has %d rows, the struct %d keys", rows, n)
	}
}

// TestTableIsTheSchema puts every value at every place of the settings, and holds what the table says against a
// validator of all of JSON Schema that reads the schema: the same values are wrong, at the same places.
func TestTableIsTheSchema(t *testing.T) {
	judge, tried, wrong := oracle(t), 0, 0
	values := values(t)
	places(root(), nil, func(row *Setting, at []string) {
		here := values
		for _, text := range row.Choices {
			here = append(slices.Clip(here), text)
		}
		for _, value := range here {
			document := set(valueOf(t, `{}`), at, value)
			ours, theirs := placesOf(document), judge(document)
			if tried++; len(theirs) > 0 {
				wrong++
			}
			if !slices.Equal(slices.Compact(ours), slices.Compact(theirs)) { // which counts what is missing otherwise
				t.Errorf("%v = %v: we say %q, they %q", at, value, ours, theirs)
			}
		}
	})
	if tried < 3000 || wrong < 2000 || tried-wrong < 300 {
		t.Errorf("%d documents were tried, %d of them wrong: too few to tell", tried, wrong)
	}
}

func values(t *testing.T) (values []any) {
	t.Helper()
	for _, text := range []string{
		`null`, `true`, `""`, `" "`, `"x"`, `"` + strings.Repeat("é", 200) + `"`, `"` + strings.Repeat("é", 201) + `"`,
		`0`, `-1`, `1`, `1.0`, `1.5`, `0.1`, `0.09`, `1e2`, `255`, `256`, `10000`, `10001`, `1000000`, `1000001`, `1e30`,
		`[]`, `["x"]`, `["x","x"]`, `["x",1,null]`, `["A_B","MY_*","*","a b"]`, `["coder","coder"]`, `["coder","tester"]`,
		`["coder","qa","tester","reviewer","coder"]`, `[{}]`, `[{"command":"x"}]`,
		`[{"command":"x","y":1,"expect":{"exit":-1,"z":2}},{"timeout":"0s"}]`, `{}`, `{"x":1}`, `{"x":1,"y":{}}`,
		`"10m"`, `"-10m"`, `"0s"`, `"24h"`, `"25h"`, `"a/b"`, `"../x"`, `"/x"`, `"."`, `".GIT/x"`, `"a\\b"`,
	} {
		values = append(values, valueOf(t, text))
	}
	for _, n := range []int{20, 21, 50, 51, 100, 101, 300} {
		entries := make([]any, n)
		for i := range entries {
			entries[i] = "x" + strconv.Itoa(i)
		}
		values = append(values, entries)
	}
	return values
}

// places visits every place that the table describes, the first entry of lists included.
func places(row *Setting, at []string, visit func(*Setting, []string)) {
	visit(row, at)
	for i := range row.Keys {
		places(&row.Keys[i], append(slices.Clone(at), row.Keys[i].Key), visit)
	}
	if row.Entry != nil {
		places(row.Entry, append(slices.Clone(at), "0"), visit)
	}
}

// set makes a document of one value at a place.
func set(document any, at []string, value any) any {
	switch {
	case len(at) == 0:
		return value
	case at[0] == "0":
		return []any{set(map[string]any{}, at[1:], value)}
	}
	return map[string]any{at[0]: set(map[string]any{}, at[1:], value)}
}

func valueOf(t *testing.T, text string) any {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(text, err)
	}
	return value
}

func placesOf(document any) []string {
	var all []string
	root().check(document, nil, func(at []string, _ string) bool {
		all = append(all, "/"+strings.Join(at, "/"))
		return true
	})
	slices.Sort(all)
	return all
}

// oracle tells the places of what is wrong with a document.
func oracle(t *testing.T) func(any) []string {
	t.Helper()
	schema, err := Schema()
	noError(t, err)
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	noError(t, err)
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	for name, fits := range map[string]func(string) bool{"duration-go": isDuration, "path-inside": isInside} {
		compiler.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(value any) error {
			if text, ok := value.(string); ok && !fits(text) {
				return errors.New("no")
			}
			return nil
		}})
	}
	noError(t, compiler.AddResource("settings.schema.json", document))
	compiled, err := compiler.Compile("settings.schema.json")
	noError(t, err)
	return func(document any) []string {
		var all []string
		wrong := (*jsonschema.ValidationError)(nil)
		if errors.As(compiled.Validate(document), &wrong) {
			leaves(wrong, &all)
		}
		slices.Sort(all)
		return all
	}
}

func leaves(e *jsonschema.ValidationError, all *[]string) {
	if len(e.Causes) == 0 {
		*all = append(*all, "/"+strings.Join(e.InstanceLocation, "/"))
	}
	for _, cause := range e.Causes {
		leaves(cause, all)
	}
}

// TestGuardrailDefaults holds what the table says of guardrails against what Load fills in.
func TestGuardrailDefaults(t *testing.T) {
	s,
		err := Load(
		layer(
			`{"guardrails":[{"command":"true"},{"command":"lint","severity":"soft"},{"command":"slow","timeout":"20m","softTimeout":"5m"}]}`))
	noError(t, err)
	said := defaults(root().key("guardrails").Entry.Keys)
	if g := s.Guardrails[0]; g.Severity != said["severity"] || g.FailAction != said["failAction"] {
		t.Errorf("%+v is not what the table says", g)
	}
	for i, want := range [][2]time.Duration{{5 * time.Minute, 10 * time.Minute}, {2 * time.Minute, 3 * time.Minute},
		{5 * time.Minute, 20 * time.Minute}} {
		g := s.Guardrails[i]
		if got := [2]time.Duration{s.CheckWarning(g), s.CheckTimeout(g)}; got != want {
			t.Errorf("%s: warned and stopped after %v, want %v", g.Command, got, want)
		}
	}
}
