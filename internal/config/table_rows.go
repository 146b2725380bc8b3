package config

import (
	_ "embed" // the rows
	"encoding/json"
	"reflect"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
)

//go:embed settings.toml
var settingsRows string

// Table is every key of the settings, in the order of the struct Settings, of which it has kinds and keys; the rest of
// each row is in settings.toml.
var Table = sync.OnceValue(func() []Setting {
	rows := map[string]Setting{}
	if err := toml.NewDecoder(strings.NewReader(settingsRows)).DisallowUnknownFields().Decode(&rows); err != nil {
		panic(err) // it is written wrongly, which every test finds
	}
	return rowsOf(reflect.TypeFor[Settings](), "", rows)
})

// rowsOf are the rows of a struct's fields; above is where it is: "agent.".
func rowsOf(object reflect.Type, above string, rows map[string]Setting) (list []Setting) {
	for _, field := range reflect.VisibleFields(object) {
		key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if key == "-" {
			continue
		}
		row := rows[above+key]
		row.Key = key
		row.shape(field.Type, above+key, rows)
		list = append(list, row)
	}
	return list
}

// shape takes the kind of a row from the type of its field, and what is below it.
func (s *Setting) shape(field reflect.Type, path string, rows map[string]Setting) {
	if field.Kind() == reflect.Pointer {
		field = field.Elem()
	}
	switch {
	case field == reflect.TypeFor[json.RawMessage]():
		s.Kind = Object
	case field == reflect.TypeFor[Duration]():
		s.Kind = Duration24
	case field.Kind() == reflect.Bool:
		s.Kind = Boolean
	case field.Kind() == reflect.Int:
		s.Kind = Integer
	case field.Kind() == reflect.Float64:
		s.Kind = Number
	case field.Kind() == reflect.Struct:
		s.Kind, s.Keys = Object, rowsOf(field, path+".", rows)
	case field.Kind() == reflect.Slice:
		if s.Kind = List; s.Entry == nil {
			s.Entry = &Setting{}
		}
		s.Entry.shape(field.Elem(), path, rows)
	}
}
