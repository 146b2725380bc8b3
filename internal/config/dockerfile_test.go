//go:build e2e

package config

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A stage of a Dockerfile has the instructions below its FROM, one a string.
type stage struct {
	name, from string
	commands   []string
}

func stagesOf(text string) (all []stage) {
	text = strings.ReplaceAll(regexp.MustCompile(`(?m)^#.*\n`).ReplaceAllString(text, ""), "\\\n", "")
	for line := range strings.Lines(text) {
		if from := regexp.MustCompile(`^FROM (\S+) AS (\S+)\n$`).FindStringSubmatch(line); from != nil {
			all = append(all, stage{name: from[2], from: from[1]})
		} else if len(all) > 0 {
			all[len(all)-1].commands = append(all[len(all)-1].commands, strings.TrimSpace(line))
		}
	}
	return all
}

func TestDockerfile(t *testing.T) {
	text, err := os.ReadFile("../../Dockerfile")
	noError(t, err)
	stages := stagesOf(string(text))
	if n := bytes.Count(text, []byte("\nFROM ")); len(stages) != n {
		t.Fatalf("%d stages are read, of %d", len(stages), n)
	}
	pinned := regexp.MustCompile(`^[a-z]+:\d+\.\d+(\.\d+)?-[a-z-]+(@sha256:[0-9a-f]{64})?$`)
	bases, targets := map[string]string{}, map[string]stage{}
	for _, match := range regexp.MustCompile(`(?m)^ARG (\w+_IMAGE)=(\S+)$`).FindAllStringSubmatch(string(text), -1) {
		bases["${"+match[1]+"}"] = match[2]
	}
	for _, stage := range stages {
		if _, ours := targets[stage.from]; !ours && !pinned.MatchString(bases[stage.from]) {
			t.Errorf("%s is not pinned by a full version", stage.from)
		}
		targets[stage.name] = stage
	}
	if name := stages[len(stages)-1].name; name != "ralph-claude" {
		t.Errorf("action.yml builds the last target, which is %s", name)
	}
	agents, err := os.ReadDir("../../host/agents")
	if err != nil || len(agents) == 0 {
		t.Fatal(agents, err)
	}
	for _, agent := range agents {
		if _, there := targets["ralph-"+agent.Name()]; !there {
			t.Errorf("there is no image with the agent %s", agent.Name())
		}
		for _, command := range targets[agent.Name()+"-cli"].commands {
			if strings.Contains(command, "prepare "+agent.Name()) && !strings.HasPrefix(command, "RUN --network=none ") {
				t.Errorf("%s: code of the agent's package runs with a network", command)
			}
		}
	}
	last := targets["ralph"].commands
	for _, want := range []string{
		`ENTRYPOINT ["/usr/local/bin/ralph", "action"]`,
		`ENV RALPH_AGENT_USER=ralph-agent`,
		`RUN useradd --create-home --uid 10001 --shell /bin/bash ralph-agent`,
	} {
		if !slices.Contains(last, want) {
			t.Errorf("%s is not in the stage ralph:\n%s", want, strings.Join(last, "\n"))
		}
	}
	for _, command := range last {
		if strings.HasPrefix(command, "USER") {
			t.Errorf("%s: the harness must be root to start the agent as another user", command)
		}
	}
	// The image's Go is go.mod's.
	module, err := os.ReadFile("../../go.mod")
	noError(t, err)
	if version := regexp.MustCompile(`(?m)^go (\S+)$`).FindSubmatch(module); !strings.HasPrefix(bases["${GO_IMAGE}"], "golang:"+string(version[1])+"-") {
		t.Errorf("go.mod wants Go %s; the Dockerfile has %s", version[1], bases["${GO_IMAGE}"])
	}
}

// TestAgentsAreHeldToTheirHashes: a package that the lock file does not hold, or holds by another hash, is not installed.
func TestAgentsAreHeldToTheirHashes(t *testing.T) {
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("npm is not installed")
	}
	lock, err := os.ReadFile("../../host/agents/gemini/package-lock.json")
	noError(t, err)
	hash := regexp.MustCompile(`(?s)("node_modules/@google/gemini-cli": \{.*?)"integrity": "[^"]*",`)
	for name, row := range map[string]struct{ instead, want string }{
		"another hash": {`$1"integrity": "sha512-` + strings.Repeat("A", 86) + `==",`, "EINTEGRITY"},
		"no hash":      {"$1", "has no hash of node_modules/@google/gemini-cli:"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			noError(t, os.CopyFS(dir, os.DirFS("../../host")))
			noError(t, os.WriteFile(dir+"/agents/gemini/package-lock.json", hash.ReplaceAll(lock, []byte(row.instead)), 0o600))
			out, err := exec.Command("sh", dir+"/install-agent.sh", "gemini", dir+"/there").CombinedOutput()
			if err == nil || !strings.Contains(string(out), row.want) {
				t.Errorf("%v, want %s:\n%s", err, row.want, out)
			}
		})
	}
}
