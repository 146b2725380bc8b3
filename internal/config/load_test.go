package config

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func minutes(n int) Duration { return Duration(time.Duration(n) * time.Minute) }

func layer(text string) Layer { return Layer{Name: SettingsFile, JSON: []byte(text)} }

func TestLayersMerge(t *testing.T) { // S1-55…S1-58
	base := layer(
		`{"$schema":"x","scm":{"command":"git","tasks":["commit","push"]},"agent":{"command":"codex","flags":["-a","-b"]},"maximumIterations":7,"guardrails":[{"command":"make lint"},{"command":"make test"}]}`)
	local := Layer{Name: LocalSettingsFile,
		JSON: []byte(
			`{"scm":{"tasks":["commit"]},"agent":{"flags":["-c"]},"guardrails":[{"command":"true","timeout":"90s","severity":"soft"}],"review":false}`)}
	over := Layer{Name: "flags", JSON: []byte("\ufeff{\"maximumIterations\": 9.0}")}
	s, err := Load(base, local, over)
	noError(t, err)
	if s.Agent.Command != "codex" || !slices.Equal(s.Agent.Flags, []string{"-c"}) || !reflect.DeepEqual(s.SCM, &SCM{"git", []string{"commit"}}) {
		t.Errorf("flags alone, or tasks, keep the command of the layer below: %+v, %+v", s.Agent, s.SCM)
	}
	want := Guardrail{Name: "true", Command: "true", FailAction: Append, Severity: Soft,
		Timeout: Duration(90 * time.Second)}
	if len(s.Guardrails) != 1 || s.Guardrails[0] != want || s.GuardrailsFrom != LocalSettingsFile {
		t.Errorf("lists replace: %+v from %q", s.Guardrails, s.GuardrailsFrom)
	}
	if s.Iterations(TaskIterations) != 9 || s.Review || !s.StreamAgentOutput {
		t.Errorf("scalars override, the rest stays: %+v", s)
	}
}

func TestReviewerIsTheAgentUnlessItIsAnother(t *testing.T) {
	command := func(name string, flags []string, model string, timeout, idle int) Command {
		return Command{name, flags, model, minutes(timeout), minutes(idle)}
	}
	for _, test := range []struct {
		settings string
		want     Command
	}{
		{`{"agent":{"command":"amp","flags":["-f"],"model":"m"}}`, command("amp", []string{"-f"}, "m", 5, 10)},
		{`{"agent":{"command":"amp","model":"m"},"reviewer":{"model":"n"}}`, command("amp", nil, "n", 5, 10)},
		{`{"agent":{"command":"amp","flags":["-f"],"model":"m"},"reviewer":{"command":"codex"}}`,
			command("codex", nil, "", 5, 10)},
		{`{"agent":{"flags":["-f"]},"reviewer":{"flags":[]}}`, command("claude", []string{}, "", 5, 10)},
		{`{"agent":{"timeout":"30m","idleTimeout":"3m"}}`, command("claude", nil, "", 5, 3)},
		{`{"agent":{"idleTimeout":"3m"},"reviewer":{"idleTimeout":"4m","timeout":"6m"}}`, command("claude", nil, "", 6, 4)},
	} {
		s, err := Load(layer(test.settings))
		if err != nil || !reflect.DeepEqual(s.Reviewer, test.want) {
			t.Errorf("%s: reviewer is %+v, %v; want %+v", test.settings, s.Reviewer, err, test.want)
		}
	}
}

// TestProblems has a row for each sentence; TestTableIsTheSchema holds which values are wrong.
func TestProblems(t *testing.T) {
	const path = `must be the path of a file in the repository, such as "DONE".`
	for _, test := range []struct{ settings, want string }{ // each sentence begins with the file's name
		{``, ` is empty; an object is needed, at least {}.`},
		{"{\"a\":\"\xff\"}", ` is not UTF-8 text.`},
		{`[]`, `: the whole is a list; must be an object.`},
		{`{"environment":["A B"]}`, `: environment[0] is "A B"; must be a name such as DATABASE_URL, or a beginning and a star: MY_*.`},
		{`{"maximumIterations":-1}`, `: maximumIterations is -1; must be a whole number from 0 to 10000.`},
		{`{"timeoutMultiplier":0.05}`, `: timeoutMultiplier is 0.05; must be a number from 0.1 to 100.`},
		{`{"timeoutMultiplier":1e999999999}`, `: timeoutMultiplier is something else; must be a number from 0.1 to 100.`},
		{`{"review":"yes"}`, `: review is "yes"; must be true or false.`},
		{`{"review":null}`, `: review is null; must be true or false. To use the default, remove the key.`},
		{`{"agent":"claude"}`, `: agent is "claude"; must be an object, such as {"command": "claude"}.`},
		{`{"guardrails":["true"]}`, `: guardrails[0] is "true"; must be an object, such as {"command": "make test"}.`},
		{`{"idleTimeout":"5m"}`, `: idleTimeout is an unknown key. Did you mean agent.idleTimeout or reviewer.idleTimeout?`},
		{`{"maxCost":5}`, `: maxCost is an unknown key. Did you mean maxCostUsd?`},
		{`{"zzz":5}`, `: zzz is an unknown key; ralph settings schema lists the keys.`},
		{`{"agent":{"a\nb":[]}}`, `: agent."a\nb" is an unknown key; must be one of command, flags, idleTimeout, model and timeout.`},
		{`{"agent":{"Falgs":[],"x":1}}`, ": agent.Falgs is an unknown key. Did you mean flags?\n" +
			`.ralph/settings.json: agent.x is an unknown key; must be one of command, flags, idleTimeout, model and timeout.`},
		{`{"outputTruncateFrom":"middle"}`, `: outputTruncateFrom is "middle"; must be "head", "tail" or "both".`},
		{`{"doneFile":"/tmp/DONE"}`, `: doneFile is "/tmp/DONE"; ` + path},
		{`{"doneFile":"a/../../DONE"}`, `: doneFile is "a/../../DONE"; ` + path},
		{`{"doneFile":".git/HEAD"}`, `: doneFile is ".git/HEAD"; ` + path},
		{`{"workingDirectory":"."}`, `: workingDirectory is "."; must be the path of a directory below the top of the repository, such as "web"; leave it out for the top.`},
		{`{"agent":{"timeout":"25h"}}`, `: agent.timeout is "25h"; must be a time up to 24h, such as "90s", "10m" or "1h30m".`},
		{`{"guardrails":[{"command":"a","command":"b"}],"guardrails":[]}`, ": guardrails[0].command is " +
			"there twice; only one is allowed.\n" +
			`.ralph/settings.json: guardrails is there twice; only one is allowed.`},
		{`{"agent":{"command":" "}}`, `: agent.command is " "; it must not be empty.`},
		{`{"sandboxNetwork":["a b"]}`, `: sandboxNetwork[0] is "a b"; must be a host such as proxy.golang.org, *.npmjs.org for all below it, or * for all.`},
		{`{"pipeline":["qa","qa"]}`, `: pipeline names an entry twice; each must be there once.`},
		{`{"pipeline":[]}`, `: pipeline has no entries; leave the key out, or name at least one.`},
		{`{"agent":{"flags":"--api-key hush"}}`, `: agent.flags is "--api-key [redacted]"; must be a list, such as ["--api-key [redacted]"].`},
		{`{"guardrails":[{"command":"a"},{"hint":"b"}]}`, `: guardrails[1] lacks command, which must be there.`},
		{`{"scm":{"tasks":["commit"]}}`, `: scm lacks command, which must be there.`},
	} {
		_, err := Load(layer(test.settings))
		var wrong *Error
		if !errors.As(err, &wrong) || wrong.Error() != SettingsFile+test.want {
			t.Errorf("%s:\n got %v\nwant %s%s", test.settings, err, SettingsFile, test.want)
		}
	}
}

// TestWhatIsSet: which layer has set guardrails, also to none, or a review, and how many iterations that leaves.
func TestWhatIsSet(t *testing.T) {
	for _, test := range []struct {
		base, over         string
		guardrails, review string
		iterations         int
	}{
		{`{}`, `{}`, "", "", PlanIterations},
		{`{"guardrails":[],"review":true,"maximumIterations":3}`, `{}`, SettingsFile, SettingsFile, 3},
		{`{"review":true,"maximumIterations":0}`, `{"review":false}`, "", "flags", Unlimited},
		{`{"maximumIterations":0}`, `{"maximumIterations":4}`, "", "", 4},
	} {
		s, err := Load(layer(test.base), Layer{Name: "flags", JSON: []byte(test.over)})
		if err != nil || s.GuardrailsFrom != test.guardrails || s.ReviewFrom != test.review || s.Iterations(PlanIterations) != test.iterations {
			t.Errorf("%s, %s: %q, %q, %d, %v; want %+v", test.base, test.over, s.GuardrailsFrom, s.ReviewFrom,
				s.Iterations(PlanIterations), err, test)
		}
	}
}

func TestTheMultiplierScalesStepsButNotTheRun(t *testing.T) { // C12
	s,
		err := Load(
		layer(`{"timeoutMultiplier": 2.5, "agent": {"timeout": "4m"}, "guardrails": [{"command": "a", "timeout": "90s"}]}`))
	noError(t, err)
	for what, limit := range map[string]struct{ got, want time.Duration }{
		"turn":             {s.TurnTimeout(), 10 * time.Minute},
		"idle":             {s.IdleTimeout(), 25 * time.Minute},
		"review":           {s.ReviewTimeout(), 12*time.Minute + 30*time.Second},
		"idle of a review": {s.ReviewIdleTimeout(), 25 * time.Minute},
		"check":            {s.CheckTimeout(s.Guardrails[0]), 225 * time.Second},
		"run":              {s.Timeout(), time.Hour},
	} {
		if limit.got != limit.want {
			t.Errorf("%s: %s, want %s", what, limit.got, limit.want)
		}
	}
}

func TestDurationsAreWrittenAsPeopleDo(t *testing.T) {
	for d, want := range map[time.Duration]string{10 * time.Minute: "10m", time.Hour: "1h", 90 * time.Minute: "1h30m",
		90 * time.Second: "1m30s", 10 * time.Second: "10s", time.Hour + time.Second: "1h0m1s"} {
		if got, err := Duration(d).MarshalText(); err != nil || string(got) != want {
			t.Errorf("%s is written %s, %v", d, got, err)
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

// TestWarnings: each tells the guardrail, what hides, and the way out.
func TestWarnings(t *testing.T) {
	s, err := Load(Layer{Name: "s", JSON: []byte(`{"guardrails": [{"command": "make"},
		{"name": "tests", "command": "pytest | tee log"}, {"command": "pytest || true"}]}`)})
	noError(t, err)
	want := []string{
		`guardrails[1] "tests": the pipe into "tee log" hides the exit code of "pytest", so a failure may look like a ` +
			`success. With "shell": "bash" it runs with pipefail and keeps the exit code.`,
		`guardrails[2] "pytest || true": "|| true" hides the exit code of "pytest", so a failure may look like a success. ` +
			`Let the command end with that exit code.`,
	}
	if got := strings.Join(s.Warnings(), "\n"); got != strings.Join(want, "\n") {
		t.Errorf("%s", got)
	}
	fish := []byte(`{"guardrails": [{"command": "make", "shell": "fish"}]}`)
	if _, err := Load(Layer{Name: "s", JSON: fish}); err == nil {
		t.Error("fish is taken")
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
