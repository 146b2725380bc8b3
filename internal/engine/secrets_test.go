package engine

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/loop"
)

// TestSecretsOfAnEnvironment: what has a secret's name is one, unless texts have its value by chance.
func TestSecretsOfAnEnvironment(t *testing.T) {
	for entry, want := range map[string]string{
		"OPENAI_API_KEY=short-but-a-key":                       "short-but-a-key",
		"NPM_TOKEN=npm_9fK2mQ7xT4vB1zR8wL3c":                   "npm_9fK2mQ7xT4vB1zR8wL3c",
		"DEPLOY_PASSWORD=plainword-correct-horse-9931":         "plainword-correct-horse-9931",
		"DATABASE_URL=postgres://ralph:s3Cr3t0fTh1s@db:5432/a": "s3Cr3t0fTh1s",
		"TEST_PASSWORD=password":                               "",
		"TEST_SECRET=correct horse battery 42":                 "",
		"SSH_AUTH_SOCK=/tmp/ssh-9fK2mQ7xT4vB/agent.77":         "",
		"AUTH_URL=https://login.example.com/v2/9fK2mQ7xT4":     "",
		"REDIS_URL=redis://redis:redis@localhost:6379":         "",
		"GPG_KEY=E3FF2839C048B25C084DEBE9B26995E310250568":     "", // a fingerprint, in images of Python
		"GIT_COMMIT=9fceb02d0ae598e95dc970b74767f19372d61af8":  "",
	} {
		got := Secrets(config.Environment{}, []string{"PATH=/bin", entry})
		if want == "" && len(got) > 0 || want != "" && !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %q, want %q", entry, got, want)
		}
	}
}

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
