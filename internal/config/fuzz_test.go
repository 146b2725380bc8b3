package config

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

// FuzzLoad: whatever stands in a file, the loader does not panic, a refusal names the file, and what is accepted means
// the same when it is written and read again.
func FuzzLoad(f *testing.F) {
	for _, seed := range []string{``, `{}`, `[]`, `null`, `{"review": null}`,
		`{"agent":{"command":"codex","flags":["--model opus"],"timeout":"90s"}} // end`,
		`{"guardrails":[{"command":"make test","failAction":"REPLACE","timeout":"1h",},],}`,
		`{"maximumIterations":5e0,"timeoutMultiplier":0.1}`,
		`{"prices":[{"model":"m","input":1,"output":5,"cached":0.1,"cacheWrite":1.25,"long":200000}]}`,
		`{"scm":{"command":"git","tasks":["commit"]},"doneFile":"a/b"}`, `{"scm":{"command":"git","tasks":[]}}`,
		"{/**/\"\\u0061gent\":{}}", `{"a":1e99999999}`, `{"a":1,"a":2}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		e, err := Explain(Layer{Name: SettingsFile, JSON: text})
		if err != nil {
			var wrong *Error
			if !errors.As(err, &wrong) || len(wrong.Problems) == 0 {
				t.Fatalf("%v is not a list of problems", err)
			}
			for _, problem := range wrong.Problems {
				if !strings.HasPrefix(problem, SettingsFile) {
					t.Errorf("%q does not name the file", problem)
				}
			}
			return
		}
		if _, err := e.Text(nil); err != nil {
			t.Fatal(err)
		}
		written, err := json.Marshal(e.Settings)
		noError(t, err)
		again, err := Load(layer(string(written)))
		again.GuardrailsFrom, again.ReviewFrom, again.TimeoutFrom = e.Settings.GuardrailsFrom, e.Settings.ReviewFrom,
			e.Settings.TimeoutFrom
		if err != nil || !reflect.DeepEqual(again, e.Settings) {
			t.Errorf("%v\n got %+v\nwant %+v", err, again, e.Settings)
		}
	})
}
