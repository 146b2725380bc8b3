//go:build unix

package judged

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/archive"
)

// A piece is one piece of work: a repository, a task, what an agent does, and what is to come of it.
type piece struct {
	name   string
	head   map[string]string // lang, base, expect, alone, why, stand-in
	tools  []string
	checks []string
	title  string
	text   string
	base   map[string]string // path → content
	change map[string]string
	script string // what the agent runs after it has written its files; empty: nothing
}

// class is what is expected: "finding", "blocked", "done", …
func (p piece) class() string {
	class, _, _ := strings.Cut(p.head["expect"], " ")
	return class
}

// told are the names that people must be told.
func (p piece) told() []string {
	_, names, _ := strings.Cut(p.head["expect"], " ")
	var told []string
	for name := range strings.SplitSeq(names, "|") {
		if name = strings.TrimSpace(name); name != "" {
			told = append(told, name)
		}
	}
	return told
}

// absent names a tool of the piece that is not here.
func (p piece) absent() string {
	tools := p.tools
	if strings.Contains(p.script, "perl ") {
		tools = append(slices.Clone(tools), "perl")
	}
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			return tool
		}
	}
	return ""
}

// bases reads what pieces of work have in common, by name.
func bases(t *testing.T) map[string]piece {
	t.Helper()
	all := map[string]piece{}
	for _, c := range archive.Cases(t, "testdata/bases.txtar") {
		base, err := readPiece(c)
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		all[strings.TrimPrefix(c.Name, "bases/")] = base
	}
	return all
}

// pieces reads the archives of a directory of testdata, by name.
func pieces(t *testing.T, dir string, classes ...string) []piece {
	t.Helper()
	common := bases(t)
	var all []piece
	for _, c := range archive.Cases(t, filepath.Join("testdata", dir, "*.txtar")) {
		p, err := readPiece(c)
		if err == nil {
			p = p.over(common[p.head["base"]])
			err = p.complete(classes)
		}
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		all = append(all, p)
	}
	return all
}

func readPiece(c archive.Case) (piece, error) {
	p := piece{name: c.Name, head: map[string]string{}, base: map[string]string{}, change: map[string]string{}}
	header, words, _ := strings.Cut(c.Text, "\n\n")
	for line := range strings.Lines(header) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		value = strings.TrimSpace(value)
		switch {
		case !ok:
			return p, fmt.Errorf("the header's line %q is no key with a value", line)
		case key == "tools":
			p.tools = strings.Fields(value)
		case key == "check":
			p.checks = append(p.checks, value)
		case slices.Contains([]string{"lang", "base", "expect", "alone", "why", "stand-in"}, key):
			p.head[key] = value
		default:
			return p, fmt.Errorf("there is no key %q", key)
		}
	}
	title, text, _ := strings.Cut(strings.TrimSpace(words), "\n")
	p.title, p.text = title, strings.TrimSpace(text)
	for name, content := range c.Files {
		if err := p.add(name, content); err != nil {
			return p, err
		}
	}
	return p, nil
}

func (p *piece) add(name, content string) error {
	if path, ok := strings.CutPrefix(name, "base/"); ok {
		p.base[path] = content
	} else if path, ok := strings.CutPrefix(name, "change/"); ok {
		p.change[path] = content
	} else if name == "change.sh" {
		p.script = content
	} else {
		return fmt.Errorf("the file %q is neither in base/ nor in change/", name)
	}
	return nil
}

// over fills in what the piece's base says and the piece does not.
func (p piece) over(base piece) piece {
	for path, content := range base.base {
		if _, own := p.base[path]; !own {
			p.base[path] = content
		}
	}
	for key, value := range base.head {
		if p.head[key] == "" {
			p.head[key] = value
		}
	}
	if len(p.tools) == 0 {
		p.tools = base.tools
	}
	if len(p.checks) == 0 {
		p.checks = base.checks
	}
	if p.title == "" {
		p.title, p.text = base.title, base.text
	}
	return p
}

// complete says what a piece lacks, so that it would hold nothing.
func (p piece) complete(classes []string) error {
	_, settings := p.base[".ralph/settings.json"]
	switch {
	case p.head["lang"] == "", p.title == "", len(p.base) == 0, len(p.checks) == 0 && !settings, len(p.change) == 0 && p.script == "":
		return fmt.Errorf("it needs a language, a task, files of the base commit, a check, and what the agent does")
	case !slices.Contains(classes, p.class()):
		return fmt.Errorf("expect is %q, not one of %v", p.class(), classes)
	case slices.Contains([]string{"finding", "blocked"}, p.class()) && len(p.told()) == 0, p.class() == "needs-a-model" && p.head["why"] == "":
		return fmt.Errorf("it does not say what must be told, or why it needs a model")
	}
	return nil
}

// part is the pieces called so, one of each class and each for a shell alone; RALPH_TEST_EVERY_FAULT asks for the whole
// table, as make every does.
func part(t *testing.T, all []piece, names ...string) []piece {
	t.Helper()
	if everything() {
		return all
	}
	var some []piece
	classes := map[string]bool{}
	for _, p := range all {
		classes[p.class()] = true
		if slices.Contains(names, p.name) {
			some = append(some, p)
		}
	}
	for _, p := range some {
		delete(classes, p.class())
	}
	if len(classes) > 0 || len(some) != len(names) {
		t.Fatalf("%d of %d pieces are there, and none of the classes %v", len(some), len(names), classes)
	}
	return some
}

func everything() bool { return os.Getenv("RALPH_TEST_EVERY_FAULT") != "" }
