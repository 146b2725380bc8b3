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
var documents = []string{"../README.md", "../docs/settings.md", "../docs/reports.md", "../docs/supervise.md", "../docs/tasks.md"}

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

// TestExampleReportsAreGolden: the examples of docs/reports.md are what the tests of internal/report hold the code against.
func TestExampleReportsAreGolden(t *testing.T) {
	text := document(t, "../docs/reports.md")
	examples := regexp.MustCompile("(?ms)^<!-- (internal/report/testdata/golden/\\S+) -->\n````[a-z]+\n(.*?)^````$").FindAllStringSubmatch(text, -1)
	if n := strings.Count(text, "\n<!-- internal/"); len(examples) < 6 || len(examples) != n {
		t.Fatalf("%d examples are read, of %d", len(examples), n)
	}
	for _, example := range examples {
		if want := document(t, "../"+example[1]); strings.TrimRight(example[2], "\n") != strings.TrimRight(want, "\n") {
			t.Errorf("docs/reports.md does not show %s as it is now: copy it there", example[1])
		}
	}
}

// TestDocumentsLinkToFiles: what a relative link names is there.
func TestDocumentsLinkToFiles(t *testing.T) {
	for _, file := range documents {
		text := regexp.MustCompile("(?ms)^````.*?^````$").ReplaceAllString(document(t, file), "")
		for name := range names(`\]\(([^)#:]+)\)`, text) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(file), name)); err != nil {
				t.Errorf("%s links to nothing: %v", file, err)
			}
		}
	}
}

func document(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// table is the rows of the only table with this header.
func table(t *testing.T, text string, header ...string) [][]string {
	t.Helper()
	_, rest, found := strings.Cut(text, "\n| "+strings.Join(header, " | ")+" |\n")
	if !found {
		t.Fatalf("there is no table %q", header)
	}
	var rows [][]string
	for i, line := range strings.Split(rest, "\n") {
		if !strings.HasPrefix(line, "|") {
			break
		}
		if i > 0 { // the line of dashes
			rows = append(rows, cells(line))
		}
	}
	return rows
}

func cells(line string) []string {
	line = strings.ReplaceAll(strings.Trim(line, "|"), `\|`, "\x00")
	out := strings.Split(line, "|")
	for i := range out {
		out[i] = strings.ReplaceAll(strings.TrimSpace(out[i]), "\x00", `\|`)
	}
	return out
}

func sameRows(t *testing.T, what string, got, want [][]string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Errorf("%s: README.md lacks %q", what, want[i])
		case i >= len(want):
			t.Errorf("%s: README.md has %q, the code does not", what, got[i])
		case !slices.Equal(got[i], want[i]):
			t.Errorf("%s: README.md has %q, want %q", what, got[i], want[i])
		}
	}
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

// schemaKeys is every key of the settings with its default: "agent.command", "guardrails[].name". A key without one has nil.
func schemaKeys(t *testing.T) map[string]any {
	t.Helper()
	type node struct {
		Ref        string           `json:"$ref"`
		Default    any              `json:"default"`
		Properties map[string]*node `json:"properties"`
		Items      *node            `json:"items"`
		Defs       map[string]*node `json:"$defs"`
	}
	var root node
	if err := json.Unmarshal(config.Schema, &root); err != nil {
		t.Fatal(err)
	}
	keys := map[string]any{}
	var walk func(prefix string, n *node)
	walk = func(prefix string, n *node) {
		if name, ok := strings.CutPrefix(n.Ref, "#/$defs/"); ok {
			n = root.Defs[name]
		}
		for key, property := range n.Properties {
			if key != "$schema" {
				keys[prefix+key] = property.Default
				walk(prefix+key+".", property)
			}
		}
		if n.Items != nil {
			walk(strings.TrimSuffix(prefix, ".")+"[].", n.Items)
		}
	}
	walk("", &root)
	return keys
}

func sameSettings(t *testing.T, file string, rows [][]string, want map[string]any) {
	t.Helper()
	got := map[string]string{}
	for _, row := range rows {
		got[strings.Trim(row[0], "`")] = row[1]
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		shown, there := got[key]
		if !there {
			t.Errorf("%s lacks the setting %s", file, key)
			continue
		}
		if want[key] == nil {
			continue
		}
		text, err := json.Marshal(want[key])
		if err != nil {
			t.Fatal(err)
		}
		if shown != "`"+string(text)+"`" {
			t.Errorf("%s: the default of %s is %s, want `%s`", file, key, shown, text)
		}
	}
	for key := range got {
		if _, there := want[key]; !there {
			t.Errorf("%s has the setting %s, which does not exist", file, key)
		}
	}
}

// fenced is the code blocks of a language.
func fenced(text, language string) []string {
	var blocks []string
	for _, match := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
		blocks = append(blocks, match[1])
	}
	return blocks
}

// names is what the first group of a pattern matches in a text.
func names(pattern, text string) map[string]bool {
	found := map[string]bool{}
	for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		found[match[1]] = true
	}
	return found
}

// help is what ralph says of itself, or of a command.
func help(t *testing.T, command ...string) string {
	t.Helper()
	program, err := build()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(program, append(command, "--help")...).CombinedOutput()
	if err != nil {
		t.Fatalf("ralph %v --help: %v\n%s", command, err, out)
	}
	return string(out)
}

// build builds ralph once.
var build = sync.OnceValues(func() (string, error) {
	program := filepath.Join(built, "ralph")
	out, err := exec.Command("go", "build", "-buildvcs=false", "-o", program, "../cmd/ralph").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building ralph: %w\n%s", err, out)
	}
	return program, nil
})

// built is where build puts it.
var built string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if built, err = os.MkdirTemp("", "ralph-docs-"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(built)
		return m.Run()
	}())
}
