package prompt

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func load(files map[string]string) (Set, error) {
	return Load(slices.Collect(maps.Keys(files)), func(name string) ([]byte, error) {
		if files[name] == "unreadable" {
			return nil, errors.New("no")
		}
		return []byte(files[name]), nil
	})
}

// TestLoadMistakes: a mistake in a repository's template is one sentence with its place, what is wrong and what is
// allowed.
func TestLoadMistakes(t *testing.T) {
	tests := []struct{ name, file, text, want string }{
		{"an unknown file", "implment.md", "x", ".ralph/prompts/implment.md is not a prompt of ralph; must be one of " +
			"implement.md, plan-implement.md, plan-review-fix.md, plan-review.md, qa.md, review.md and tester.md"},
		{"no Markdown", "implement.txt", "x", ".ralph/prompts/implement.txt is not a prompt of ralph"},
		{"a file that cannot be read", "qa.md", "unreadable", "reading .ralph/prompts/qa.md: no"},
		{"nothing in it", "qa.md", " \n", ".ralph/prompts/qa.md is empty"},
		{"no text", "qa.md", "a\xff", ".ralph/prompts/qa.md is not UTF-8 text"},
		{"too large", "qa.md", strings.Repeat("x", 64<<10+1),
			".ralph/prompts/qa.md has 65537 bytes; must be at most 65536"},
		{"an action that does not end", "implement.md", "a\nb {{if .Shift}}\n",
			".ralph/prompts/implement.md:3: unexpected EOF; must be {{if}}"},
		{"an unknown field", "implement.md", "a\n\n{{.Spec}}", ".ralph/prompts/implement.md:3: {{.Spec}} is not known; " +
			"must be {{if}}, {{else}} and {{end}} and the fields {{.Role}}, {{.Iteration}}"},
		{"a field of another role's", "implement.md", "{{.Change}}", "implement.md:1: {{.Change}} is not known"},
		{"where it would never be run", "implement.md", "{{if .Shift}}{{if .Hints}}{{.Nope}}{{end}}{{end}}",
			"implement.md:1: {{.Nope}} is not known"},
		{"a field of a field", "implement.md", "{{.Title.X}}", "{{.Title.X}} is not known"},
		{"an unknown function", "implement.md", "\n{{env \"HOME\"}}",
			`implement.md:2: function "env" not defined; must be`},
		{"a function that makes text", "implement.md", "{{printf \"%9999999d\" 1}}", "{{printf \"%9999999d\" 1}} is not known"},
		{"a loop", "implement.md", "{{range 1000000000}}x{{end}}", "{{range 1000000000}} is not known"},
		{"a variable", "implement.md", "{{$x := .Title}}{{$x}}", "is not known"},
		{"another template", "implement.md", "{{define \"a\"}}{{template \"a\"}}{{end}}{{template \"a\"}}",
			`implement.md:1: {{define "a"}} is not known`},
		{"a call of itself", "implement.md", "{{template \"implement.md\"}}", "is not known"},
		{"numbers with texts", "implement.md", "{{if lt .Title 3}}x{{end}}",
			"implement.md:1: error calling lt: incompatible types for comparison"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := load(map[string]string{tt.file: tt.text})
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v,\nwant one with %s", err, tt.want)
			}
		})
	}
}

// TestOwnTemplates: ralph's own templates keep to what a repository's may be.
func TestOwnTemplates(t *testing.T) {
	for _, name := range Names() {
		text, ok := Template(name)
		if _, err := load(map[string]string{name: text}); err != nil || !ok {
			t.Error(err)
		}
	}
}

// TestDocumentedFields: docs/internals/prompts.md names every field and every file.
func TestDocumentedFields(t *testing.T) {
	page := must(os.ReadFile(filepath.Join("..", "..", "docs", "internals", "prompts.md")))
	for _, field := range slices.Concat(fieldsOf("implement.md"), fieldsOf("qa.md"), fieldsOf("plan-review.md")) {
		if !strings.Contains(string(page), "`{{."+field+"}}`") {
			t.Errorf("it does not name the field %s", field)
		}
	}
	for _, name := range Names() {
		if !strings.Contains(string(page), "| `"+name+"` |") {
			t.Errorf("it does not name the file %s", name)
		}
	}
}
