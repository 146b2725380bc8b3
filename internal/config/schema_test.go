package config

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
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
	if typ == reflect.TypeFor[Duration]() {
		return "string"
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

// TestGuardrailDefaults holds what the schema says of guardrails against what Load fills in.
func TestGuardrailDefaults(t *testing.T) {
	var root shape
	if err := json.Unmarshal(Schema, &root); err != nil {
		t.Fatal(err)
	}
	s, err := Load(layer(`{"guardrails":[{"command":"true"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	properties := root.Defs["guardrail"].Properties
	var want Duration
	if err := want.UnmarshalText([]byte(properties["timeout"].Default.(string))); err != nil {
		t.Fatal(err)
	}
	g := s.Guardrails[0]
	if g.Timeout != want || g.Severity != properties["severity"].Default || g.FailAction != properties["failAction"].Default {
		t.Errorf("%+v is not what the schema says", g)
	}
}
