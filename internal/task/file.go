package task

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// Form is a task as a file holds it. Its keys are in docs/tasks.md.
type Form struct {
	ID           string      `json:"id" yaml:"id"`
	SpecID       string      `json:"spec_id,omitempty" yaml:"spec_id,omitempty"`
	Title        string      `json:"title" yaml:"title"`
	Description  string      `json:"description,omitempty" yaml:"description,omitempty"`
	Priority     int         `json:"priority,omitempty" yaml:"priority,omitempty"`
	Dependencies []string    `json:"dependencies,omitempty" yaml:"dependencies,omitempty"`
	Completion   *Completion `json:"completion,omitempty" yaml:"completion,omitempty"`
}

// Form is what a file holds of a task.
func (t Task) Form() Form {
	return Form{t.ID, t.SpecID, t.Title, t.Spec, t.Priority, t.Dependencies, t.Completion}
}

func (f Form) task() Task {
	return Task{
		ID: f.ID, SpecID: f.SpecID, Title: safetext.OneLine(safetext.Sanitise(f.Title)),
		Spec:     strings.TrimSpace(safetext.Sanitise(f.Description)),
		Priority: f.Priority, Dependencies: f.Dependencies, Completion: f.Completion,
	}
}

// maxFile bounds a task file in bytes.
const maxFile = 64 << 10

// ParseCompletion reads a completion alone: YAML or JSON, its keys at the top or under "completion". name is how it is
// called in errors, which name no line: it may have been put together of several files.
func ParseCompletion(name string, content []byte) (*Completion, error) {
	s := source{name: name, unplaced: true}
	text, err := s.readable(content)
	if err != nil {
		return nil, err
	}
	return s.completion(text)
}

// Marshal writes a task as ParseFile reads it: in YAML, block by block, texts of several lines as such, keys in the
// order of the form.
func Marshal(t Task) ([]byte, error) {
	form := t.Form()
	styles := []yaml.EncodeOption{yaml.Indent(2), yaml.IndentSequence(true)}
	for _, write := range []func() ([]byte, error){
		func() ([]byte, error) {
			return yaml.MarshalWithOptions(form, append(styles, yaml.UseLiteralStyleIfMultiline(true))...)
		},
		func() ([]byte, error) { return yaml.MarshalWithOptions(form, styles...) },
		func() ([]byte, error) { // for texts that the writer of YAML cannot write; JSON is YAML too
			return json.MarshalIndent(form, "", "  ")
		},
	} {
		text, err := write()
		if err != nil {
			continue
		}
		if !bytes.HasSuffix(text, []byte("\n")) {
			text = append(text, '\n')
		}
		if again, _, err := (source{}).form(string(text)); err == nil && reflect.DeepEqual(again, form) {
			return text, nil
		}
	}
	return nil, fmt.Errorf("writing the task %s: a text in it cannot be written in YAML; take characters out of it that "+
		"cannot be seen", t.ID)
}

// readable is the text of a file without what cannot be seen of it.
func (s source) readable(content []byte) (string, error) {
	switch {
	case len(content) > maxFile:
		return "", s.at(0, 0, "the text has %d bytes; must be at most %d", len(content), maxFile)
	case !utf8.Valid(content):
		line := 1 + bytes.Count(content[:safetext.FirstInvalid(content)], []byte("\n"))
		return "", s.at(line, 0, "the text is not UTF-8 there; save it as UTF-8")
	}
	text := safetext.Visible(strings.ReplaceAll(string(content), "\r\n", "\n"))
	if strings.TrimSpace(text) == "" {
		return "", s.at(0, 0, "the text is empty; it must say at least an id and a title")
	}
	return text, nil
}

var yamlLook = lazy(`(?m)^(?:- )?(?:task|id|spec_id|title|completion)[ \t]*:|^\s*\{`)

// isMarkdown reports a task's file in Markdown.
func isMarkdown(name, text string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown":
		return true
	case ".yaml", ".yml", ".json":
		return false
	}
	_, body, ok := frontMatter(text)
	return ok && strings.TrimSpace(body) != "" || !yamlLook.MatchString(text)
}

// form reads the one task of a YAML text: as it is, under "task:", or as the only item of a list.
func (s source) form(text string) (form Form, d *decoder, err error) {
	d, err = s.decode(text, "task", &form)
	return form, d, err
}

// decode reads what a YAML text is, which it may say as a key above it.
func (s source) decode(text, what string, into any) (*decoder, error) {
	d := &decoder{source: s, places: map[string]*node{}}
	n, err := s.one(text, what)
	if err == nil {
		d.read(n, reflect.ValueOf(into).Elem(), "")
		err = joined(d.mistakes)
	}
	return d, err
}

// checked is the form's task, when nothing is wrong with it.
func (d *decoder) checked(form Form) (Task, error) {
	t := form.task()
	return t, d.told(t.Problems())
}

// told is problems with their places.
func (d *decoder) told(problems []Problem) error {
	var mistakes []error
	for _, p := range problems {
		line, col := d.place(p.Key)
		mistakes = append(mistakes, d.at(line, col, "%s", p))
	}
	return joined(mistakes)
}

// completion reads a completion, whose keys are at the top or under "completion".
func (s source) completion(text string) (*Completion, error) {
	var c Completion
	d, err := s.decode(text, "completion", &c)
	if err != nil {
		return nil, err
	}
	return &c, d.told(c.Problems(""))
}

// one is the one value of a text: without the key above it, and out of a list with one item.
func (s source) one(text, key string) (*node, error) {
	documents, err := s.parse(text)
	switch {
	case err != nil:
		return nil, err
	case len(documents) == 0:
		return nil, s.at(0, 0, "the text is empty; it must say at least what the %s is", key)
	case len(documents) > 1:
		return nil, s.several(documents, "documents")
	}
	n := documents[0]
	if n.kind == anObject && len(n.keys) == 1 && n.keys[0].name == key {
		n = n.keys[0].value
	}
	if n.kind == aList && len(n.items) > 1 {
		return nil, s.several(n.items, "items")
	}
	if n.kind == aList && len(n.items) == 1 {
		n = n.items[0]
	}
	if n.kind != anObject {
		return nil, s.at(n.line, n.col, "the %s is %s; must be an object, a key and its value a line", key, found(n))
	}
	return n, nil
}

func (s source) several(found []*node, called string) error {
	return s.at(found[1].line, found[1].col,
		"here begins the second of %d %s; one file holds one task: split it into a file each", len(found), called)
}

// frontMatter parts the YAML between two lines of dashes from the text below it.
func frontMatter(text string) (head, body string, ok bool) {
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return "", text, false
	}
	if body, ok := strings.CutPrefix(rest, "---\n"); ok {
		return "", body, true
	}
	for _, end := range []string{"\n---\n", "\n...\n"} {
		if head, body, ok := strings.Cut(rest, end); ok {
			return head + "\n", body, true
		}
	}
	return "", text, false
}
