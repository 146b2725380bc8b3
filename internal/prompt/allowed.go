package prompt

import (
	"fmt"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// The fields of a template, by whom it is for.
var (
	common  = []string{"Role", "Iteration", "MaxIterations", "Title", "Task", "Hints", "Completion"}
	writers = append(slices.Clone(common), "Criteria", "Attempts", "Shift", "Context", "Notes", "Exit")
	judges  = append(slices.Clone(common), "Tree", "Change", "Noticed", "Answer")
	plans   = append(slices.Clone(writers), "Tree", "Noticed", "Answer", "Mode", "Dir", "PlanFile", "StoryID",
		"ReviewNumber", "ReviewCap", "SkipReview",
		"Story", "Stories", "TakenBack", "Range", "Earlier")
)

// functions may be called in a condition. None of them makes text, and nothing loops: what a template makes is no
// longer than it and the fields that it names.
var functions = []string{"and", "or", "not", "eq", "ne", "lt", "le", "gt", "ge"}

func fieldsOf(name string) []string {
	switch {
	case strings.HasPrefix(name, "plan-"):
		return plans
	case name == "review.md" || name == "qa.md":
		return judges
	}
	return writers
}

// allowed says what a template holds that it may not: it knows fields and conditions, and nothing else of Go's
// templates.
func allowed(name string, t *template.Template) error {
	for _, other := range t.Templates() {
		if other.Name() != name {
			return fmt.Errorf("%s: a template cannot define another one (%q); %s", name, other.Name(), language(name))
		}
	}
	if t.Tree == nil {
		return nil
	}
	w := walker{name: name, tree: t.Tree}
	return w.list(t.Root)
}

func language(name string) string {
	return "must be {{if}}, {{else}} and {{end}} and the fields {{." + strings.Join(fieldsOf(name), "}}, {{.") + "}}"
}

type walker struct {
	name string
	tree *parse.Tree
}

func (w walker) list(l *parse.ListNode) error {
	if l == nil {
		return nil
	}
	for _, n := range l.Nodes {
		var err error
		switch n := n.(type) {
		case *parse.TextNode, *parse.CommentNode:
		case *parse.ActionNode:
			err = w.pipe(n.Pipe)
		case *parse.IfNode:
			if err = w.pipe(n.Pipe); err == nil {
				err = w.list(n.List)
			}
			if err == nil {
				err = w.list(n.ElseList)
			}
		default:
			err = w.refuse(n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w walker) pipe(p *parse.PipeNode) error {
	if len(p.Decl) > 0 {
		return w.refuse(p)
	}
	for _, c := range p.Cmds {
		for _, arg := range c.Args {
			if err := w.arg(arg); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w walker) arg(n parse.Node) error {
	switch n := n.(type) {
	case *parse.StringNode, *parse.NumberNode, *parse.BoolNode:
		return nil
	case *parse.FieldNode:
		if len(n.Ident) == 1 && slices.Contains(fieldsOf(w.name), n.Ident[0]) {
			return nil
		}
	case *parse.IdentifierNode:
		if slices.Contains(functions, n.Ident) {
			return nil
		}
	case *parse.PipeNode:
		return w.pipe(n)
	}
	return w.refuse(n)
}

// refuse names what is not allowed and where.
func (w walker) refuse(n parse.Node) error {
	at, _ := w.tree.ErrorContext(n) // "implement.md:3:5"
	place, _, _ := safetext.CutLast(at, ":")
	text, _, _ := strings.Cut(n.String(), "\n")
	text = lineOf(strings.TrimSuffix(strings.TrimPrefix(text, "{{"), "}}"), 60)
	return fmt.Errorf("%s: {{%s}} is not known; %s", place, text, language(w.name))
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
