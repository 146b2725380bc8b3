package engine

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
)

// filled makes every text of a value the same, however deep, with one element in every list.
func filled(v reflect.Value, text string, depth int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Pointer:
		if depth > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			filled(v.Elem(), text, depth-1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				filled(v.Field(i), text, depth)
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Uint8 && depth > 0 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			filled(v.Index(0), text, depth-1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, of := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		filled(key, text, depth-1)
		filled(of, text, depth-1)
		v.SetMapIndex(key, of)
	default:
	}
}

// TestNothingOfARecordIsForgotten: whatever text of a record a secret is in, it is not in what is recorded; the record
// that it was made of stays as it is, and nothing else is changed.
func TestNothingOfARecordIsForgotten(t *testing.T) {
	const secret = "the-secret"
	var r loop.Record
	filled(reflect.ValueOf(&r).Elem(), secret, 8)
	r.At = time.Date(2026, 11, 23, 6, 0, 0, 0, time.UTC)
	before, err := json.Marshal(r)
	if err != nil || strings.Count(string(before), secret) < 60 {
		t.Fatalf("the record is not full: %s %v", before, err)
	}
	got, err := json.Marshal(redacted(r, func(s string) string { return strings.ReplaceAll(s, secret, "-") }))
	if err != nil || string(got) != strings.ReplaceAll(string(before), secret, "-") {
		t.Errorf("%s %v", got, err)
	}
	if after, _ := json.Marshal(r); string(after) != string(before) {
		t.Error("the record itself was changed")
	}
	if empty := redacted(loop.Record{Type: loop.Judged}, strings.ToUpper); empty.Start != nil || empty.Verdicts != nil ||
		empty.Type != "JUDGED" {
		t.Errorf("%+v", empty)
	}
}
