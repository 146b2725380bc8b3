package engine

import (
	"io"
	"reflect"

	"github.com/ralph-loop/ralph/internal/loop"
)

// RedactingWriter hides secrets in whole lines on their way to a log.
type RedactingWriter struct {
	To     io.Writer
	Redact func(string) string
}

func (r RedactingWriter) Write(p []byte) (int, error) {
	if _, err := io.WriteString(r.To, r.Redact(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// redacted is a record without the secrets that an agent or a check may have brought into it: the journal is pushed,
// and everyone who can read the repository can read it. It goes through every text there is, so that none that is
// added to records is forgotten.
func redacted(r loop.Record, redact func(string) string) loop.Record {
	if redact == nil {
		return r
	}
	return redactedValue(reflect.ValueOf(r), redact).Interface().(loop.Record)
}

// redactedValue is a copy of a value in which every text is redacted. What has no text in it may be shared.
func redactedValue(v reflect.Value, redact func(string) string) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.String:
		out.SetString(redact(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(redactedValue(v.Elem(), redact))
		}
	case reflect.Interface:
		if !v.IsNil() {
			out.Set(redactedValue(v.Elem(), redact))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() { // others are of types that are not ours: a time
				out.Field(i).Set(redactedValue(v.Field(i), redact))
			}
		}
	case reflect.Slice:
		if !v.IsNil() && v.Type().Elem().Kind() != reflect.Uint8 {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				out.Index(i).Set(redactedValue(v.Index(i), redact))
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			out.Index(i).Set(redactedValue(v.Index(i), redact))
		}
	case reflect.Map:
		if !v.IsNil() {
			out.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
			for it := v.MapRange(); it.Next(); {
				out.SetMapIndex(redactedValue(it.Key(), redact), redactedValue(it.Value(), redact))
			}
		}
	default: // numbers and their like
	}
	return out
}
