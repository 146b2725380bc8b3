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
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/fake/model"
)

// The tests here meet a release as its users do: a registry on this machine has the image, a server the release's
// files, and a runner runs the workflow of README.md, as it is or with the steps of docs/github.md, with run.yml and the
// actions as the release's commit has them. The agent is the real claude, with a model's stand-in. What they measure stands in
// docs/internals/benchmarks.md.

// TestRehearsalInContainer runs the workflow with steps of its own, first where the image has to be fetched.
func TestRehearsalInContainer(t *testing.T) {
	r := newRelease(t)
	image, machine, e := imagesServed(t, tool(t, "RALPH_E2E_CRANE"), r.version)
	inside := r.runner(t, image)
	inside.args = append(inside.args, "-P", "ubuntu-24.04="+machine, "--network", "host")
	workflow := ownSteps(t)
	inside.container(t, e, image, workflow, "the image is fetched")
	inside.container(t, e, image, workflow, "the image is there")
}

// TestRehearsalOnHost runs the workflow, and its sweep, first where ralph and its agent have to be fetched.
func TestRehearsalOnHost(t *testing.T) {
	on := newRelease(t).runner(t, "ghcr.io/ralph-loop/ralph-claude@sha256:"+strings.Repeat("0", 64))
	on.args = append(on.args, onThisMachine...)
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
	return newRunner(t, r.act, releasedAction(t, r.version, image, r.files, r.serve))
}

// container runs README's workflow on a labeled issue, and says how long it took to be seen.
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

// host runs the workflow on a labeled issue.
func (r runner) host(t *testing.T, when string) {
	t.Helper()
	s, m := newScene(t), claudesModel(t)
	r.env = append(r.env, "ANTHROPIC_BASE_URL="+m.URL)
	j := r.do(t, s, "issues", config.Workflow)
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

// nothingToDo runs the sweep where no work is left: the job that would work is not begun.
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
	s.understood(t)
	keptReports(t, j)
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
	run(t, exec.Command("tar", "-xzf", filepath.Join(files, "ralph_linux_"+runtime.GOARCH+".tar.gz"), "-C", dir, "ralph"), 0)
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
	base := builds.need(t, "GO_IMAGE", "NODE_IMAGE", "BASE_IMAGE")
	registry := startRegistry(t, crane)
	push := func(target, name string) string {
		run(t, builds.docker(t, "build", "--network=host", "--target", target, "--build-arg", "VERSION="+version,
			"--tag", name+":local", "../.."), 0)
		pushed := registry.push(t, builds, name+":local", name)
		t.Logf("%s, compressed: %d MB", name, registry.size(t, pushed))
		return pushed
	}
	push("ralph", "ralph")
	image = push("ralph-claude", "ralph-claude")
	machine = registry.push(t, builds, base, "machine")
	if os.Geteuid() == 0 {
		return image, machine, ownEngine(t)
	}
	t.Log("no engine can be started here, so the one that built the image runs it: nothing is fetched")
	return image, machine, builds
}

// releasedAction is the repository as the commit of a release has it, but that the host variant's mirror is this one.
func releasedAction(t *testing.T, version, image, files, mirror string) string {
	t.Helper()
	dir := callable(t)
	run(t, exec.Command("../../.ci/release-action", version, image, filepath.Join(files, "checksums.txt"), dir), 0)
	setDefault(t, dir, "release_url", mirror)
	return dir
}

// ownSteps is run.yml with the steps of docs/github.md, on the events of an issue.
func ownSteps(t *testing.T) string {
	t.Helper()
	_, shown, _ := strings.Cut(document(t, "docs/github.md"), "\n## Your own steps\n")
	_, shown, _ = strings.Cut(shown, "```yaml\n")
	shown, _, _ = strings.Cut(shown, "```\n")
	steps := strings.SplitAfter(shown, "    steps:\n")
	jobs := strings.SplitAfter(document(t, ".github/workflows/run.yml"), "    steps:\n")
	sweep, _, _ := strings.Cut(steps[1], "  ralph:\n")
	_, job, _ := strings.Cut(jobs[1], "  ralph:\n")
	_, text, _ := strings.Cut(jobs[0]+sweep+"  ralph:\n"+job+steps[2], "\npermissions:")
	return strings.ReplaceAll("on: issues\npermissions:"+text, "secrets.anthropic_api_key", "secrets.ANTHROPIC_API_KEY")
}

func document(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", path))
	noError(t, err)
	return string(text)
}
