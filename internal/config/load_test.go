package config

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func layer(text string) Layer { return Layer{Name: SettingsFile, JSON: []byte(text)} }

func TestDefaults(t *testing.T) {
	s, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	want := Defaults()
	want.Reviewer = Command{Command: "claude"}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("got %+v, want %+v", s, want)
	}
	if s.Iterations(TaskIterations) != 5 || s.Timeout() != time.Hour {
		t.Errorf("5 iterations in an hour, not %d in %s", s.Iterations(TaskIterations), s.Timeout())
	}
}

func TestLayersMerge(t *testing.T) { // S1-55…S1-58
	base := layer(`{"$schema":"x","agent":{"command":"codex","flags":["-a","-b"]},"maximumIterations":7,"guardrails":[{"command":"make lint"},{"command":"make test"}]}`)
	local := Layer{Name: LocalSettingsFile, JSON: []byte(`{"agent":{"flags":["-c"]},"guardrails":[{"command":"true","timeout":"90s","severity":"soft"}],"review":false}`)}
	over := Layer{Name: "flags", JSON: []byte("\ufeff{\"maximumIterations\": 9.0}")}
	s, err := Load(base, local, over)
	if err != nil {
		t.Fatal(err)
	}
	if s.Agent.Command != "codex" || !slices.Equal(s.Agent.Flags, []string{"-c"}) {
		t.Errorf("flags alone keep the command of the layer below: %+v", s.Agent)
	}
	want := Guardrail{Name: "true", Command: "true", FailAction: Append, Severity: Soft, Timeout: Duration(90 * time.Second)}
	if len(s.Guardrails) != 1 || s.Guardrails[0] != want || s.GuardrailsFrom != LocalSettingsFile {
		t.Errorf("lists replace: %+v from %q", s.Guardrails, s.GuardrailsFrom)
	}
	if s.MaximumIterations != 9 || s.Review || !s.StreamAgentOutput {
		t.Errorf("scalars override, the rest stays: %+v", s)
	}
}

func TestAnEmptyListOfGuardrailsIsSet(t *testing.T) {
	s, err := Load(layer(`{"guardrails":[]}`), layer(`{}`))
	if err != nil || s.GuardrailsFrom != SettingsFile || len(s.Guardrails) != 0 {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestReviewerIsTheAgentUnlessItIsAnother(t *testing.T) {
	for _, test := range []struct {
		settings string
		want     Command
	}{
		{`{"agent":{"command":"amp","flags":["-f"],"model":"m"}}`, Command{"amp", []string{"-f"}, "m"}},
		{`{"agent":{"command":"amp","model":"m"},"reviewer":{"model":"n"}}`, Command{"amp", nil, "n"}},
		{`{"agent":{"command":"amp","flags":["-f"],"model":"m"},"reviewer":{"command":"codex"}}`, Command{"codex", nil, ""}},
		{`{"agent":{"flags":["-f"]},"reviewer":{"flags":[]}}`, Command{"claude", []string{}, ""}},
	} {
		s, err := Load(layer(test.settings))
		if err != nil || !reflect.DeepEqual(s.Reviewer, test.want) {
			t.Errorf("%s: reviewer is %+v, %v; want %+v", test.settings, s.Reviewer, err, test.want)
		}
	}
}

func TestProblems(t *testing.T) {
	for _, test := range []struct{ settings, want string }{
		{``, `.ralph/settings.json is empty; an object is needed, at least {}.`},
		{"{\n  \"review\": true,\n}", `.ralph/settings.json is not JSON: line 3, column 1: invalid character '}' looking for beginning of object key string.`},
		{`{"réview": tru }`, `.ralph/settings.json is not JSON: line 1, column 15: invalid character ' ' in literal true (expecting 'e').`},
		{`{"review": true`, `.ralph/settings.json is not JSON: line 1, column 16: unexpected end of JSON input.`},
		{`{} {}`, `.ralph/settings.json is not JSON: line 1, column 4: invalid character '{' after top-level value.`},
		{"{\"a\":\"\xff\"}", `.ralph/settings.json is not UTF-8 text.`},
		{`[]`, `.ralph/settings.json: the whole is a list; allowed is an object.`},
		{`{"maximumIterations":0}`, `.ralph/settings.json: maximumIterations is 0; allowed is a whole number from 1 to 1000.`},
		{`{"maximumIterations":"5"}`, `.ralph/settings.json: maximumIterations is "5"; allowed is a whole number.`},
		{`{"timeoutMinutes":7201}`, `.ralph/settings.json: timeoutMinutes is 7201; allowed is a whole number from 1 to 7200.`},
		{`{"timeoutMinutes":1.5}`, `.ralph/settings.json: timeoutMinutes is 1.5; allowed is a whole number.`},
		{`{"review":"yes"}`, `.ralph/settings.json: review is "yes"; allowed is true or false.`},
		{`{"review":null}`, `.ralph/settings.json: review is null; allowed is true or false.`},
		{`{"baseline":"on"}`, `.ralph/settings.json: baseline is "on"; allowed is "require", "report" or "off".`},
		{`{"completionResponse":""}`, `.ralph/settings.json: completionResponse is ""; it must not be empty.`},
		{`{"agent":{"cmd":"x"}}`, `.ralph/settings.json: agent.cmd is an unknown key; allowed are command, flags and model.`},
		{`{"agent":{"command":" "}}`, `.ralph/settings.json: agent.command is " "; it must not be empty.`},
		{`{"agent":{"flags":"-x"}}`, `.ralph/settings.json: agent.flags is "-x"; allowed is a list.`},
		{`{"guardrails":[{"command":"a"},{"hint":"b"}]}`, `.ralph/settings.json: guardrails[1] lacks command, which must be there.`},
		{`{"guardrails":[{"command":"a","failAction":"append"}]}`, `.ralph/settings.json: guardrails[0].failAction is "append"; allowed is "APPEND", "PREPEND" or "REPLACE".`},
		{`{"guardrails":[{"command":"a","timeout":"10"}]}`, `.ralph/settings.json: guardrails[0].timeout is "10"; allowed is a time up to 24h, such as "90s", "10m" or "1h30m".`},
		{`{"guardrails":[{"command":"a","timeout":"-1s"}]}`, `.ralph/settings.json: guardrails[0].timeout is "-1s"; allowed is a time up to 24h, such as "90s", "10m" or "1h30m".`},
		{`{"guardrails":[{"command":"a","when":"b","who":"c"}]}`, `.ralph/settings.json: guardrails[0].when and guardrails[0].who are unknown keys; allowed are command, failAction, hint, name, severity and timeout.`},
		{`{"scm":{"tasks":["commit"]}}`, `.ralph/settings.json: scm lacks command, which must be there.`},
	} {
		_, err := Load(layer(test.settings))
		var wrong *Error
		if !errors.As(err, &wrong) {
			t.Errorf("%s: %v", test.settings, err)
			continue
		}
		if got := wrong.Error(); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.settings, got, test.want)
		}
	}
}

func TestAllProblemsAtOnce(t *testing.T) {
	_, err := Load(layer(`{"review":1,"typo":true}`), Layer{Name: LocalSettingsFile, JSON: []byte(`{"baseline":1}`)}, Layer{Name: "inputs", JSON: []byte(`{`)})
	var wrong *Error
	if !errors.As(err, &wrong) || len(wrong.Problems) != 4 {
		t.Fatalf("want four problems: %v", err)
	}
	for i, part := range []string{"review is 1", "typo is an unknown key", "settings.local.json: baseline", "inputs is not JSON"} {
		if !strings.Contains(wrong.Problems[i], part) {
			t.Errorf("problem %d is %q, want %q in it", i, wrong.Problems[i], part)
		}
	}
}

func TestArgs(t *testing.T) {
	c := Command{Flags: []string{"--model opus", "--no-auto-compact", "-c key=a b", "--x=a b", "two words"}}
	want := []string{"--model", "opus", "--no-auto-compact", "-c", "key=a b", "--x=a b", "two words"}
	if got := c.Args(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
