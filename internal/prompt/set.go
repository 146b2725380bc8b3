package prompt

import (
	"embed"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"text/template"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// Dir is where a repository keeps prompts of its own, from its top.
const Dir = ".ralph/prompts"

// How large a template may be, and a prompt that is made by one, in bytes.
const (
	MaxTemplate = 64 << 10
	maxRendered = 2 << 20
)

//go:embed templates/*.md
var files embed.FS

// templates are ralph's own.
var templates = sync.OnceValue(func() *template.Template { return template.Must(template.ParseFS(files, "templates/*.md")) })

// Names are the templates that there are, by file name.
func Names() []string {
	entries, err := files.ReadDir("templates")
	if err != nil {
		panic(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// Template is the text of one of ralph's own templates, to begin another one from. The name may lack its ".md".
func Template(name string) (text string, ok bool) {
	content, err := files.ReadFile("templates/" + strings.TrimSuffix(name, ".md") + ".md")
	return string(content), err == nil
}

// Set is what a repository's own templates replace of ralph's. The zero Set replaces nothing.
type Set struct{ own map[string]*template.Template }

// Load reads a repository's own templates. names is what is in Dir; what begins with a dot is skipped. An error is one
// sentence for the author of the template: file, line, what was found, what is allowed.
func Load(names []string, content func(name string) ([]byte, error)) (Set, error) {
	set := Set{map[string]*template.Template{}}
	for _, name := range slices.Sorted(slices.Values(names)) {
		if strings.HasPrefix(name, ".") {
			continue
		}
		if !slices.Contains(Names(), name) {
			return Set{}, fmt.Errorf("%s/%s is not a prompt of ralph; must be one of %s", Dir, lineOf(name, 80),
				safetext.And(Names()))
		}
		text, err := content(name)
		if err != nil {
			return Set{}, fmt.Errorf("reading %s/%s: %w", Dir, name, err)
		}
		t, err := read(name, text)
		if err != nil {
			return Set{}, fmt.Errorf("%s/%w", Dir, err)
		}
		set.own[name] = t
	}
	return set, nil
}

// read makes a template of a file: it is parsed, held against what is allowed, and tried once.
func read(name string, content []byte) (*template.Template, error) {
	text := strings.ReplaceAll(strings.TrimPrefix(string(content), "\uFEFF"), "\r\n", "\n")
	switch {
	case len(content) > MaxTemplate:
		return nil, fmt.Errorf("%s has %d bytes; must be at most %d", name, len(content), MaxTemplate)
	case !utf8.ValidString(text) || strings.Contains(text, "\x00"):
		return nil, fmt.Errorf("%s is not UTF-8 text; save it as UTF-8", name)
	case strings.TrimSpace(text) == "":
		return nil, fmt.Errorf("%s is empty; write a prompt, or remove it", name)
	}
	t, err := template.New(name).Parse(text)
	if err != nil {
		return nil, mistake(name, err)
	}
	if err := allowed(name, text); err != nil {
		return nil, err
	}
	for _, p := range []parts{{}, sample} {
		if err := t.Execute(&bounded{}, p); err != nil {
			return nil, mistake(name, err)
		}
	}
	return t, nil
}

// sample has something in every field.
var sample = parts{
	common{"coder", 2, 5, "t", "t", "t", "t"}, writing{"t", "t", "t", "t", "t", "t"}, judging{"t", "t", "t", "t"},
	ofStory{"review", "ralph", "US-001", "ralph/tasks.json", true, 1, 5, true, "t", "t", "t", "t", "t"},
}

func (s Set) render(name string, p parts) (string, error) {
	t := s.own[name]
	if t == nil {
		t = templates().Lookup(name)
	}
	var b bounded
	if err := t.Execute(&b, p); err != nil {
		return "", fmt.Errorf("writing the prompt %s: %w", name, err)
	}
	return b.String(), nil
}

// bounded takes as much as a prompt may be.
type bounded struct{ strings.Builder }

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxRendered {
		return 0, errors.New("it makes a prompt of more than 2 MiB; name each field once")
	}
	return b.Builder.Write(p)
}

// WriteString must not pass the bound by.
func (b *bounded) WriteString(s string) (int, error) { return b.Write([]byte(s)) }

// words are those of actions, besides fields. None of them makes text, and nothing loops: what a template makes is no
// longer than it and the fields that it names.
var words = strings.Fields("if else end and or not eq ne lt le gt ge true false")

// fieldsOf names the fields of a template.
func fieldsOf(name string) []string {
	switch {
	case strings.HasPrefix(name, "plan-"):
		return slices.Concat(named(common{}), named(writing{}), []string{"Tree", "Noticed", "Answer"}, named(ofStory{}))
	case name == "review.md" || name == "qa.md":
		return slices.Concat(named(common{}), named(judging{}))
	}
	return slices.Concat(named(common{}), named(writing{}))
}

// named are the names of the exported fields of a struct.
func named(fields any) (names []string) {
	for f := range reflect.TypeOf(fields).Fields() {
		if f.IsExported() {
			names = append(names, f.Name)
		}
	}
	return names
}

var (
	actions = lazy(`(?s)\{\{(?:-\s)?(.*?)(?:\s-)?\}\}`)
	tokens  = lazy(`(?s)/\*.*\*/|"[^"]*"|[()\s]+|-?\d+|[.\w]+|.`)
	literal = lazy(`(?s)^(/\*.*|".*|[()\s]+|-?\d+)$`)
)

// allowed returns an error for the first action that a template cannot have: it has fields and conditions, and nothing
// else of Go's templates.
func allowed(name, text string) error {
	for _, at := range actions.Regexp().FindAllStringSubmatchIndex(text, -1) {
		for _, token := range tokens.Regexp().FindAllString(text[at[2]:at[3]], -1) {
			field, is := strings.CutPrefix(token, ".")
			if literal.MatchString(token) || slices.Contains(words, token) || is && slices.Contains(fieldsOf(name), field) {
				continue
			}
			return fmt.Errorf("%s:%d: {{%s}} is not known; %s", name, 1+strings.Count(text[:at[0]], "\n"),
				lineOf(text[at[2]:at[3]], 60), language(name))
		}
	}
	return nil
}

func language(name string) string {
	return "must be {{if}}, {{else}} and {{end}} and the fields {{." + strings.Join(fieldsOf(name), "}}, {{.") + "}}"
}

// said is how the library begins its errors: "template: implement.md:3:5: executing …: what is wrong".
var saidBy = lazy(`^template: ([^:\n]+(?::\d+)?)(?::\d+)?: (?:executing "[^"]*" at [^:]*: )?`)

// mistake is an error of the library as a sentence of ours.
func mistake(name string, err error) error {
	said, place := err.Error(), name
	if m := saidBy.FindStringSubmatch(said); m != nil {
		said, place = said[len(m[0]):], m[1]
	}
	return fmt.Errorf("%s: %s; %s", place, line(said), language(name))
}
