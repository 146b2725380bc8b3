package internal_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rhysd/actionlint"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/event"
)

// documents are what is held against the code.
var documents = []string{"../README.md", "../docs/settings.md", "../docs/reports.md"}

func TestReadmeTablesAreTheCodes(t *testing.T) {
	readme := document(t, "../README.md")
	var inputs, outputs [][]string
	for _, i := range config.InputTable {
		inputs = append(inputs, []string{code(i.Name), code(i.Default), i.Description})
	}
	for _, o := range config.OutputTable {
		outputs = append(outputs, []string{code(o.Name), o.Description})
	}
	sameRows(t, "inputs", table(t, readme, "input", "default", "description"), inputs)
	sameRows(t, "outputs", table(t, readme, "output", "description"), outputs)

	var commands [][]string
	for _, line := range strings.Split(strings.TrimSpace(event.HelpText("/ralph")), "\n")[2:] {
		commands = append(commands, cells(line))
	}
	sameRows(t, "commands", table(t, readme, "command", "what it does"), commands)
}

// TestDocumentedSettingsAreTheSchemas: README names the keys of the first level, docs/settings.md all; both with their defaults.
func TestDocumentedSettingsAreTheSchemas(t *testing.T) {
	all := schemaKeys(t)
	top := map[string]any{}
	for key, value := range all {
		if !strings.Contains(key, ".") {
			top[key] = value
		}
	}
	sameSettings(t, "README.md", table(t, document(t, "../README.md"), "setting", "default", "meaning"), top)
	sameSettings(t, "docs/settings.md", table(t, document(t, "../docs/settings.md"), "key", "default", "meaning"), all)
}

func TestExampleSettingsLoad(t *testing.T) {
	examples := fenced(document(t, "../docs/settings.md"), "json")
	if len(examples) == 0 {
		t.Fatal("docs/settings.md has no example")
	}
	for _, example := range examples {
		if _, err := config.Load(config.Layer{Name: "the example", JSON: []byte(example)}); err != nil {
			t.Errorf("%v:\n%s", err, example)
		}
	}
}

// TestReadmeWorkflowsCanBeUsed has actionlint read the workflow, and the steps of the other variant in their place, as if both actions
// were those of this repository: it knows their inputs then.
func TestReadmeWorkflowsCanBeUsed(t *testing.T) {
	blocks := fenced(document(t, "../README.md"), "yaml")
	if len(blocks) != 2 {
		t.Fatalf("README.md has %d yaml blocks, want the workflow and the steps of the other variant", len(blocks))
	}
	before, _, found := strings.Cut(blocks[0], "    steps:\n")
	if !found || !strings.Contains(blocks[0], "uses: ralph-loop/ralph@") || !strings.Contains(blocks[1], "uses: ralph-loop/ralph/host@") {
		t.Fatal("the blocks are not the container variant and the host variant")
	}
	host := before + "    steps:\n" + regexp.MustCompile(`(?m)^(.)`).ReplaceAllString(blocks[1], "      $1")
	local := regexp.MustCompile(`ralph-loop/ralph((?:/host)?)@\S+`)
	for _, text := range []string{blocks[0], host} {
		lintWorkflow(t, local.ReplaceAllString(text, ".$1/"))
		if strings.Count(text, "actions/checkout@") != strings.Count(text, "persist-credentials: false") {
			t.Error("a checkout leaves its token behind")
		}
	}
	for _, want := range []string{"types: [labeled]", "types: [created]", "schedule:", "workflow_dispatch:", "contents: write", "issues: write", "pull-requests: write"} {
		if !strings.Contains(blocks[0], want) {
			t.Errorf("the workflow lacks %q", want)
		}
	}
}

func lintWorkflow(t *testing.T, text string) {
	t.Helper()
	linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	project, err := actionlint.NewProject("..")
	if err != nil {
		t.Fatal(err)
	}
	problems, err := linter.Lint("README.yml", []byte(text), project)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		t.Errorf("%v\n%s", problem, text)
	}
}

func TestReadmeNamesEveryFlag(t *testing.T) {
	var documented []string
	for _, row := range table(t, document(t, "../README.md"), "flag", "meaning") {
		documented = append(documented, flag.FindAllString(row[0], -1)...)
	}
	there := flag.FindAllString(help(t, "run"), -1)
	if len(there) < 5 {
		t.Fatalf("ralph run --help shows the flags %q", there)
	}
	for _, f := range there {
		if !slices.Contains(documented, f) {
			t.Errorf("README.md does not name the flag %s", f)
		}
	}
	for _, f := range documented {
		if !slices.Contains(there, f) {
			t.Errorf("README.md names the flag %s, which ralph run does not have", f)
		}
	}
}

var flag = regexp.MustCompile(`--[a-z][a-z-]+\b`)

// TestDocumentsNameOnlyWhatIsThere: every command in them exists, of the program and of comments, and every target of make.
func TestDocumentsNameOnlyWhatIsThere(t *testing.T) {
	commands := names(regexp.MustCompile(`(?m)^  ([a-z-]+) `), help(t))
	verbs := names(regexp.MustCompile("`/ralph ([a-z-]+)"), event.HelpText("/ralph"))
	targets := names(regexp.MustCompile(`(?m)^([a-z0-9-]+):`), document(t, "../Makefile"))
	if !commands["run"] || !commands["action"] || !verbs["retry"] || !targets["build"] {
		t.Fatalf("commands %v, verbs %v, targets %v", commands, verbs, targets)
	}
	for _, file := range documents {
		text := document(t, file)
		for what, c := range map[string]struct {
			used  map[string]bool
			known map[string]bool
		}{
			"ralph ":  {names(regexp.MustCompile("(?m)(?:^|`)ralph ([a-z-]+)"), text), commands},
			"/ralph ": {names(regexp.MustCompile("/ralph ([a-z]+)"), code_(text)), verbs},
			"make ":   {names(regexp.MustCompile("(?m)(?:^|`)make ([a-z0-9-]+)"), readmeOnly(file, text)), targets},
		} {
			for name := range c.used {
				if !c.known[name] && !checkNames[what+name] {
					t.Errorf("%s names %s%s, which does not exist", file, what, name)
				}
			}
		}
		if regexp.MustCompile(`\bralph serve\b`).MatchString(text) {
			t.Errorf("%s names ralph serve", file)
		}
	}
	readme := document(t, "../README.md")
	for _, target := range []string{"demo", "test"} {
		if !strings.Contains(readme, "make "+target) || !targets[target] {
			t.Errorf("make %s is not in README.md, or not in the Makefile", target)
		}
	}
}
