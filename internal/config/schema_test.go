package config

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

// shape is what the test reads of a schema.
type shape struct {
	Ref         string           `json:"$ref"`
	Type        string           `json:"type"`
	Enum        []string         `json:"enum"`
	Description string           `json:"description"`
	Default     any              `json:"default"`
	Properties  map[string]shape `json:"properties"`
	Items       *shape           `json:"items"`
	Defs        map[string]shape `json:"$defs"`
	Closed      *bool            `json:"additionalProperties"`
}

// TestSchemaIsTheStruct holds the two equal: the same keys, the same types, the same defaults, and a description for each key.
func TestSchemaIsTheStruct(t *testing.T) {
	var root shape
	if err := json.Unmarshal(Schema, &root); err != nil {
		t.Fatal(err)
	}
	defaults, err := json.Marshal(Defaults())
	if err != nil {
		t.Fatal(err)
	}
	var values map[string]any
	if err := json.Unmarshal(defaults, &values); err != nil {
		t.Fatal(err)
	}
	sameDefaults(t, "", root.Properties, values)
	delete(root.Properties, "$schema")
	same(t, "settings", root, root.Defs, reflect.TypeFor[Settings]())
}

// sameDefaults: where the schema names a default, the code has it, and the other way round, unless it is nothing.
func sameDefaults(t *testing.T, path string, properties map[string]shape, values map[string]any) {
	t.Helper()
	for key, property := range properties {
		if below, ok := values[key].(map[string]any); ok {
			sameDefaults(t, path+key+".", property.Properties, below)
			continue
		}
		if property.Default == nil && values[key] != nil && values[key] != "" || property.Default != nil && !reflect.DeepEqual(property.Default, values[key]) {
			t.Errorf("%s%s: the schema's default is %v, the code's %v", path, key, property.Default, values[key])
		}
	}
}

func same(t *testing.T, path string, s shape, defs map[string]shape, typ reflect.Type) {
	t.Helper()
	if name, ok := strings.CutPrefix(s.Ref, "#/$defs/"); ok {
		s = defs[name]
	}
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if got := typeName(typ); got != s.Type && (s.Type != "" || got != "string" || s.Enum == nil) {
		t.Errorf("%s is %s in the code and %s in the schema", path, got, s.Type)
	}
	switch typ.Kind() {
	case reflect.Slice:
		if typ == reflect.TypeFor[json.RawMessage]() {
			return
		}
		same(t, path+"[]", *s.Items, defs, typ.Elem())
	case reflect.Struct:
		sameKeys(t, path, s, defs, typ)
	}
}

func sameKeys(t *testing.T, path string, s shape, defs map[string]shape, typ reflect.Type) {
	t.Helper()
	if s.Closed == nil || *s.Closed {
		t.Errorf("%s takes unknown keys in the schema", path)
	}
	keys := map[string]bool{}
	for i := range typ.NumField() {
		key, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		if key == "-" {
			continue
		}
		keys[key] = true
		property, ok := s.Properties[key]
		if !ok {
			t.Errorf("%s.%s is not in the schema", path, key)
			continue
		}
		if property.Description == "" {
			t.Errorf("%s.%s has no description", path, key)
		}
		same(t, path+"."+key, property, defs, typ.Field(i).Type)
	}
	for key := range s.Properties {
		if !keys[key] {
			t.Errorf("%s.%s is in the schema only", path, key)
		}
	}
}

func typeName(typ reflect.Type) string {
	switch typ {
	case reflect.TypeFor[Duration]():
		return "string"
	case reflect.TypeFor[json.RawMessage](): // read by somebody else
		return "object"
	}
	switch typ.Kind() {
	case reflect.Bool:
		return "boolean"
	case reflect.Int:
		return "integer"
	case reflect.Float64:
		return "number"
	case reflect.Slice:
		return "array"
	case reflect.Struct:
		return "object"
	}
	return typ.Kind().String()
}

// TestGuardrailDefaults holds what the schema says of guardrails against what Load fills in; its time limits are those of S0-22 and S0-24.
func TestGuardrailDefaults(t *testing.T) {
	var root shape
	if err := json.Unmarshal(Schema, &root); err != nil {
		t.Fatal(err)
	}
	s, err := Load(layer(`{"guardrails":[{"command":"true"},{"command":"lint","severity":"soft"},{"command":"slow","timeout":"20m","softTimeout":"5m"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	properties := root.Defs["guardrail"].Properties
	if g := s.Guardrails[0]; g.Severity != properties["severity"].Default || g.FailAction != properties["failAction"].Default {
		t.Errorf("%+v is not what the schema says", g)
	}
	for i, want := range [][2]time.Duration{{5 * time.Minute, 10 * time.Minute}, {2 * time.Minute, 3 * time.Minute}, {5 * time.Minute, 20 * time.Minute}} {
		g := s.Guardrails[i]
		if got := [2]time.Duration{s.CheckWarning(g), s.CheckTimeout(g)}; got != want {
			t.Errorf("%s: warned and stopped after %v, want %v", g.Command, got, want)
		}
	}
}
