package task

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// decoder puts a text's nodes into the structs of the form. The yaml tags of their fields are the keys that are
// allowed.
type decoder struct {
	source
	mistakes []error
	places   map[string]*node // where each key's value stands
}

// kept are keys of a task that other programs store, and ralph task show --json prints. They are passed over: what they say
// is in the journals.
var kept = []string{"status", "file", "iteration", "assignee", "created_at", "updated_at", "metadata"}

// mayBeEmpty are the keys whose text may be empty.
var mayBeEmpty = []string{"description", "spec_id", "model"}

// fromOne are the numbers that are no 0.
var fromOne = []string{"max_iterations", "timeout"}

func (d *decoder) wrong(n *node, key, format string, args ...any) {
	d.mistakes = append(d.mistakes, d.at(n.line, n.col, "%s "+format, append([]any{key}, args...)...))
}

// read puts n into v, a settable value; key is how the value is called in a message.
func (d *decoder) read(n *node, v reflect.Value, key string) {
	d.places[key] = n
	if v.Type() == reflect.TypeFor[Questions]() && n.kind != aList {
		d.question(n, v, key)
		return
	}
	if n.kind == nothing && v.Kind() != reflect.String {
		return // as if it did not exist: "max_iterations: null"
	}
	switch v.Kind() {
	case reflect.Pointer:
		made := reflect.New(v.Type().Elem())
		d.read(n, made.Elem(), key)
		v.Set(made)
	case reflect.Struct:
		d.object(n, v, key)
	case reflect.Slice:
		d.list(n, v, key)
	case reflect.String:
		d.text(n, v, key)
	case reflect.Int:
		whole, err := strconv.Atoi(n.text)
		if n.kind != aNumber || err != nil {
			d.wrong(n, key, "is %s; must be a whole number", found(n))
			return
		}
		if whole == 0 && slices.Contains(fromOne, lastOf(key)) {
			d.wrong(n, key, "is 0; must be a number from 1, or leave it out")
		}
		v.SetInt(int64(whole))
	case reflect.Bool:
		if n.kind != aTruth {
			d.wrong(n, key, "is %s; must be true or false", found(n))
			return
		}
		v.SetBool(strings.EqualFold(n.text, "true"))
	}
}

func (d *decoder) text(n *node, v reflect.Value, key string) {
	switch n.kind {
	case aText, aNumber, aTruth: // 001 and true are texts where a text is needed
		// an escape may have put in what the file does not show
		if said := safetext.Visible(n.text); strings.TrimSpace(said) != "" {
			v.SetString(said)
			return
		}
	case nothing:
	default:
		d.wrong(n, key, "is %s; must be a text", n.kind)
		return
	}
	if !slices.Contains(mayBeEmpty, lastOf(key)) {
		d.wrong(n, key, "is empty; give it a text, or leave it out")
	}
}

func (d *decoder) question(n *node, v reflect.Value, key string) {
	one := reflect.New(reflect.TypeFor[string]()).Elem()
	if n.kind == nothing {
		return
	}
	if n.kind == anObject {
		d.wrong(n, key, "is an object; must be a list of strings, or %q", AcceptanceCriteria)
		return
	}
	d.text(n, one, key)
	v.Set(reflect.ValueOf(Questions{one.String()}))
}

func (d *decoder) list(n *node, v reflect.Value, key string) {
	if n.kind != aList {
		d.wrong(n, key, "is %s; must be a list", found(n))
		return
	}
	if len(n.items) == 0 {
		return // as if it did not exist
	}
	made := reflect.MakeSlice(v.Type(), len(n.items), len(n.items))
	for i, item := range n.items {
		d.read(item, made.Index(i), fmt.Sprintf("%s[%d]", key, i+1))
	}
	v.Set(made)
}

func (d *decoder) object(n *node, v reflect.Value, key string) {
	if n.kind != anObject {
		d.wrong(n, strings.TrimPrefix(key, "."), "is %s; must be an object with the keys %s", found(n),
			safetext.Listed(keysOf(v.Type())))
		return
	}
	seen := map[string]bool{}
	for _, e := range n.keys {
		at := &node{line: e.line, col: e.col}
		name := below(key, e.name)
		field := fieldOf(v.Type(), e.name)
		switch {
		case seen[e.name]:
			d.wrong(at, name, "is here twice; remove one")
		case field >= 0:
			d.read(e.value, v.Field(field), name)
		case key == "" && slices.Contains(kept, e.name):
		default:
			d.wrong(at, below(key, strings.Trim(safetext.Quoted(e.name), `"`)), "is an unknown key; must be one of %s%s",
				safetext.Listed(keysOf(v.Type())), meant(e.name, keysOf(v.Type())))
		}
		seen[e.name] = true
	}
}

// place is where a key's value stands; of a key that does not exist, where it would.
func (d *decoder) place(key string) (line, col int) {
	for {
		if n, ok := d.places[key]; ok {
			return n.line, n.col
		}
		if key == "" {
			return 0, 0
		}
		key = key[:max(0, strings.LastIndexAny(key, ".["))]
	}
}

func lastOf(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }

func found(n *node) string {
	if n.kind == aText || n.kind == aNumber || n.kind == aTruth {
		return safetext.Quoted(n.text)
	}
	return string(n.kind)
}

// keysOf are the keys of a struct of the form, in their order.
func keysOf(t reflect.Type) []string {
	var keys []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
		keys = append(keys, name)
	}
	return keys
}

func fieldOf(t reflect.Type, key string) int { return slices.Index(keysOf(t), key) }

// node is one value of a text, and where it stands.
type node struct {
	kind      kind
	text      string // of a scalar, as it is written, without its quotes
	items     []*node
	keys      []entry
	line, col int // from 1
}

type entry struct {
	name      string
	value     *node
	line, col int
}

type kind string

const (
	nothing  kind = "nothing"
	aText    kind = "a text"
	aNumber  kind = "a number"
	aTruth   kind = "true or false"
	aList    kind = "a list"
	anObject kind = "an object"
)

// maxNesting bounds values in values. The form has eight levels; the parser of YAML needs the square of it in time.
const maxNesting = 20

// parse reads the documents of a text in YAML, which JSON is too, that are not empty.
func (s source) parse(content string) ([]*node, error) {
	tokens := lexer.Tokenize(content)
	if err := s.tooDeep(tokens); err != nil {
		return nil, err
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey()) // the decoder reports them
	if err != nil {
		return nil, s.notYAML(err)
	}
	var documents []*node
	for _, d := range file.Docs {
		if d.Body == nil {
			continue
		}
		n, err := s.nodeOf(d.Body)
		if err != nil {
			return nil, err
		}
		if n.kind != nothing {
			documents = append(documents, n)
		}
	}
	return documents, nil
}

// tooDeep refuses brackets in brackets, and rows of marks such as "- - - -", before anyone parses them.
func (s source) tooDeep(tokens token.Tokens) error {
	open, row := 0, 0
	for _, t := range tokens {
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			open++
		case token.SequenceEndType, token.MappingEndType:
			open--
		}
		switch t.Type {
		case token.StringType, token.SingleQuoteType, token.DoubleQuoteType, token.IntegerType, token.CommentType:
			row = 0
		default:
			row++
		}
		if open > maxNesting || row > 4*maxNesting {
			return s.at(t.Position.Line, t.Position.Column, "values are nested more than %d deep; the form has eight levels",
				maxNesting)
		}
	}
	return nil
}

func (s source) notYAML(err error) error {
	wrong, ok := errors.AsType[yaml.Error](err)
	if !ok || wrong.GetToken() == nil || wrong.GetToken().Position == nil {
		said, _, _ := strings.Cut(err.Error(), "\n")
		return s.at(0, 0, "this is not YAML: %s", said)
	}
	where := wrong.GetToken().Position
	said, _, _ := strings.Cut(wrong.GetMessage(), "\n")
	return s.at(where.Line, where.Column,
		"this is not YAML: %s; a text with a colon, a # or a quote in it needs quotes around it", said)
}

// nodeOf makes a node of what the parser found. What repeats a value that stands elsewhere is refused: a few lines of
// it can make up gigabytes, and no one who reads the file sees what it says.
func (s source) nodeOf(n ast.Node) (*node, error) {
	out := &node{kind: nothing}
	if t := n.GetToken(); t != nil && t.Position != nil {
		out.line, out.col = t.Position.Line, t.Position.Column
	}
	switch n := n.(type) {
	case *ast.NullNode:
	case *ast.StringNode:
		out.kind, out.text = aText, n.Value
	case *ast.LiteralNode:
		out.kind, out.text = aText, n.Value.Value
	case *ast.BoolNode:
		out.kind, out.text = aTruth, n.GetToken().Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		out.kind, out.text = aNumber, n.GetToken().Value
	case *ast.SequenceNode:
		out.kind = aList
		for _, v := range n.Values {
			item, err := s.nodeOf(v)
			if err != nil {
				return nil, err
			}
			out.items = append(out.items, item)
		}
	case *ast.MappingNode:
		return out, s.mapping(out, n.Values...)
	case *ast.MappingValueNode:
		return out, s.mapping(out, n)
	default:
		return nil, s.at(out.line, out.col, "%s is %s, which has no place in a task; write the value itself",
			safetext.Quoted(n.GetToken().Value), called(n))
	}
	return out, nil
}

func (s source) mapping(out *node, values ...*ast.MappingValueNode) error {
	out.kind = anObject
	if len(values) > 0 {
		at := values[0].Key.GetToken().Position
		out.line, out.col = at.Line, at.Column
	}
	for _, v := range values {
		at := v.Key.GetToken().Position
		key, ok := v.Key.(*ast.StringNode)
		if !ok {
			return s.at(at.Line, at.Column, "%s is no key; a key is a word", safetext.Quoted(v.Key.GetToken().Value))
		}
		value, err := s.nodeOf(v.Value)
		if err != nil {
			return err
		}
		out.keys = append(out.keys, entry{key.Value, value, at.Line, at.Column})
	}
	return nil
}

func called(n ast.Node) string {
	switch n.(type) {
	case *ast.AliasNode, *ast.AnchorNode, *ast.MergeKeyNode:
		return "an anchor or an alias"
	case *ast.TagNode:
		return "a tag"
	case *ast.DirectiveNode:
		return "a directive"
	}
	return fmt.Sprintf("a %s", strings.ToLower(n.Type().String()))
}

// source is a text that someone wrote: what it is called, and how many lines are above it where he sees it.
type source struct {
	name       string
	lineOffset int
	unplaced   bool // no one sees it as it is here
}

// mostProblems is how many mistakes one error lists.
const mostProblems = 10

// at is a mistake at a place: "TASK-001.yaml, line 3, column 5: id is …". Without a line it names the text alone.
func (s source) at(line, col int, format string, args ...any) error {
	said := fmt.Sprintf(format, args...)
	switch {
	case line <= 0 || s.unplaced:
		return fmt.Errorf("%s: %s", s.name, said)
	case col <= 0:
		return fmt.Errorf("%s, line %d: %s", s.name, line+s.lineOffset, said)
	}
	return fmt.Errorf("%s, line %d, column %d: %s", s.name, line+s.lineOffset, col, said)
}

// joined is the mistakes as one error, a line each; nil without any.
func joined(mistakes []error) error {
	if len(mistakes) > mostProblems {
		mistakes = append(mistakes[:mostProblems:mostProblems], fmt.Errorf("and %d more", len(mistakes)-mostProblems))
	}
	return errors.Join(mistakes...)
}

// meant is "; did you mean X?" when one of the allowed words may have been meant.
func meant[T ~string](found string, allowed []T) string {
	if best := safetext.Nearest(found, allowed); best != "" {
		return "; did you mean " + string(best) + "?"
	}
	return ""
}
