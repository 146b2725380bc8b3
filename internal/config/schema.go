package config

import (
	"bytes"
	"encoding/json"
)

// Schema is the JSON schema of a settings file, as settings.schema.json has it.
func Schema() ([]byte, error) {
	all := ordered{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"title", "Settings of ralph: " + SettingsFile},
	}
	return Indented(append(all, root().schema()...))
}

// schema is what JSON Schema says of a row.
func (s *Setting) schema() ordered {
	var o ordered
	if s.Summary != "" {
		o.add("description", s.description())
	}
	if s.Choices == nil {
		o.add("type", [...]string{Text: "string", Integer: "integer", Number: "number", Boolean: "boolean",
			Duration24: "string", Path: "string",
			List: "array", Object: "object"}[s.Kind])
	} else {
		o.add("enum", s.Choices)
	}
	switch s.Kind {
	case Integer, Number:
		o.add("minimum", number(s.Min))
		o.add("maximum", number(s.Max))
	case Duration24:
		o.add("format", "duration-go")
	case Path:
		o.add("format", "path-inside")
	case List:
		o.addEntries(s)
	case Object:
		o.addKeys(s)
	case Text:
		if s.Pattern != nil {
			o.add("pattern", s.Pattern.Regexp().String())
		}
		if s.MaxLen > 0 {
			o.add("maxLength", s.MaxLen)
		}
	}
	if s.Default != nil {
		o.add("default", s.Default)
	}
	return o
}

// description is the sentence on a key for those who have no docs beside them.
func (s *Setting) description() string {
	text := s.Summary
	if s.Where != "" {
		text = s.Where + ": " + text
	}
	if s.Unset != "" {
		text += " Not set: " + s.Unset + "."
	}
	return plainText(text)
}

func (o *ordered) addEntries(s *Setting) {
	if s.Distinct {
		o.add("minItems", 1)
		o.add("uniqueItems", true)
	}
	if s.MaxLen > 0 {
		o.add("maxItems", s.MaxLen)
	}
	o.add("items", s.Entry.schema())
}

func (o *ordered) addKeys(s *Setting) {
	if s.Keys == nil {
		return
	}
	var properties ordered
	var required []string
	for _, row := range s.Keys {
		properties.add(row.Key, row.schema())
		if row.Required {
			required = append(required, row.Key)
		}
	}
	o.add("additionalProperties", false)
	if required != nil {
		o.add("required", required)
	}
	o.add("properties", properties)
}

// ordered is a JSON object whose members stay in their order.
type ordered []struct {
	key   string
	value any
}

func (o *ordered) add(key string, value any) {
	*o = append(*o, struct {
		key   string
		value any
	}{key, value})
}

// MarshalJSON implements json.Marshaler.
func (o ordered) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, member := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		for j, value := range []any{member.key, member.value} {
			text, err := json.Marshal(value)
			if err != nil {
				return nil, err //nolint:wrapcheck // of a table of ours
			}
			b.Write(text)
			if j == 0 {
				b.WriteByte(':')
			}
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
