package config

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestInputsOfAnEmptyEnvironment(t *testing.T) {
	in, err := ReadInputs(map[string]string{"INPUT_ISSUE": "", "INPUT_REVIEW": " "})
	noError(t, err)
	want := Inputs{Triggers: Triggers{TriggerLabel: "ralph", TriggerPhrase: "/ralph", CommentsBy: []string{"writers"}},
		Branches: Branches{BranchPrefix: "ralph/"}, InstallSandbox: true, MaxTasks: 1, Set: map[string]any{}}
	if !reflect.DeepEqual(in, want) {
		t.Errorf("got %+v, want %+v", in, want)
	}
	if s, err := Load(in.Layers()...); err != nil || s.GuardrailsFrom != "" || s.MaximumIterations != nil ||
		len(s.NotifyOn) != 3 {
		t.Errorf("no input sets anything: %+v, %v", s, err)
	}
}

func TestInputsBecomeSettings(t *testing.T) {
	in, err := ReadInputs(map[string]string{
		"INPUT_GITHUB_TOKEN": "t0ken", "INPUT_ISSUE": "42", "INPUT_REVIEW": "False", "INPUT_DRY_RUN": "true",
		"INPUT_AGENT": "codex", "INPUT_AGENT_ARGS": `-c 'a b' --x="c d" e\ f ""`, "INPUT_REVIEWER_MODEL": "o",
		"INPUT_CHECKS": "make lint\n\n# slow\n  make test \n", "INPUT_MAX_ITERATIONS": "3", "INPUT_ALLOWED_BOTS": "a[bot], b",
		"INPUT_SETTINGS": `{"maximumIterations": 8, "baseline": "off"}`, "INPUT_SETUP": "npm ci",
		"INPUT_REVIEW_CAP": "2", "INPUT_SANDBOX": "landlock", "INPUT_NOTIFY_ON": "none",
	})
	noError(t, err)
	if in.Issue != 42 || !in.DryRun || !reflect.DeepEqual(in.AllowedBots, []string{"a[bot]", "b"}) ||
		!reflect.DeepEqual(in.Secrets(), []string{"t0ken"}) {
		t.Errorf("%+v", in)
	}
	s, err := Load(in.Layers()...)
	noError(t, err)
	if want := []string{"-c", "a b", "--x=c d", "e f", ""}; !reflect.DeepEqual(s.Agent.Flags, want) {
		t.Errorf("arguments %q, want %q", s.Agent.Flags, want)
	}
	if s.Iterations(TaskIterations) != 3 || s.Baseline != BaselineOff || s.Review || s.Setup != "npm ci" ||
		s.ReviewCap != 2 || s.Sandbox != "landlock" || s.Agent.Command != "codex" ||
		s.Reviewer.Model != "o" || len(s.Guardrails) != 2 || s.Guardrails[1].Command != "make test" ||
		s.GuardrailsFrom != "inputs" || s.NotifyOn == nil || len(s.NotifyOn) > 0 {
		t.Errorf("%+v", s)
	}
}

func TestInputProblems(t *testing.T) {
	const key = "-----BEGIN SECRET-----"
	for _, test := range []struct{ given, want string }{ // of several inputs, one a line
		{"ISSUE=#42", `input issue is "#42"; must be a whole number from 1 to 2147483647.`},
		{"REVIEW=maybe", `input review is "maybe"; must be true or false.`},
		{"PROMPT=a\nPROMPT_FILE=b", `inputs prompt and prompt_file are both given; only one of them is allowed.`},
		{"PROMPT=a\nISSUE=1", `inputs issue and prompt (or prompt_file) are both given; only one of them is allowed.`},
		{"PLAN=ralph/tasks.json\nISSUE=1", `inputs plan and issue, prompt or prompt_file are both given; only one of them is allowed.`},
		{"PLAN=../tasks.json", `input plan is "../tasks.json"; must be the path of a file in the repository, such as "ralph/tasks.json".`},
		{"APP_PRIVATE_KEY=" + key, `inputs app_id and app_private_key belong together, but only one of them is given; give both or neither.`},
		{"SIGNING_KEY=" + key, `input signing_key is no private key; must be a whole file as ssh-keygen -t ed25519 -N '' makes it, with its lines as they are.`},
		{"TRIGGER_PHRASE=hey ralph", `input trigger_phrase is "hey ralph"; must be one word, such as "/ralph".`},
		{"ALLOWED_BOTS=*", `input allowed_bots is "*"; must be exact logins, such as "renovate[bot]".`},
		{`AGENT_ARGS=-c "a`, `input agent_args: a quote is not closed, or nothing follows the last backslash; must be arguments as in a shell.`},
		{"NOTIFY_ON=done, none", `input notify_on names "none"; must be done, failed and waiting, separated by commas or whitespace, or only none.`},
		{"ISSUE=x\nDRY_RUN=y\nAPP_PRIVATE_KEY=" + key,
			"input issue is \"x\"; must be a whole number from 1 to 2147483647.\ninput dry_run is \"y\"; must be true or false."},
		// as settings
		{"REVIEW_CAP=101", `input review_cap is "101"; must be a whole number from 1 to 100.`},
		{"SANDBOX=jail", `inputs: sandbox is "jail"; must be "auto", "bwrap", "landlock", "container", "docker-sandbox", "off" or "require".`},
		{`SETTINGS={"notifyCommand": "say done"}`, `input settings: notifyCommand is for the settings of a user alone; set it with ralph settings set --user notifyCommand, and leave it out here.`},
		{`SETTINGS={"zzz": true}`, `input settings: zzz is an unknown key; ralph settings schema lists the keys.`},
	} {
		environ := map[string]string{}
		for line := range strings.SplitSeq(test.given, "\n") {
			name, value, _ := strings.Cut(line, "=")
			environ["INPUT_"+name] = value
		}
		in, err := ReadInputs(environ)
		if err == nil {
			_, err = Load(in.Layers()...)
		}
		var wrong *Error
		if !errors.As(err, &wrong) || wrong.Error() != test.want || strings.Contains(wrong.Error(), key) {
			t.Errorf("%s:\n got %v\nwant %s", test.given, err, test.want)
		}
	}
}

func TestEnvironment(t *testing.T) {
	e, err := ReadEnvironment(map[string]string{"GITHUB_REPOSITORY": "o/r", "GITHUB_RUN_ID": "7", "CI": "woodpecker",
		"RALPH_TIMESTAMPS": "off", "NO_COLOR": "0", "GITHUB_SERVER_URL": "https://ghe.example/", "GITHUB_API_URL": "", "GITHUB_TOKEN": "s3cret"})
	noError(t, err)
	if !e.CI || e.Timestamps || !e.NoColor || e.Actions || e.APIURL != "https://api.github.com" ||
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
