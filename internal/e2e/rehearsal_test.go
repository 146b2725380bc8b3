//go:build e2e

package e2e_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/fake/model"
)

// The tests here meet a release as its users do: a registry on this machine has the image, a server the release's
// files, and a runner runs the workflows that README.md and docs/github.md show, as they are, with the action as the
// release's commit has it. The agent is the real claude, with a model's stand-in. What they measure stands in
// docs/benchmarks.md.

// TestRehearsalInContainer runs README's workflow, first where the image has to be fetched.
func TestRehearsalInContainer(t *testing.T) {
	r := newRelease(t)
	image, machine, e := imagesServed(t, tool(t, "RALPH_E2E_CRANE"), r.version)
	inside := r.runner(t, image)
	inside.args = append(inside.args, "-P", "ubuntu-24.04="+machine, "--network", "host")
	workflow := block(t, "README.md", 0)
	inside.container(t, e, image, workflow, "the image is fetched")
	inside.container(t, e, image, workflow, "the image is there")
}

// TestRehearsalOnHost runs the full workflow with the steps of the host variant, and its sweep, first where ralph and
// its agent have to be fetched.
func TestRehearsalOnHost(t *testing.T) {
	on := newRelease(t).runner(t, "ghcr.io/ralph-loop/ralph-claude@sha256:"+strings.Repeat("0", 64))
	on.args = append(on.args, "-P", "ubuntu-24.04=-self-hosted", "-P", "ubuntu-slim=-self-hosted")
	on.nothingToDo(t, "ralph is fetched")
	on.nothingToDo(t, "ralph is in the cache")
	on.host(t, "the agent is fetched")
	on.host(t, "the agent is in the cache")
}

// release is one that make release-rehearsal has made.
type release struct {
	act, files     string
	version, serve string // the latter is the address of its files
}

func newRelease(t *testing.T) release {
	t.Helper()
	r := release{act: tool(t, "RALPH_E2E_ACT")}
	var err error
	if r.files, err = filepath.Abs(tool(t, "RALPH_E2E_RELEASE")); err != nil {
		t.Fatal(err)
	}
	r.version, r.serve = releaseServer(t, r.files)
	return r
}

// runner is one that finds the action as the release's commit has it, with an image.
func (r release) runner(t *testing.T, image string) runner {
	t.Helper()
	action := releasedAction(t, r.version, image, r.files, r.serve)
	with := runner{program: r.act, cache: openDir(t), args: []string{
		"--local-repository", "ralph-loop/ralph@v0=" + action, "--container-daemon-socket", "-", "--pull=false"}}
	for pin, does := range standInActions(t) {
		with.args = append(with.args, "--local-repository", pin+"="+does)
	}
	return with
}

// container runs README's workflow on a labelled issue, and says how long it took to be seen.
func (r runner) container(t *testing.T, e engine, image, workflow, when string) {
	t.Helper()
	s, m := newScene(t), claudesModel(t)
	r.env = append(r.env, "ANTHROPIC_BASE_URL="+m.URL)
	r.engine = slices.DeleteFunc(slices.Clone(e.env), func(pair string) bool {
		return !strings.HasPrefix(pair, "DOCKER_HOST=")
	})
	j := r.do(t, s, "issues", workflow)
	began := containerStart(t, e, image, j)
	seen := reaction(t, s, j)
	delivered(t, s, m, j)
	t.Logf("container, %s: job start to 👀 %s, of which the runner's own until ralph's process %s, ralph's own %s; "+
		"whole job %s", when, seconds(seen.Sub(j.begun)), seconds(began.Sub(j.begun)), seconds(seen.Sub(began)),
		seconds(j.ended.Sub(j.begun)))
}

// host runs the full workflow with the steps of the host variant on a labelled issue.
func (r runner) host(t *testing.T, when string) {
	t.Helper()
	s, m := newScene(t), claudesModel(t)
	r.env = append(r.env, "ANTHROPIC_BASE_URL="+m.URL)
	j := r.do(t, s, "issues", hostWorkflow(t))
	fetching, began := j.at(`⭐ Run Main exec "$HOST/binary.sh"`), j.at(`⭐ Run Main exec "$RALPH" action`)
	agentStep := j.at(`⭐ Run Main exec "$HOST/agent.sh"`)
	if began.IsZero() || fetching.IsZero() || agentStep.IsZero() {
		t.Fatalf("the action's steps were not run:\n%s", j.log())
	}
	seen := reaction(t, s, j)
	delivered(t, s, m, j)
	t.Logf("host, %s: job start to 👀 %s, of which the runner's own %s, finding ralph %s, the agent's CLI %s, "+
		"ralph's own %s; whole job %s", when, seconds(seen.Sub(j.begun)), seconds(fetching.Sub(j.begun)),
		seconds(agentStep.Sub(fetching)), seconds(began.Sub(agentStep)), seconds(seen.Sub(began)), seconds(j.ended.Sub(j.begun)))
}

// nothingToDo runs the sweep of the full workflow where no work is left: the job that would work is not begun.
func (r runner) nothingToDo(t *testing.T, when string) {
	t.Helper()
	s := newScene(t)
	s.hub.Unlabel("alice", "demo", 1, "ralph", "alice")
	s.write(t, "event.json", string(s.hub.SchedulePayload("alice", "demo")))
	s.hub.ResetCalls()
	j := r.do(t, s, "schedule", config.Workflow)
	fetching, began := j.at(`⭐ Run Main exec "$HOST/binary.sh"`), j.at(`⭐ Run Main exec "$RALPH" action`)
	ended := j.at(`✅  Success - Main exec "$RALPH" action`)
	if j.code != 0 || began.IsZero() || ended.IsZero() {
		t.Fatalf("exit code %d:\n%s", j.code, j.log())
	}
	if !j.at("[ralph/ralph").IsZero() {
		t.Errorf("the job that works was begun:\n%s", j.log())
	}
	calls := s.hub.Calls()
	if len(calls) > 1 {
		t.Errorf("%d calls to GitHub, want one at most: %v", len(calls), calls)
	}
	t.Logf("nothing to do, %s: whole job %s, of which finding ralph %s, ralph's own %s; %d calls to GitHub", when,
		seconds(j.ended.Sub(j.begun)), seconds(began.Sub(fetching)), seconds(ended.Sub(began)), len(calls))
}

// delivered holds what is on GitHub against what the issue asked for, and that nobody was told a secret.
func delivered(t *testing.T, s scene, m *model.Server, j job) {
	t.Helper()
	if j.code != 0 {
		t.Fatalf("exit code %d:\n%s", j.code, j.log())
	}
	for _, problem := range s.hub.Problems() {
		t.Error("GitHub would not have understood:", problem)
	}
	pulls := s.hub.Pulls("alice", "demo")
	if len(pulls) != 1 || pulls[0].Draft || !strings.Contains(pulls[0].Body, "Closes #1") {
		t.Fatalf("not one pull request that is ready: %+v\n%s", pulls, j.log())
	}
	if got := s.git(t, "show", pulls[0].Head+":hello.txt"); got != "hello\n" {
		t.Errorf("hello.txt says %q", got)
	}
	if unknown := m.Unknown(); len(unknown) > 0 || len(m.Requests()) < 3 {
		t.Errorf("the model had %d requests, and %v", len(m.Requests()), unknown)
	}
	for _, line := range j.lines {
		if strings.Contains(line.text, realKey) || strings.Contains(line.text, token) {
			t.Error("a secret is in the log")
		}
	}
}

// reaction is when GitHub was asked for the 👀.
func reaction(t *testing.T, s scene, j job) time.Time {
	t.Helper()
	for _, call := range s.hub.Calls() {
		if call.Method == http.MethodPost && strings.HasSuffix(call.Path, "/reactions") {
			return call.At
		}
	}
	t.Fatalf("there was no reaction:\n%s", j.log())
	return time.Time{}
}

// containerStart is when the engine started the container of an image.
func containerStart(t *testing.T, e engine, image string, j job) time.Time {
	t.Helper()
	out := run(t, e.docker(t, "events", "--since", stamp(j.begun), "--until", stamp(j.ended), "--filter", "event=start",
		"--format", "{{.TimeNano}} {{.From}}"), 0)
	for line := range strings.Lines(out) {
		nano, from, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.ParseInt(nano, 10, 64); err == nil && from == image {
			return time.Unix(0, n)
		}
	}
	t.Fatalf("the engine started no container of %s:\n%s\n%s", image, out, j.log())
	return time.Time{}
}

func stamp(at time.Time) string { return fmt.Sprintf("%d.%09d", at.Unix(), at.Nanosecond()) }

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

// claudesModel writes what the issue asks for, and approves it as a reviewer.
func claudesModel(t *testing.T) *model.Server {
	t.Helper()
	m := model.New(model.Turn{Text: "I write.", Tools: []model.Tool{model.Write("hello.txt", "hello\n")}},
		model.Turn{Text: "Written.\n<response>DONE</response>"})
	t.Cleanup(m.Close)
	m.Key = realKey
	reviewed := regexp.MustCompile(`From [0-9a-f]+ to the tree ([0-9a-f]+):`)
	m.Other = func(body string) []model.Turn {
		tree := reviewed.FindStringSubmatch(body)
		if tree == nil {
			return nil
		}
		return []model.Turn{{Text: `{"verdict": "approve", "tree": "` + tree[1] +
			`", "summary": "It says hello.", "issues": []}`}}
	}
	return m
}

// releaseServer serves the files of a release where GitHub has them, and tells its version.
func releaseServer(t *testing.T, files string) (version, url string) {
	t.Helper()
	dir := t.TempDir()
	machine := strings.TrimSpace(goSays(t, "env", "GOARCH"))
	run(t, exec.Command("tar", "-xzf", filepath.Join(files, "ralph_linux_"+machine+".tar.gz"), "-C", dir, "ralph"), 0)
	version = strings.TrimSpace(run(t, exec.Command(filepath.Join(dir, "ralph"), "--version"), 0))
	server := httptest.NewServer(http.StripPrefix("/"+version, http.FileServer(http.Dir(files))))
	t.Cleanup(server.Close)
	return version, server.URL
}

// imagesServed builds the image of claude and what stands in for a runner's machine, and has a registry give both to an
// engine that has neither, where one can be started.
func imagesServed(t *testing.T, crane, version string) (image, machine string, e engine) {
	t.Helper()
	builds := startEngine(t)
	builds.need(t, "GO_IMAGE", "NODE_IMAGE", "BASE_IMAGE")
	registry := startRegistry(t, crane)
	push := func(target, name string) string {
		run(t, builds.docker(t, "build", "--network=host", "--target", target, "--build-arg", "VERSION="+version,
			"--tag", name+":local", "../.."), 0)
		pushed := registry.push(t, builds, name+":local", name)
		t.Logf("%s, compressed: %s", name, registry.size(t, pushed))
		return pushed
	}
	push("ralph", "ralph")
	image = push("ralph-claude", "ralph-claude")
	machine = registry.push(t, builds, builds.standIn(t, "BASE_IMAGE"), "machine")
	if os.Geteuid() == 0 {
		return image, machine, ownEngine(t)
	}
	t.Log("no engine can be started here, so the one that built the image runs it: nothing is fetched")
	return image, machine, builds
}

// releasedAction is the repository as the commit of a release has it, but that the host variant's mirror is this one.
func releasedAction(t *testing.T, version, image, files, mirror string) string {
	t.Helper()
	dir := openDir(t)
	run(t, exec.Command("cp", "-R", "../../host", dir), 0)
	run(t, exec.Command("../../.ci/release-action", version, image, filepath.Join(files, "checksums.txt"), dir), 0)
	path := filepath.Join(dir, "host", "action.yml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const input = "  release_url:\n"
	if strings.Count(string(text), input) != 1 {
		t.Fatal("host/action.yml has no input release_url")
	}
	putFile(t, path, strings.Replace(string(text), input, input+"    default: '"+mirror+"'\n", 1))
	return dir
}

// standInActions are what the workflows use of others, by how they name it: act cannot fetch them here.
func standInActions(t *testing.T) map[string]string {
	t.Helper()
	does := map[string]string{
		"actions/checkout": `git init -q . && ` +
			`git -c http.extraHeader="Authorization: Basic $(printf 'x-access-token:%s' "$TOKEN" | base64 -w0)" fetch -q ` +
			`"$GITHUB_SERVER_URL/$GITHUB_REPOSITORY.git" main && git checkout -q FETCH_HEAD`,
		"actions/setup-go": "true", "actions/upload-artifact": `test -n "$(ls .ralph/runs)"`,
	}
	found := map[string]string{}
	uses := regexp.MustCompile(`uses: ((actions/[a-z-]+)@[0-9a-f]{40})`)
	for _, pin := range uses.FindAllStringSubmatch(hostWorkflow(t), -1) {
		step, known := does[pin[2]]
		if !known {
			t.Fatalf("%s has no stand-in", pin[2])
		}
		found[pin[1]] = t.TempDir()
		putFile(t, filepath.Join(found[pin[1]], "action.yml"), "name: a stand-in\nruns:\n  using: composite\n  steps:\n"+
			"    - shell: bash\n      env: {TOKEN: '${{ github.token }}'}\n      run: |\n        "+step+"\n")
	}
	return found
}

// hostWorkflow is the workflow that is proposed with the steps of the host variant, as docs/github.md says.
func hostWorkflow(t *testing.T) string {
	t.Helper()
	last := strings.LastIndex(config.Workflow, "    steps:\n")
	steps := regexp.MustCompile(`(?m)^(.)`).ReplaceAllString(block(t, "docs/github.md", 1), "      $1")
	return config.Workflow[:last] + "    steps:\n" + steps
}

// block is one of the blocks of YAML that a document shows.
func block(t *testing.T, document string, number int) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", document))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindAllStringSubmatch(string(text), -1)
	if len(found) <= number {
		t.Fatalf("%s has %d blocks of YAML", document, len(found))
	}
	return found[number][1]
}
