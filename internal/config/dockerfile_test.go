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

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

func TestDockerfile(t *testing.T) {
	text, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := parser.Parse(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, warning := range parsed.Warnings {
		t.Error(warning.Short)
	}
	stages, _, err := instructions.Parse(parsed.AST, linter.New(&linter.Config{
		Warn: func(rule, _, _, message string, at []parser.Range) { t.Errorf("%v: %s: %s", at, rule, message) },
	}))
	if err != nil {
		t.Fatal(err)
	}
	pinned := regexp.MustCompile(`^[a-z]+:\d+\.\d+(\.\d+)?-[a-z-]+(@sha256:[0-9a-f]{64})?$`)
	bases, targets := map[string]string{}, map[string]int{}
	for _, match := range regexp.MustCompile(`(?m)^ARG (\w+_IMAGE)=(\S+)$`).FindAllStringSubmatch(string(text), -1) {
		bases["${"+match[1]+"}"] = match[2]
	}
	for i, stage := range stages {
		if _, ours := targets[stage.BaseName]; !ours && !pinned.MatchString(bases[stage.BaseName]) {
			t.Errorf("%s is not pinned by a full version", stage.BaseName)
		}
		targets[stage.Name] = i
	}
	if name := stages[len(stages)-1].Name; name != "ralph-claude" {
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
		for _, command := range commandsOf(stages[targets[agent.Name()+"-cli"]]) {
			if strings.Contains(command, "prepare "+agent.Name()) && !strings.HasPrefix(command, "RUN --network=none ") {
				t.Errorf("%s: code of the agent's package runs with a network", command)
			}
		}
	}
	last := commandsOf(stages[targets["ralph"]])
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
}

// TestAgentsAreHeldToTheirHashes: a package that the lock file does not hold, or holds by another hash, is not installed.
func TestAgentsAreHeldToTheirHashes(t *testing.T) {
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("npm is not installed")
	}
	lock, err := os.ReadFile("../../host/agents/gemini/package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	hash := regexp.MustCompile(`(?s)("node_modules/@google/gemini-cli": \{.*?)"integrity": "[^"]*",`)
	for name, row := range map[string]struct{ instead, want string }{
		"another hash": {`$1"integrity": "sha512-` + strings.Repeat("A", 86) + `==",`, "EINTEGRITY"},
		"no hash":      {"$1", "has no hash of node_modules/@google/gemini-cli:"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS("../../host")); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(dir+"/agents/gemini/package-lock.json", hash.ReplaceAll(lock, []byte(row.instead)), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command("sh", dir+"/install-agent.sh", "gemini", dir+"/there").CombinedOutput()
			if err == nil || !strings.Contains(string(out), row.want) {
				t.Errorf("%v, want %s:\n%s", err, row.want, out)
			}
		})
	}
}

func commandsOf(stage instructions.Stage) []string {
	var lines []string
	for _, command := range stage.Commands {
		if s, ok := command.(interface{ String() string }); ok {
			lines = append(lines, s.String())
		}
	}
	return lines
}

// TestGoVersions holds the image's Go against go.mod's.
func TestGoVersions(t *testing.T) {
	module, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^go (\S+)$`).FindSubmatch(module)
	if version == nil || !bytes.Contains(file, append([]byte("GO_IMAGE=golang:"), append(version[1], '-')...)) {
		t.Errorf("go.mod wants Go %s; the Dockerfile has another", version)
	}
}
