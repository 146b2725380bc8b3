package config

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestInputsOfAnEmptyEnvironment(t *testing.T) {
	in, err := ReadInputs(map[string]string{"INPUT_ISSUE": "", "INPUT_REVIEW": " "})
	if err != nil {
		t.Fatal(err)
	}
	want := Inputs{TriggerLabel: "ralph", TriggerPhrase: "/ralph", CommentsBy: []string{"writers"}, BranchPrefix: "ralph/",
		InstallSandbox: true, MaxTasks: 1, Set: map[string]any{}}
	if !reflect.DeepEqual(in, want) {
		t.Errorf("got %+v, want %+v", in, want)
	}
	if s, err := Load(in.Layers()...); err != nil || s.GuardrailsFrom != "" || s.MaximumIterations != nil {
		t.Errorf("no input sets anything: %+v, %v", s, err)
	}
}

func TestInputsBecomeSettings(t *testing.T) {
	in, err := ReadInputs(map[string]string{
		"INPUT_GITHUB_TOKEN": "t0ken", "INPUT_ISSUE": "42", "INPUT_REVIEW": "False", "INPUT_DRY_RUN": "true",
		"INPUT_AGENT": "codex", "INPUT_AGENT_ARGS": `-c 'a b' --x="c d" e\ f ""`, "INPUT_REVIEWER_MODEL": "o",
		"INPUT_CHECKS": "make lint\n\n# slow\n  make test \n", "INPUT_MAX_ITERATIONS": "3", "INPUT_ALLOWED_BOTS": "a[bot], b",
		"INPUT_SETTINGS": `{"maximumIterations": 8, "baseline": "off"}`, "INPUT_SETUP": "npm ci",
		"INPUT_REVIEW_CAP": "2", "INPUT_SANDBOX": "landlock",
	})
	if err != nil {
		t.Fatal(err)
	}
	if in.Issue != 42 || !in.DryRun || !reflect.DeepEqual(in.AllowedBots, []string{"a[bot]", "b"}) ||
		!reflect.DeepEqual(in.Secrets(), []string{"t0ken"}) {
		t.Errorf("%+v", in)
	}
	s, err := Load(in.Layers()...)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"-c", "a b", "--x=c d", "e f", ""}; !reflect.DeepEqual(s.Agent.Flags, want) {
		t.Errorf("arguments %q, want %q", s.Agent.Flags, want)
	}
	if s.Iterations(TaskIterations) != 3 || s.Baseline != BaselineOff || s.Review || s.Setup != "npm ci" ||
		s.ReviewCap != 2 || s.Sandbox != "landlock" || s.Agent.Command != "codex" ||
		s.Reviewer.Model != "o" || len(s.Guardrails) != 2 || s.Guardrails[1].Command != "make test" ||
		s.GuardrailsFrom != "inputs" {
		t.Errorf("%+v", s)
	}
}

func TestInputProblems(t *testing.T) {
	const key = "-----BEGIN SECRET-----"
	for _, test := range []struct {
		environ map[string]string
		want    string
	}{
		{map[string]string{"INPUT_ISSUE": "#42"}, `input issue is "#42"; must be a whole number from 1 to 2147483647.`},
		{map[string]string{"INPUT_MAX_ITERATIONS": "0"},
			`input max_iterations is "0"; must be a whole number from 1 to 10000.`},
		{map[string]string{"INPUT_REVIEW": "maybe"}, `input review is "maybe"; must be true or false.`},
		{map[string]string{"INPUT_PROMPT": "a", "INPUT_PROMPT_FILE": "b"},
			`inputs prompt and prompt_file are both given; only one of them is allowed.`},
		{map[string]string{"INPUT_PROMPT": "a", "INPUT_ISSUE": "1"},
			`inputs issue and prompt (or prompt_file) are both given; only one of them is allowed.`},
		{map[string]string{"INPUT_PLAN": "ralph/tasks.json", "INPUT_ISSUE": "1"},
			`inputs plan and issue, prompt or prompt_file are both given; only one of them is allowed.`},
		{map[string]string{"INPUT_PLAN": "../tasks.json"},
			`input plan is "../tasks.json"; must be the path of a file in the repository, such as "ralph/tasks.json".`},
		{map[string]string{"INPUT_PLAN": "/etc/passwd"},
			`input plan is "/etc/passwd"; must be the path of a file in the repository, such as "ralph/tasks.json".`},
		{map[string]string{"INPUT_REVIEW_CAP": "101"}, `input review_cap is "101"; must be a whole number from 1 to 100.`},
		{map[string]string{"INPUT_APP_PRIVATE_KEY": key},
			`inputs app_id and app_private_key belong together, but only one of them is given; give both or neither.`},
		{map[string]string{"INPUT_SIGNING_KEY": key},
			`input signing_key is no private key; must be a whole file as ssh-keygen -t ed25519 -N '' makes it, with its lines as they are.`},
		{map[string]string{"INPUT_TRIGGER_PHRASE": "hey ralph"},
			`input trigger_phrase is "hey ralph"; must be one word, such as "/ralph".`},
		{map[string]string{"INPUT_ALLOWED_BOTS": "*"},
			`input allowed_bots is "*"; must be exact logins, such as "renovate[bot]".`},
		{map[string]string{"INPUT_AGENT_ARGS": `-c "a`},
			`input agent_args: a quote is not closed; must be arguments as in a shell.`},
		{map[string]string{"INPUT_ISSUE": "x", "INPUT_DRY_RUN": "y", "INPUT_APP_PRIVATE_KEY": key},
			"input issue is \"x\"; must be a whole number from 1 to 2147483647.\ninput dry_run is \"y\"; must be true " +
				"or false."},
	} {
		_, err := ReadInputs(test.environ)
		var wrong *Error
		if !errors.As(err, &wrong) || wrong.Error() != test.want {
			t.Errorf("%v:\n got %v\nwant %s", test.environ, err, test.want)
		}
		if err != nil && strings.Contains(err.Error(), key) {
			t.Errorf("a secret is quoted: %v", err)
		}
	}
}

func TestSandboxIsCheckedAsASetting(t *testing.T) {
	in, err := ReadInputs(map[string]string{"INPUT_SANDBOX": "jail"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Load(in.Layers()...); err == nil || !strings.Contains(err.Error(), `inputs: sandbox is "jail"; must`) {
		t.Error(err)
	}
}

func TestProblemsOfTheInputSettingsNameIt(t *testing.T) {
	in, err := ReadInputs(map[string]string{"INPUT_SETTINGS": `{"reviews": true}`})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Load(in.Layers()...); err == nil ||
		!strings.HasPrefix(err.Error(), "input settings: reviews is an unknown key") {
		t.Error(err)
	}
}

func TestEnvironment(t *testing.T) {
	e, err := ReadEnvironment(map[string]string{"GITHUB_REPOSITORY": "o/r", "GITHUB_RUN_ID": "7", "CI": "woodpecker",
		"RUNNER_DEBUG": "1",
		"NO_COLOR":     "0", "GITHUB_SERVER_URL": "https://ghe.example/", "GITHUB_API_URL": "", "GITHUB_TOKEN": "s3cret"})
	if err != nil {
		t.Fatal(err)
	}
	if !e.CI || !e.RunnerDebug || !e.NoColor || e.Actions || e.APIURL != "https://api.github.com" ||
		e.RunURL() != "https://ghe.example/o/r/actions/runs/7" || !reflect.DeepEqual(e.Secrets(), []string{"s3cret"}) {
		t.Errorf("%+v", e)
	}
	_, err = ReadEnvironment(map[string]string{"GITHUB_REPOSITORY": "r", "GITHUB_RUN_ID": "x"})
	want := "environment variable GITHUB_RUN_ID is \"x\"; must be a whole number.\nenvironment variable " +
		"GITHUB_REPOSITORY is \"r\"; must be owner/name."
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if e, err := ReadEnvironment(nil); err != nil || e.RunURL() != "" {
		t.Errorf("%+v, %v", e, err)
	}
}

// TestNotifyOn has a row for each value of the input.
func TestNotifyOn(t *testing.T) {
	for _, tt := range []struct{ given, want, problem string }{
		{"", `["done","failed","waiting"]`, ""},
		{"done, waiting", `["done","waiting"]`, ""},
		{"failed", `["failed"]`, ""},
		{"none", `[]`, ""},
		{"done, none", "",
			`input notify_on names "none"; must be done, failed and waiting, separated by commas or whitespace, or only none.`},
		{"always", "", `input notify_on names "always"; must be`},
	} {
		in, err := ReadInputs(map[string]string{"INPUT_NOTIFY_ON": tt.given})
		if (err == nil) != (tt.problem == "") || err != nil && !strings.Contains(err.Error(), tt.problem) {
			t.Errorf("%q: %v, want %q", tt.given, err, tt.problem)
		}
		if err != nil {
			continue
		}
		set, err := Load(in.Layers()...)
		if got, _ := json.Marshal(set.NotifyOn); err != nil || string(got) != tt.want {
			t.Errorf("%q: %s, %v, want %s", tt.given, got, err, tt.want)
		}
	}
}
