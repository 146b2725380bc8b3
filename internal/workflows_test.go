package internal_test

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/ralph-loop/ralph/internal/config"
)

// workflow is what the rules look at, of a workflow or an action.
type workflow struct {
	On          any                    `yaml:"on"`
	Permissions any                    `yaml:"permissions"`
	Jobs        map[string]workflowJob `yaml:"jobs"`
	Runs        struct {
		Steps []workflowStep `yaml:"steps"`
	} `yaml:"runs"`
}

type workflowJob struct {
	Uses        string         `yaml:"uses"`
	Permissions any            `yaml:"permissions"`
	Timeout     any            `yaml:"timeout-minutes"`
	Secrets     any            `yaml:"secrets"`
	Steps       []workflowStep `yaml:"steps"`
}

type workflowStep struct {
	Uses string         `yaml:"uses"`
	Run  string         `yaml:"run"`
	With map[string]any `yaml:"with"`
}

// onOthersWork are the events on which a checkout takes what somebody proposes, in a job that holds secrets.
var onOthersWork = []string{
	"pull_request_target", "pull_request_review", "pull_request_review_comment", "workflow_run",
}

var (
	pinned    = regexp.MustCompile(`^[\w.-]+(/[\w.-]+)+@[0-9a-f]{40}$`)
	tagBeside = regexp.MustCompile(`(?m)\buses: *\S+@[0-9a-f]{40}(.*)$`)
	isTag     = regexp.MustCompile(`^ # v\d+\.\d+\.\d+$`)
	template  = regexp.MustCompile(`\$\{\{\s*(.*?)\s*\}\}`)
)

// faults says what could let others act by a workflow, or by a composite action.
func faults(text string) (faults []string, err error) {
	var w workflow
	if err := yaml.Unmarshal([]byte(text), &w); err != nil {
		return nil, err
	}
	say := func(format string, a ...any) { faults = append(faults, fmt.Sprintf(format, a...)) }
	for _, match := range tagBeside.FindAllStringSubmatch(text, -1) {
		if !isTag.MatchString(match[1]) {
			say("an action lacks its version beside the hash")
		}
	}
	switch p := w.Permissions.(type) {
	case nil:
		if w.Jobs != nil {
			say("permissions of the workflow: none are said, so the repository's own hold")
		}
	case map[string]any:
		if len(p) > 1 || len(p) == 1 && p["contents"] != "read" {
			say("permissions of the workflow are more than contents: read")
		}
	default:
		say("permissions of the workflow are %v", p)
	}
	others := takesSecrets(w.On) || slices.ContainsFunc(onOthersWork, func(event string) bool { return hears(w.On, event) })
	for _, name := range slices.Sorted(maps.Keys(w.Jobs)) {
		job := w.Jobs[name]
		if job.Timeout == nil && job.Uses == "" { // the jobs of a workflow that is called have their own
			say("job %s has no time limit", name)
		}
		if job.Secrets == "inherit" {
			say("job %s hands on every secret", name)
		}
		if job.Uses != "" && !strings.HasPrefix(job.Uses, "./") && !pinned.MatchString(job.Uses) {
			say("%s is not pinned by the hash of a commit", job.Uses)
		}
		steps(job.Steps, others, cmp.Or(job.Permissions, w.Permissions), say)
	}
	steps(w.Runs.Steps, false, nil, say)
	return faults, nil
}

// hears reports whether a workflow is started by an event.
func hears(on any, event string) bool {
	switch on := on.(type) {
	case string:
		return on == event
	case []any:
		return slices.Contains(on, any(event))
	case map[string]any:
		_, ok := on[event]
		return ok
	}
	return false
}

// takesSecrets reports whether a workflow gets secrets from one that calls it, on whatever event.
func takesSecrets(on any) bool {
	events, _ := on.(map[string]any)
	call, _ := events["workflow_call"].(map[string]any)
	return call["secrets"] != nil
}

// fromOurselves are what a called workflow checks out of its own repository: the commit that the caller names, or in
// that repository itself the default branch.
var fromOurselves = map[string]any{"repository": "${{ job.workflow_repository }}", "ref": "${{ job.workflow_repository ==" +
	" github.repository && github.event.repository.default_branch || job.workflow_sha }}"}

func steps(steps []workflowStep, others bool, permissions any, say func(string, ...any)) {
	p, _ := permissions.(map[string]any)
	signs := p["id-token"] == "write"
	for _, s := range steps {
		if s.Uses != "" && !strings.HasPrefix(s.Uses, "./") && !pinned.MatchString(s.Uses) {
			say("%s is not pinned by the hash of a commit", s.Uses)
		}
		if strings.HasPrefix(s.Uses, "actions/checkout@") {
			if s.With["persist-credentials"] != false {
				say("a checkout leaves its token behind")
			}
			ours := s.With["repository"] == fromOurselves["repository"] && s.With["ref"] == fromOurselves["ref"]
			if others && !ours && s.With["ref"] != "${{ github.event.repository.default_branch }}" {
				say("a checkout takes what others propose, in a job that may write")
			}
			if signs {
				say("a job that signs has code of the repository")
			}
		}
		for _, match := range template.FindAllStringSubmatch(s.Run, -1) {
			say("a script has ${{ %s }} in its text; hand it over in env", match[1])
		}
	}
}

// TestWorkflows checks the workflows and the one that ralph init proposes with actionlint, and these and the actions
// against the rules of faults. It checks the actions with actionlint through a workflow that uses them.
func TestWorkflows(t *testing.T) {
	files, err := filepath.Glob("../.github/workflows/*.yml")
	if err != nil || len(files) < 3 {
		t.Fatalf("workflows: %v, %v", files, err)
	}
	for _, file := range append(files, "config/workflow.yml") {
		text := localActions.ReplaceAllString(document(t, file), "./$1") // users paste a version that moves
		lintWorkflow(t, text)
		if found, err := faults(text); err != nil || len(found) > 0 {
			t.Errorf("%s: %q %v", file, found, err)
		}
	}
	for _, action := range []string{"./", "./host"} {
		if found, err := faults(document(t, "../"+action+"/action.yml")); err != nil || len(found) > 0 {
			t.Errorf("%s: %q %v", action, found, err)
		}
		lintWorkflow(t, "on: push\njobs:\n  a:\n    runs-on: ubuntu-24.04\n    steps:\n      - id: ralph\n        uses: "+action+
			"\n        with:\n          issue: '1'\n"+
			"      - run: echo \"$URL\"\n        env:\n          URL: ${{ steps.ralph.outputs.pr_url }}\n")
	}
}

// TestQuickStart checks that README.md, docs/github.md and ralph init --github have the same workflow, in 25 lines at
// most; that it has every event of docs/commands.md and grants what run.yml uses, without which GitHub starts nothing;
// and that ralph's own repository and the examples differ from it only in the toolchain and the comments.
func TestQuickStart(t *testing.T) {
	if n := strings.Count(config.Workflow, "\n"); n > 25 {
		t.Errorf("the workflow has %d lines", n)
	}
	for _, page := range []string{"../README.md", "../docs/github.md"} {
		if !strings.Contains(document(t, page), "```yaml\n"+config.Workflow+"```") {
			t.Errorf("%s shows another workflow than internal/config/workflow.yml", page)
		}
	}
	var caller, called, events workflow
	for text, w := range map[string]*workflow{config.Workflow: &caller, document(t, "../.github/workflows/run.yml"): &called,
		fenced(document(t, "../docs/commands.md"), "yaml")[0]: &events} {
		noError(t, yaml.Unmarshal([]byte(text), w))
	}
	if got, want := caller.Jobs["ralph"].Permissions, called.Jobs["ralph"].Permissions; want == nil || !reflect.DeepEqual(got, want) {
		t.Errorf("the workflow grants %v, and run.yml uses %v", got, want)
	}
	for event := range events.On.(map[string]any) {
		if event != "workflow_run" && !hears(caller.On, event) { // which names workflows of the repository
			t.Errorf("the workflow lacks the event %s", event)
		}
	}
	const pinnable = "ralph-loop/ralph/.github/workflows/run.yml@v0"
	examples, err := filepath.Glob("../examples/*/.github/workflows/ralph.yml")
	noError(t, err)
	with := regexp.MustCompile(`(?m)^( *#.*| +(# )?with: .*)\n`)
	calls := 0
	for _, file := range append(examples, "../.github/workflows/ralph.yml") {
		text := strings.Replace(document(t, file), "./.github/workflows/run.yml", pinnable, 1)
		if !strings.Contains(text, pinnable) { // steps of its own
			continue
		}
		calls++
		if with.ReplaceAllString(text, "") != with.ReplaceAllString(config.Workflow, "") {
			t.Errorf("%s is not the quick start:\n%s", file, text)
		}
	}
	if calls < 10 {
		t.Errorf("only %d of %q call run.yml", calls, examples)
	}
}

// TestRulesOfWorkflows: each rule refuses what it is there for.
func TestRulesOfWorkflows(t *testing.T) {
	const (
		head     = "on: push\npermissions: {contents: read}\n"
		hash     = "3d3c42e5aac5ba805825da76410c181273ba90b1"
		checkout = "actions/checkout@" + hash + " # v7.0.1\n        with: {persist-credentials: false}\n"
	)
	job := func(steps ...string) string {
		text := "jobs:\n  a:\n    timeout-minutes: 5\n    steps:\n"
		for _, step := range steps {
			text += "      - " + step + "\n"
		}
		return text
	}
	for _, row := range []struct{ name, text, want string }{
		{"good", head + job("uses: "+checkout, "run: make test"), ""},
		{"a tag", head + job("uses: actions/cache@v5"), "not pinned"},
		{"a hash without its version", head + job("uses: actions/cache@"+hash), "lacks its version"},
		{"a called workflow by its tag", head + "jobs:\n  a:\n    uses: alice/ci/.github/workflows/a.yml@v1\n", "not pinned"},
		{"no permissions", "on: push\n" + job("run: make"), "none are said"},
		{"writes everywhere", "on: push\npermissions: {contents: write}\n" + job("run: make"), "more than"},
		{"a token left behind", head + job("uses: actions/checkout@"+hash+" # v7.0.1"), "leaves its token"},
		{"a title in a script", head + job("run: echo ${{ github.event.issue.title }}"), "hand it over"},
		{"no time limit", head + "jobs:\n  a:\n    steps: []\n", "no time limit"},
		{"every secret", head + "jobs:\n  a:\n    timeout-minutes: 5\n    secrets: inherit\n", "every secret"},
		{"a review's own code", strings.Replace(head, "push", "[pull_request_review]", 1) + job("uses: "+checkout),
			"what others propose"},
		{"a caller's own code", strings.Replace(head, "push", "{workflow_call: {secrets: {key: {}}}}", 1) + job("uses: "+checkout),
			"what others propose"},
		{"signs what it tests", head + strings.Replace(job("uses: "+checkout), "    steps:",
			"    permissions: {id-token: write}\n    steps:", 1), "has code"},
		{"an action's script", "runs:\n  using: composite\n  steps:\n    - run: echo ${{ inputs.a }}\n", "hand it over"},
	} {
		found, err := faults(row.text)
		if err != nil || (row.want == "") != (len(found) == 0) || !strings.Contains(strings.Join(found, "; "), row.want) {
			t.Errorf("%s: %q %v, want %q", row.name, found, err, row.want)
		}
	}
}
