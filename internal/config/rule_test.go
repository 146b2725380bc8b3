package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestRulesAreTheSchema puts every value at every place of the settings, and holds what we say against a validator of all of JSON Schema:
// the same values are wrong, at the same places.
func TestRulesAreTheSchema(t *testing.T) {
	judge, tried, wrong := oracle(t), 0, 0
	var values []any
	for _, text := range []string{`null`, `true`, `""`, `" "`, `"x"`, `"` + strings.Repeat("é", 200) + `"`, `"` + strings.Repeat("é", 201) + `"`, `0`, `-1`, `1`, `1.0`, `1.5`, `0.1`, `0.09`, `1e2`, `255`, `256`,
		`10000`, `10001`, `1000000`, `1000001`, `1e30`, `[]`, `["x"]`, `["x","x"]`, `["x",1,null]`, `["A_B","MY_*","*","a b"]`, `["coder","coder"]`, `["coder","tester"]`, `["coder","qa","tester","reviewer","coder"]`,
		`[{}]`, `[{"command":"x"}]`, `[{"command":"x","y":1,"expect":{"exit":-1,"z":2}},{"timeout":"0s"}]`, `{}`, `{"x":1}`, `{"x":1,"y":{}}`, `"10m"`, `"-10m"`, `"0s"`, `"24h"`, `"25h"`, `"a/b"`, `"../x"`, `"/x"`, `"."`, `".GIT/x"`, `"a\\b"`} {
		values = append(values, valueOf(t, text))
	}
	for _, n := range []int{20, 21, 50, 51, 100, 101, 300} {
		entries := make([]any, n)
		for i := range entries {
			entries[i] = "x" + strconv.Itoa(i)
		}
		values = append(values, entries)
	}
	places(schema(), nil, func(r *rule, at []string) {
		here := values
		for _, text := range r.Enum {
			here = append(slices.Clip(here), text)
		}
		for _, value := range here {
			document := set(valueOf(t, `{}`), at, value)
			ours, theirs := faultsOf(document), judge(document)
			if tried++; len(theirs) > 0 {
				wrong++
			}
			if !slices.Equal(ours, theirs) {
				t.Errorf("%v = %v: we say %q, they %q", at, value, ours, theirs)
			}
		}
	})
	if tried < 3000 || wrong < 2000 || tried-wrong < 300 {
		t.Errorf("%d documents were tried, %d of them wrong: too few to tell", tried, wrong)
	}
}

// TestSchemaOfUnknownWords: what check would pass over is refused when the schema is read.
func TestSchemaOfUnknownWords(t *testing.T) {
	for _, text := range []string{`{"minLength":1}`, `{"properties":{"a":{"const":1}}}`, `{"items":{"type":"text"}}`, `{"type":["string","null"]}`, `{"format":"uri"}`,
		`{"properties":{"a":{"$ref":"#/$defs/b"}}}`, `{"pattern":"("}`, `{"additionalProperties":{}}`, `{"enum":[1]}`} {
		if r, err := readSchema([]byte(text)); err == nil {
			t.Errorf("%s is read as %+v", text, r)
		}
	}
}

// places visits every place that the schema describes, the first entry of lists included.
func places(r *rule, at []string, visit func(*rule, []string)) {
	visit(r, at)
	for _, key := range slices.Sorted(maps.Keys(r.Properties)) {
		places(r.Properties[key], append(slices.Clone(at), key), visit)
	}
	if r.Items != nil {
		places(r.Items, append(slices.Clone(at), "0"), visit)
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
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		t.Fatal(text, err)
	}
	return value
}

func faultsOf(document any) []string {
	var all []string
	schema().check(document, nil, func(f fault) bool {
		all = append(all, "/"+strings.Join(f.at, "/"))
		return true
	})
	slices.Sort(all)
	return all
}

// oracle tells the places of what is wrong with a document.
func oracle(t *testing.T) func(any) []string {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	for name, fits := range formats {
		compiler.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(value any) error {
			if !fits(value) {
				return errors.New("no")
			}
			return nil
		}})
	}
	if err := compiler.AddResource("settings.schema.json", document); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("settings.schema.json")
	if err != nil {
		t.Fatal(err)
	}
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
