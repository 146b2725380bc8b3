//go:build linux && e2e

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake"
)

// TestProbe runs the probe in every configuration, and holds what it reaches against what docs/security.md admits.
func TestProbe(t *testing.T) {
	known, where := readFacts(t)
	found := facts{}
	for _, c := range configurations {
		t.Run(c.String(), func(t *testing.T) {
			uid := os.Geteuid()
			switch {
			case c.user == "root" && uid != 0:
				t.Skip("left out: it takes root")
			case c.user == "user" && uid == 0:
				uid = nobody
			}
			g := newGround(t, uid)
			if c.job {
				g.job(t, c)
			} else {
				g.run(t, c)
			}
			all := g.reports(t)
			if *update {
				found[c.String()] = reachedBy(all)
				return
			}
			c.hold(t, known, where, all)
		})
	}
	if *update {
		maps.Copy(known, found)
		known.write(t, here())
	}
}

// command is a program of ralph's user.
func (g *ground) command(dir string, env []string, args ...string) *exec.Cmd {
	c := exec.Command(args[0], args[1:]...)
	c.Dir, c.SysProcAttr = dir, g.as()
	c.Env = append([]string{"HOME=" + g.Home, "PATH=" + g.in("tools") + ":" + os.Getenv("PATH"), "TMPDIR=" + g.Temp,
		"GIT_CONFIG_NOSYSTEM=1", "ANTHROPIC_BASE_URL=" + g.model.URL}, env...)
	return c
}

// run is a person's: ralph run in a clone.
func (g *ground) run(t *testing.T, c configuration) {
	g.Tree = g.in("home/src/clone")
	settings, _ := json.Marshal(map[string]any{"agent": map[string]any{"command": "claude"}, "sandbox": c.sandbox,
		"setup": "probe setup", "sandboxWritable": []string{g.Reports},
		"guardrails": []any{map[string]any{"name": "probe", "command": "probe check && test -f hello.txt"}}})
	g.put(t, g.Tree+"/.ralph/settings.json", string(settings))
	g.put(t, g.Tree+"/issue.md", "# Say hello\n\nWrite hello.txt.\n\n## Acceptance criteria\n\n- it greets\n")
	g.ready(t)
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"commit", "-qm", "seed"}} {
		if out, err := g.command(g.Tree, nil, append([]string{"git"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	ralph := g.command(g.Tree, []string{"ANTHROPIC_API_KEY=" + secrets["model"], "GITHUB_TOKEN=" + secrets["github"]},
		g.in("bin/ralph"), "run", "--issue", "issue.md", "-m", "1")
	g.terminal(t, ralph)
	g.runs(t, c, ralph)
}

// runs runs ralph to its end, which has to be a good one: else not everything was tried.
func (g *ground) runs(t *testing.T, c configuration, ralph *exec.Cmd) {
	t.Helper()
	g.tell(t)
	out, err := ralph.CombinedOutput()
	chosen := regexp.MustCompile(`(?m)^.*sandbox: ` + c.sandbox + `[ :]`).Match(out)
	if err != nil || !chosen && c.sandbox != "off" {
		t.Fatalf("%v\n%s", err, out)
	}
	if lines := strings.Split(string(out), "\n"); slices.Contains(lines, obeyed) {
		t.Error("the runner would obey what an agent or a check has printed")
	}
	for _, dir := range lingering(g.Base) {
		t.Errorf("%s, which an agent has started, outlives the run", dir)
	}
	for name, secret := range secrets {
		if bytes.Contains(out, []byte(secret)) && !bytes.Contains(out, []byte("::add-mask::"+secret)) {
			t.Errorf("%s is in what ralph prints", name)
		}
	}
}

// job is ralph action on a runner.
func (g *ground) job(t *testing.T, c configuration) {
	g.runner(t, c.layout)
	hub := must[*fake.GitHub](t)(fake.New(fake.Options{}))
	t.Cleanup(hub.Close)
	noError(t, hub.AddRepo("alice", "demo", "main"))
	must[string](t)(hub.CommitFiles("alice", "demo", "main", "begin", map[string]string{"README.md": "# demo\n"}))
	hub.AddToken(secrets["github"], "", fake.Actions)
	number := hub.AddIssue("alice", "demo", fake.Issue{Title: "Say hello",
		Body: "A file hello.txt.\n\n## Acceptance criteria\n\n- it greets\n"})
	hub.Label("alice", "demo", number, "ralph", "alice")
	event := string(hub.LabeledPayload("alice", "demo", number, "ralph", "alice"))
	g.put(t, g.Runner.Event, strings.TrimSuffix(strings.TrimSpace(event), "}")+`,"secret":"`+secrets["event"]+`"}`)
	g.ready(t)
	settings, _ := json.Marshal(map[string]any{"sandboxWritable": []string{g.Reports}})
	env := []string{"GITHUB_ACTIONS=true", "CI=true", "GITHUB_EVENT_NAME=issues", "GITHUB_EVENT_PATH=" + g.Runner.Event,
		"GITHUB_ACTOR=alice", "GITHUB_TRIGGERING_ACTOR=alice", "GITHUB_RUN_ID=1", "GITHUB_RUN_ATTEMPT=1",
		"GITHUB_SERVER_URL=" + hub.URL(), "GITHUB_API_URL=" + hub.APIURL(), "GITHUB_GRAPHQL_URL=" + hub.GraphQLURL(),
		"GITHUB_REPOSITORY=alice/demo", "GITHUB_REPOSITORY_OWNER=alice", "GITHUB_WORKSPACE=" + g.Runner.Workspace,
		"RUNNER_TEMP=" + g.Runner.Temp, "ACTIONS_RUNTIME_TOKEN=" + secrets["github"],
		"INPUT_GITHUB_TOKEN=" + secrets["github"], "INPUT_ANTHROPIC_API_KEY=" + secrets["model"], "INPUT_AGENT=claude",
		"INPUT_SANDBOX=" + c.sandbox, "INPUT_INSTALL_SANDBOX=false", "INPUT_SETUP=probe setup",
		"INPUT_CHECKS=probe check && test -f hello.txt", "INPUT_SETTINGS=" + string(settings), "INPUT_MAX_ITERATIONS=1",
		"HOME=" + g.Home,
	}
	for name, file := range map[string]string{"ENV": "set_env_1", "OUTPUT": "set_output_1", "PATH": "add_path_1",
		"STATE": "save_state_1", "STEP_SUMMARY": "step_summary_1"} {
		env = append(env, "GITHUB_"+name+"="+filepath.Join(g.Runner.Commands, file))
	}
	g.runs(t, c, g.command(g.Runner.Workspace, env, g.in("bin/ralph"), "action"))
}

// runner makes the directories of a runner, with what other steps and the runner itself have left there.
func (g *ground) runner(t *testing.T, layout string) {
	t.Helper()
	r := runnerDirs{Top: g.in("actions-runner"), Siblings: "_work/other/other", Workspace: "_work/demo/demo",
		Temp: "_work/_temp", Event: "_work/_temp/_github_workflow/event.json",
		Commands: "_work/_temp/_runner_file_commands", Home: "home"}
	if layout == "container" {
		r = runnerDirs{Top: "/github", Siblings: "other", Workspace: "workspace", Temp: "runner_temp",
			Event: "workflow/event.json", Commands: "file_commands", Home: "home"}
		if err := os.Mkdir(r.Top, 0o755); err != nil {
			t.Skipf("left out: %v; this test makes the directories of a container of GitHub's itself", err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(r.Top) })
	}
	for _, path := range []*string{&r.Siblings, &r.Workspace, &r.Temp, &r.Event, &r.Commands, &r.Home} {
		*path = filepath.Join(r.Top, *path)
	}
	g.Runner = r
	if layout == "container" {
		g.Home = r.Home
		g.furnish(t)
	} else {
		r.Home = g.Home
	}
	for path, text := range map[string]string{
		r.Workspace + "/.git/config": "[http]\n\textraheader = AUTHORIZATION: basic " + secrets["checkout"] + "\n",
		r.Workspace + "/file.txt":    "text", r.Workspace + "/.git/hooks/": "", r.Siblings + "/file.txt": "text",
		r.Temp + "/git-credentials-1.config": secrets["included"], r.Temp + "/step.sh": secrets["step"],
		r.Commands + "/set_env_1": "TOKEN=" + secrets["commands"] + "\n", r.Commands + "/set_output_1": "",
		r.Commands + "/add_path_1": "", r.Commands + "/save_state_1": "", r.Commands + "/step_summary_1": "",
		filepath.Dir(r.Temp) + "/_actions/": "", r.Top + "/.credentials": secrets["runner"],
		r.Top + "/_diag/log": "text", r.Home + "/.runner-login": secrets["runnerhome"],
	} {
		g.put(t, path, text)
	}
}

// reports are what everybody has written down, and what must be reached was.
func (g *ground) reports(t *testing.T) (all []report) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(g.Reports, "*.json"))
	for _, file := range files {
		var r report
		text, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(text, &r)
		}
		noError(t, err)
		all = append(all, r)
		for _, p := range probes {
			if p.group == works && slices.Contains(r.Tried, p.String()) && r.Reached[p.String()] == "" {
				t.Errorf("%s cannot %s", r.Role, p.name)
			}
		}
	}
	for _, role := range []string{"setup", "agent", "hook", "check", "reviewer"} {
		for _, child := range []bool{false, true} {
			if !slices.ContainsFunc(all, func(r report) bool { return r.Role == role && r.Child == child }) {
				t.Errorf("%s, as a child %v, has not tried anything", role, child)
			}
		}
	}
	slices.SortFunc(all, func(x, y report) int {
		return strings.Compare(fmt.Sprint(x.Role, x.Child), fmt.Sprint(y.Role, y.Child))
	})
	return all
}
