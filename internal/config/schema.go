package config

// Schema is the JSON schema of a settings file, as settings.schema.json has it.
func Schema() ([]byte, error) {
	all := root().schema()
	all["$schema"], all["title"] = "https://json-schema.org/draft/2020-12/schema", "Settings of ralph: "+SettingsFile
	return Indented(all)
}

// schema is what JSON Schema says of a row.
func (s *Setting) schema() map[string]any {
	o := map[string]any{}
	if s.Summary != "" {
		o["description"] = s.description()
	}
	if s.Default != nil {
		o["default"] = s.Default
	}
	if s.Choices != nil {
		o["enum"] = s.Choices
		return o
	}
	o["type"] = [...]string{Text: "string", Integer: "integer", Number: "number", Boolean: "boolean", Duration24: "string",
		Path: "string", List: "array", Object: "object"}[s.Kind]
	switch s.Kind {
	case Integer, Number:
		o["minimum"], o["maximum"] = number(s.Min), number(s.Max)
	case Duration24:
		o["format"] = "duration-go"
	case Path:
		o["format"] = "path-inside"
	case List:
		o["items"] = s.Entry.schema()
		if s.Distinct {
			o["minItems"], o["uniqueItems"] = 1, true
		}
		if s.MaxLen > 0 {
			o["maxItems"] = s.MaxLen
		}
	case Object:
		s.addKeys(o)
	case Text:
		if s.Pattern != nil {
			o["pattern"] = s.Pattern.Regexp().String()
		}
		if s.MaxLen > 0 {
			o["maxLength"] = s.MaxLen
		}
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

// addKeys adds the keys that an object may have, and must.
func (s *Setting) addKeys(o map[string]any) {
	if s.Keys == nil {
		return
	}
	properties, required := map[string]any{}, []string(nil)
	for _, row := range s.Keys {
		properties[row.Key] = row.schema()
		if row.Required {
			required = append(required, row.Key)
		}
	}
	o["additionalProperties"], o["properties"] = false, properties
	if required != nil {
		o["required"] = required
	}
}
