//go:build e2e

package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/fake"
)

// turner is an agent that adds a line in every turn.
const turner = approves + `echo hello >hello.txt
echo turn >>turns.txt
echo '<response>DONE</response>'
`

// TestQuickStart has a runner play the events of README's workflow, which calls run.yml of another repository: a label
// and a review start a run, a schedule finds what was missed, and a closed issue and a removed label reach ralph. An
// event that is not for ralph starts no job. Act doesn't filter types, and doesn't enforce permissions and concurrency.
func TestQuickStart(t *testing.T) {
	t.Parallel()
	program := tool(t, "RALPH_E2E_ACT")
	s := newScene(t)
	s.takesTurns(t)
	dir := callable(t)
	setDefault(t, dir, "ralph_path", compiledRalph(t))
	r := newRunner(t, program, dir)
	r.args = append(r.args, onThisMachine...)
	play := func(name, event string, payload []byte, starts bool) job {
		t.Helper()
		s.write(t, "event.json", string(payload))
		j := r.do(t, s, event, config.Workflow)
		if began := !j.at(`⭐ Run Main exec "$RALPH" action`).IsZero(); j.code != 0 || began != starts {
			t.Fatalf("%s: exit code %d, ralph has started: %v, want %v\n%s", name, j.code, began, starts, j.log())
		}
		t.Logf("%s: %s", name, seconds(j.ended.Sub(j.begun)))
		return j
	}
	turns := func(branch string) int { return strings.Count(s.git(t, "show", branch+":turns.txt"), "turn") }

	j := play("label", "issues", s.hub.LabeledPayload("alice", "demo", 1, "ralph", "alice"), true)
	pulls := s.hub.Pulls("alice", "demo")
	if len(pulls) != 1 || pulls[0].Draft || turns(pulls[0].Head) != 1 {
		t.Fatalf("the label made %+v", pulls)
	}
	keptReports(t, j)
	review := s.hub.AddReview("alice", "demo", pulls[0].Number, fake.Review{Author: "alice", State: "CHANGES_REQUESTED", Body: "Again."})
	play("review", "pull_request_review", s.hub.ReviewPayload("alice", "demo", review), true)
	if n := turns(pulls[0].Head); n != 2 {
		t.Errorf("after the review there are %d turns, want 2", n)
	}
	play("another label", "issues", s.hub.UnlabeledPayload("alice", "demo", 1, "bug", "alice"), false)
	play("unlabel", "issues", s.hub.UnlabeledPayload("alice", "demo", 1, "ralph:running", "alice"), true)
	s.hub.CloseIssue("alice", "demo", 1)
	play("close", "issues", s.hub.ClosedPayload("alice", "demo", 1, "alice"), true)
	missed := s.hub.AddIssue("alice", "demo", fake.Issue{Title: "Say it again", Body: "In turns.txt."})
	s.hub.Label("alice", "demo", missed, "ralph", "alice")
	play("schedule", "schedule", s.hub.SchedulePayload("alice", "demo"), true)
	if pulls = s.hub.Pulls("alice", "demo"); len(pulls) != 2 || pulls[1].Draft {
		t.Errorf("the schedule made %+v", pulls)
	}
	s.understood(t)
}

// keptReports fails if the job had no reports to keep as an artifact.
func keptReports(t *testing.T, j job) {
	t.Helper()
	if j.at("reports: 20").IsZero() {
		t.Errorf("no report was kept:\n%s", j.log())
	}
}

// onThisMachine has jobs run here instead of in a container.
var onThisMachine = []string{"-P", "ubuntu-24.04=-self-hosted", "-P", "ubuntu-slim=-self-hosted"}

// newRunner is one that finds ralph's repository, as v0, in a directory.
func newRunner(t *testing.T, act, dir string) runner {
	t.Helper()
	r := runner{program: act, cache: openDir(t), args: []string{
		"--local-repository", "ralph-loop/ralph@v0=" + dir, "--container-daemon-socket", "-", "--pull=false"}}
	for pin, does := range standInActions(t, dir) {
		r.args = append(r.args, "--local-repository", pin+"="+does)
	}
	return r
}

// callable is a directory with what other repositories use of this one. Act doesn't know job.workflow_repository and
// job.workflow_sha, so they are written into run.yml.
func callable(t *testing.T) string {
	t.Helper()
	dir := openDir(t)
	run(t, exec.Command("cp", "-R", "../../host", dir), 0)
	text := strings.NewReplacer("job.workflow_repository", "'ralph-loop/ralph'", "job.workflow_sha", "'v0'").Replace(
		document(t, ".github/workflows/run.yml"))
	putFile(t, filepath.Join(dir, ".github", "workflows", "run.yml"), text)
	return dir
}

// setDefault gives an input of the host variant in a directory a default.
func setDefault(t *testing.T, dir, input, value string) {
	t.Helper()
	path := filepath.Join(dir, "host", "action.yml")
	text, err := os.ReadFile(path)
	noError(t, err)
	if input = "  " + input + ":\n"; strings.Count(string(text), input) != 1 {
		t.Fatalf("host/action.yml has no input %s", input)
	}
	putFile(t, path, strings.Replace(string(text), input, input+"    default: '"+value+"'\n", 1))
}

// standInActions are what run.yml uses of others, by how it names them: act cannot fetch them here. With a path,
// checkout copies the actions of ralph from a directory.
func standInActions(t *testing.T, dir string) map[string]string {
	t.Helper()
	does := map[string]string{
		"actions/checkout": `if [ -n "$INTO" ]; then mkdir "$INTO" && cp -R ` + dir + `/host "$INTO"; exit; fi; git init -q . && ` +
			`git -c http.extraHeader="Authorization: Basic $(printf 'x-access-token:%s' "$TOKEN" | base64 -w0)" fetch -q ` +
			`"$GITHUB_SERVER_URL/$GITHUB_REPOSITORY.git" main && git checkout -q FETCH_HEAD`,
		"actions/upload-artifact": `echo "reports: $(ls .ralph/runs 2>/dev/null)"`,
	}
	found := map[string]string{}
	uses := regexp.MustCompile(`uses: ((actions/[a-z-]+)@[0-9a-f]{40})`)
	for _, pin := range uses.FindAllStringSubmatch(document(t, ".github/workflows/run.yml"), -1) {
		step, known := does[pin[2]]
		switch {
		case strings.HasPrefix(pin[2], "actions/setup-"):
			step = "true"
		case !known:
			t.Fatalf("%s has no stand-in", pin[2])
		}
		found[pin[1]] = t.TempDir()
		putFile(t, filepath.Join(found[pin[1]], "action.yml"), "name: a stand-in\ninputs:\n  path:\n    default: ''\nruns:\n"+
			"  using: composite\n  steps:\n    - shell: bash\n      env: {TOKEN: '${{ github.token }}', INTO: '${{ inputs.path }}'}\n"+
			"      run: |\n        "+step+"\n")
	}
	return found
}
