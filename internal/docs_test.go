package internal_test

import (
	"fmt"
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

// documents are what is held against the code: the README, how to contribute, and every page of docs.
var documents = append([]string{"../README.md", "../CONTRIBUTING.md"}, pages()...)

// pages are those for users and for developers. docs/errors.md is the site's: make site-build writes it.
func pages() []string {
	users, err := filepath.Glob("../docs/*.md")
	developers, err2 := filepath.Glob("../docs/internals/*.md")
	if err != nil || err2 != nil || len(users) < 15 || len(developers) < 5 {
		panic(fmt.Sprintf("docs has the pages %q and %q, %v, %v", users, developers, err, err2))
	}
	users = slices.DeleteFunc(users, func(page string) bool { return page == "../docs/errors.md" })
	return append(users, developers...)
}

// TestEveryDocumentIsLinked: README.md links the pages for users, and docs/index.md every page. They are few and short.
func TestEveryDocumentIsLinked(t *testing.T) {
	readme, lines, users := document(t, "../README.md"), 0, 0
	isLinked := func(from, to string) bool {
		return slices.ContainsFunc(links(document(t, from)), func(link string) bool {
			path, _, _ := strings.Cut(link, "#")
			return filepath.Join(filepath.Dir(from), path) == filepath.Clean(to)
		})
	}
	for _, file := range append(pages(), "../CONTRIBUTING.md", "../LICENSE") {
		isPage := strings.HasPrefix(file, "../docs/")
		internal := strings.HasPrefix(file, "../docs/internals/")
		if !internal && !isLinked("../README.md", file) {
			t.Errorf("README.md does not link %s", file)
		}
		if isPage && file != "../docs/index.md" && !isLinked("../docs/index.md", file) {
			t.Errorf("docs/index.md does not link %s", file)
		}
		if isPage && !internal {
			users, lines = users+1, lines+strings.Count(document(t, file), "\n")
		}
	}
	if users > 20 || lines > 4500 {
		t.Errorf("%d pages for users have %d lines: at most 20 and 4,500", users, lines)
	}
	if lines := strings.Count(readme, "\n"); lines > 150 {
		t.Errorf("README.md has %d lines, at most 150", lines)
	}
}

// TestEveryCommandIsDocumented: docs/laptop.md, or docs/app.md of a server's, says what each is for, as one would type it.
func TestEveryCommandIsDocumented(t *testing.T) {
	text := document(t, "../docs/laptop.md") + document(t, "../docs/app.md")
	commands := slices.Sorted(maps.Keys(names("(?m)^## ralph ([a-z]+(?: [a-z]+)?)$", document(t, "../docs/cli.md"))))
	for _, want := range []string{"run", "status", "settings show", "task create"} {
		if !slices.Contains(commands, want) {
			t.Fatalf("docs/cli.md has the commands %q", commands)
		}
	}
	for _, command := range commands {
		if !regexp.MustCompile("(?m)(?:`|^)ralph " + command + `\b`).MatchString(text) {
			t.Errorf("neither docs/laptop.md nor docs/app.md names ralph %s", command)
		}
	}
}

// TestEveryOutcomeIsDocumented: in the README, with all that belongs to it in docs/troubleshooting.md, and for programs
// in the table of outputs.
func TestEveryOutcomeIsDocumented(t *testing.T) {
	places := map[string]map[string]bool{"README.md": {}, "docs/troubleshooting.md": {}, "the output outcome": {}}
	for _, row := range table(t, document(t, "../README.md"), "outcome", "meaning", "what you do") {
		maps.Copy(places["README.md"], names("`([a-z]+)`", row[0]))
	}
	for _, row := range table(t, document(t, "../docs/troubleshooting.md"), "outcome", "meaning", "conclusion", "label, branch") {
		maps.Copy(places["docs/troubleshooting.md"], names("`([a-z]+)`", row[0]))
	}
	for _, o := range config.OutputTable {
		if o.Name == "outcome" {
			maps.Copy(places["the output outcome"], names(`\b([a-z]+)\b`, o.Description))
		}
	}
	for _, o := range []loop.Outcome{
		loop.Done, loop.Capped, loop.Stuck, loop.Timeout, loop.Budget, loop.Invalid, loop.Waiting, loop.Refused,
		loop.Interrupted, loop.Failed,
	} {
		for place, named := range places {
			if !named[string(o)] {
				t.Errorf("%s does not name the outcome %s", place, o)
			}
		}
	}
}

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
	}
}

// TestDocumentedTargets: what a document says to make, the Makefile has; and the two that everybody needs are said.
func TestDocumentedTargets(t *testing.T) {
	targets := names(`(?m)^([a-z0-9-]+):`, document(t, "../Makefile"))
	said := map[string]bool{}
	for _, file := range []string{"../README.md", "../CONTRIBUTING.md", "../docs/quickstart-local.md"} {
		text := document(t, file)
		shown := names(`(?m)^make ([a-z0-9-]+)`, strings.Join(fenced(text, "sh"), "\n"))
		maps.Copy(shown, names("`make ([a-z0-9-]+)[^`]*`", text))
		for target := range shown {
			if !targets[target] {
				t.Errorf("%s shows make %s, which is no target", file, target)
			}
		}
		maps.Copy(said, shown)
	}
	for _, target := range []string{"build", "demo", "test", "lint", "install", "help"} {
		if !said[target] {
			t.Errorf("no document shows make %s", target)
		}
	}
}
