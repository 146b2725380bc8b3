package internal_test

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/loop"
)

// documents are what is held against the code.
var documents = []string{
	"../README.md", "../docs/architecture.md", "../docs/benchmarks.md", "../docs/checks.md", "../docs/commands.md", "../docs/complaints.md", "../docs/detection.md", "../docs/github.md", "../docs/hooks.md", "../docs/journal.md", "../docs/limits.md", "../docs/plans.md", "../docs/prompts.md", "../docs/reports.md",
	"../docs/sandbox.md", "../docs/settings.md", "../docs/signatures.md", "../docs/signing.md", "../docs/supervise.md", "../docs/tasks.md",
}

// TestReadmeLinksEveryDocument: and every document is held against the code.
func TestReadmeLinksEveryDocument(t *testing.T) {
	there, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := append([]string{"../README.md"}, there...); !slices.Equal(documents, want) {
		t.Errorf("documents are %q, want %q", documents, want)
	}
	linked := links(document(t, "../README.md"))
	for _, file := range there {
		if !slices.ContainsFunc(linked, func(link string) bool { return strings.HasPrefix(link+"#", strings.TrimPrefix(file, "../")+"#") }) {
			t.Errorf("README.md does not link %s", file)
		}
	}
}

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

func TestReadmeNamesEveryFlag(t *testing.T) {
	var documented []string
	for _, row := range table(t, document(t, "../README.md"), "flag", "meaning") {
		documented = append(documented, flag.FindAllString(row[0], -1)...)
	}
	shown := help(t, "run")
	for _, name := range negatable.FindAllStringSubmatch(shown, -1) {
		shown += " --" + name[1] + " --no-" + name[1]
	}
	there := flag.FindAllString(shown, -1)
	if len(there) < 5 {
		t.Fatalf("ralph run --help shows the flags %q", there)
	}
	for _, f := range there {
		if !slices.Contains(documented, f) {
			t.Errorf("README.md does not name the flag %s", f)
		}
	}
	for _, f := range documented {
		if !slices.Contains(there, f) && f != "--max-iterations" { // an alias, which the help leaves out
			t.Errorf("README.md names the flag %s, which ralph run does not have", f)
		}
	}
}

// TestReadmeNamesEveryCommand: each is in the README as one would type it.
func TestReadmeNamesEveryCommand(t *testing.T) {
	readme := document(t, "../README.md")
	commands := slices.Sorted(maps.Keys(names(`(?m)^  ([a-z]+(?: [a-z]+)?)(?: .*)?$`, afterLine(help(t), "Commands:"))))
	for _, want := range []string{"run", "status", "settings show", "task create"} {
		if !slices.Contains(commands, want) {
			t.Fatalf("ralph --help shows the commands %q", commands)
		}
	}
	for _, command := range commands {
		if !regexp.MustCompile("(?m)(?:`|^)ralph " + command + `\b`).MatchString(readme) {
			t.Errorf("README.md does not name ralph %s", command)
		}
	}
}

// afterLine is what follows a line of a text.
func afterLine(text, line string) string {
	_, rest, _ := strings.Cut(text, "\n"+line+"\n")
	return rest
}

// TestReadmeNamesEveryOutcome: in its table of outcomes, and for programs in that of outputs.
func TestReadmeNamesEveryOutcome(t *testing.T) {
	readme := document(t, "../README.md")
	var shown []string
	for _, row := range table(t, readme, "outcome", "meaning", "conclusion", "label, branch") {
		shown = append(shown, slices.Collect(maps.Keys(names("`([a-z]+)`", row[0])))...)
	}
	var said string
	for _, o := range config.OutputTable {
		if o.Name == "outcome" {
			said = o.Description
		}
	}
	for _, o := range []loop.Outcome{
		loop.Done, loop.Capped, loop.Stuck, loop.Timeout, loop.Invalid, loop.Waiting, loop.Refused, loop.Interrupted, loop.Failed, // budget: no run ends so
	} {
		if !slices.Contains(shown, string(o)) {
			t.Errorf("README.md does not tell what the outcome %s is", o)
		}
		if !regexp.MustCompile(`\b` + string(o) + `\b`).MatchString(said) {
			t.Errorf("the output outcome is %q, which lacks %s", said, o)
		}
	}
}

var (
	flag      = regexp.MustCompile(`--[a-z][a-z-]+\b`)
	negatable = regexp.MustCompile(`--\[no-\]([a-z-]+)`)
)

// TestDocumentsNameOnlyWhatIsThere: every command in them exists, of the program and of comments.
func TestDocumentsNameOnlyWhatIsThere(t *testing.T) {
	commands := names(`(?m)^  ([a-z-]+) `, help(t))
	verbs := names("`/ralph ([a-z-]+)", event.HelpText("/ralph"))
	if !commands["run"] || !commands["action"] || !verbs["retry"] {
		t.Fatalf("commands %v, verbs %v", commands, verbs)
	}
	for _, file := range documents {
		text := document(t, file)
		used := names("`ralph ([a-z-]+)", text)
		maps.Copy(used, names(`(?m)^ralph ([a-z-]+)`, strings.Join(fenced(text, "sh"), "\n")))
		for name := range used {
			if !commands[name] {
				t.Errorf("%s names the command ralph %s, which does not exist", file, name)
			}
		}
		for name := range names("`/ralph ([a-z-]+)", text) {
			if !verbs[name] {
				t.Errorf("%s names the comment /ralph %s, which is not understood", file, name)
			}
		}
		if regexp.MustCompile(`(?i)\bralph serve\b`).MatchString(text) {
			t.Errorf("%s names ralph serve", file)
		}
	}
}

func TestReadmeNamesTheTwoCommands(t *testing.T) {
	targets := names(`(?m)^([a-z0-9-]+):`, document(t, "../Makefile"))
	shown := names(`(?m)^make ([a-z-]+)`, strings.Join(fenced(document(t, "../README.md"), "sh"), "\n"))
	for _, target := range []string{"demo", "test"} {
		if !shown[target] {
			t.Errorf("README.md does not show make %s", target)
		}
	}
	for target := range shown {
		if !targets[target] {
			t.Errorf("README.md shows make %s, which is no target", target)
		}
	}
}
