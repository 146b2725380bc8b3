package task

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// node is one value of a YAML or JSON text, and where it stands.
type node struct {
	kind      kind
	text      string // of a scalar, as it is written, without its quotes
	items     []*node
	keys      []entry
	line, col int // from 1; 0 when no one knows
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

// parseYAML reads the documents of a text that are not empty.
func (s source) parseYAML(content string) ([]*node, error) {
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
	var wrong yaml.Error
	if !errors.As(err, &wrong) || wrong.GetToken() == nil || wrong.GetToken().Position == nil {
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
