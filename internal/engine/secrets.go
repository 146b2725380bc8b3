package engine

import (
	"cmp"
	"io"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/secret"
)

// Secrets are the values of an environment that must never be printed or committed: our own, those of every agent, and
// whatever else has the name of a secret and a value that no one would write by chance.
func Secrets(env config.Environment, parent []string) []string {
	secrets := append(env.Secrets(), safetext.Map(agent.KeyNames(), func(name string) string { return proc.Value(parent, name) })...)
	for _, entry := range parent {
		name, value, _ := strings.Cut(entry, "=")
		if proc.NamesSecret(name) && secret.Unguessable(value) {
			secrets = append(secrets, value)
		}
		if u, err := url.Parse(value); err == nil && u.User != nil {
			if password, _ := u.User.Password(); secret.Unguessable(password) {
				secrets = append(secrets, password)
			}
		}
	}
	slices.Sort(secrets)
	return slices.DeleteFunc(slices.Compact(secrets), func(value string) bool { return value == "" })
}

// AgentKeys are the credentials that agents may be given, by environment name. Each agent takes those that are its own;
// inputs come before the environment. Of those of claude it gets one: a key before a subscription.
func AgentKeys(parent []string, inputs map[string]string) map[string]string {
	keys := map[string]string{}
	for _, name := range agent.KeyNames() {
		if value := cmp.Or(inputs[name], proc.Value(parent, name)); value != "" {
			keys[name] = value
		}
	}
	claudeKeys, _ := agent.Keys("claude")
	first := slices.IndexFunc(claudeKeys, func(name string) bool { return inputs[name] != "" })
	if first < 0 {
		first = slices.IndexFunc(claudeKeys, func(name string) bool { return keys[name] != "" })
	}
	for i, name := range claudeKeys {
		if i != first {
			delete(keys, name)
		}
	}
	return keys
}

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
// and everyone who can read the repository can read it. It goes through every text of the record, also of fields that
// are added later.
func redacted(r loop.Record, redact func(string) string) loop.Record {
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
		for field, value := range v.Fields() {
			if field.IsExported() { // others are of types that are not ours: a time
				out.FieldByIndex(field.Index).Set(redactedValue(value, redact))
			}
		}
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice {
			if v.IsNil() || v.Type().Elem().Kind() == reflect.Uint8 {
				break
			}
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		}
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
