package internal_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ralph-loop/ralph/internal/config"
)

func document(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// generated is a page that a program writes; a test that needs it is skipped until it is there.
func generated(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		t.Skipf("%s is not generated yet", path)
	}
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

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

// schemaKeys is every key of the settings with its default: "agent.command", "guardrails[].name". A key without one has
// nil.
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
	schema, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(schema, &root); err != nil {
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
		if list, long := want[key].([]any); long && len(text) > 80 { // told in words; the settings' own document names each
			for _, one := range list {
				if !strings.Contains(document(t, "../"+file), fmt.Sprintf("`%v`", one)) {
					t.Errorf("%s: the default of %s has %v, which it does not name", file, key, one)
				}
			}
			continue
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
	out, err := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", program,
		"../cmd/ralph").CombinedOutput()
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
