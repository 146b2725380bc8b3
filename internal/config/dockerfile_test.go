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
	pinned := regexp.MustCompile(`^[a-z]+:\d+\.\d+\.\d+-[a-z-]+(@sha256:[0-9a-f]{64})?$`)
	for _, stage := range stages {
		if !pinned.MatchString(stage.BaseName) {
			t.Errorf("%s is not pinned by a full version", stage.BaseName)
		}
	}
	last := commandsOf(stages[len(stages)-1])
	for _, want := range []string{
		`ENTRYPOINT ["/usr/local/bin/ralph", "action"]`,
		`ENV RALPH_AGENT_USER=ralph-agent`,
		`RUN useradd --create-home --uid 10001 --shell /bin/bash ralph-agent`,
		`ARG AGENT_CLIS="@anthropic-ai/claude-code@2.1.329"`,
	} {
		if !slices.Contains(last, want) {
			t.Errorf("%s is not in the last stage:\n%s", want, strings.Join(last, "\n"))
		}
	}
	for _, command := range last {
		if strings.HasPrefix(command, "USER") {
			t.Errorf("%s: the harness must be root to start the agent as another user", command)
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
	if version == nil || !bytes.Contains(file, append([]byte("FROM golang:"), append(version[1], '-')...)) {
		t.Errorf("go.mod wants Go %s; the Dockerfile has another", version)
	}
}
