//go:build e2e

package config

import (
	"bytes"
	"os"
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
	for line := range strings.Lines(document(t, "../../host/agents.txt")) {
		if name, _, ok := strings.Cut(line, " "); ok && name != "#" {
			if _, there := targets["ralph-"+name]; !there {
				t.Errorf("there is no image with the agent %s", name)
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

// document is a file's text.
func document(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestAgentVersions: what the images and the host variant install is what the end-to-end tests are run with.
func TestAgentVersions(t *testing.T) {
	tested := document(t, "../../testdata/install-agents.sh")
	for line := range strings.Lines(document(t, "../../host/agents.txt")) {
		name, pkg, ok := strings.Cut(strings.TrimSpace(line), " ")
		row := `(?m)^\t` + regexp.QuoteMeta(name) + `\) echo ` + regexp.QuoteMeta(pkg) + `( |$)`
		if ok && name != "#" && !regexp.MustCompile(row).MatchString(tested) {
			t.Errorf("testdata/install-agents.sh does not install %s for %s", pkg, name)
		}
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
