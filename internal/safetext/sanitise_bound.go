package safetext

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// What a text may have, and more than anyone writes. The parser takes the square of each, so a text of the size of an
// issue would keep it for minutes. Text in code is not counted.
const (
	maxDepth       = 100     // blocks in each other: a line of quotation marks alone may be that long
	maxLists       = 15      // lists in each other
	maxDefinitions = 2000    // of links, in one paragraph
	maxCells       = 1 << 17 // of a table: its columns by its lines
	// bytes and lines that links look at for their ends, and stillOpen for a block on each of its lines
	maxEffort = 4 << 20
	stillOpen = 16
)

// effort is what reading a text has cost so far.
type effort struct {
	spent int
	over  bool // it is more than a text may cost, and nothing more is searched for
}

var effortKey = parser.NewContextKey()

func effortOf(pc parser.Context) *effort {
	return pc.ComputeIfAbsent(effortKey, func() any { return &effort{} }).(*effort)
}

func (e *effort) spend(n int) {
	e.spent += n
	e.over = e.over || e.spent > maxEffort
}

// shallow opens no block that lies too deep in others. The items of a list are left alone: a list cannot be without.
type shallow struct{ parser.BlockParser }

func (p shallow) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	e := effortOf(pc)
	if parent.Kind() != ast.KindList && e.over {
		return nil, parser.NoChildren
	}
	node, state := p.BlockParser.Open(parent, reader, pc)
	if node != nil && node.Kind() != ast.KindListItem && tooDeep(parent) {
		e.over = true
		return nil, parser.NoChildren
	}
	return node, state
}

// Continue continues with a block on a new line; once too much is spent it ends the outermost, and all others with it.
func (p shallow) Continue(node ast.Node, reader text.Reader, pc parser.Context) parser.State {
	e := effortOf(pc)
	if e.spend(stillOpen); e.over && node.Parent().Kind() == ast.KindDocument {
		return parser.Close
	}
	return p.BlockParser.Continue(node, reader, pc)
}

func tooDeep(n ast.Node) bool {
	deep, lists := 0, 0
	for ; n != nil; n = n.Parent() {
		if deep++; n.Kind() == ast.KindList {
			lists++
		}
	}
	return deep >= maxDepth || lists >= maxLists
}

// linkSearch lets links look for their ends for as long as maxEffort allows.
type linkSearch struct {
	parser.InlineParser
	parser.CloseBlocker
}

func (p linkSearch) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	e := effortOf(pc)
	if line, _ := block.PeekLine(); !e.over && line[0] == ']' {
		e.spend(addressScanLimit(line[1:]) + parent.Lines().Len())
	}
	if e.over {
		return nil
	}
	return p.InlineParser.Parse(parent, block, pc)
}

// addressScanLimit is how much of what follows a link's text is examined for its address.
func addressScanLimit(rest []byte) int {
	if len(rest) == 0 || rest[0] != '(' {
		return 1
	}
	if to := bytes.TrimLeft(rest[1:], " \t"); len(to) > 0 && to[0] == '<' {
		if i := bytes.IndexByte(rest, '>'); i >= 0 {
			return i
		}
		return len(rest)
	}
	open := 0
	for i, c := range rest {
		switch c {
		case '(':
			open++
		case ')':
			if open--; open == 0 {
				return i
			}
		case ' ', '\t', '\n':
			return i
		}
	}
	return len(rest)
}

// few reads no more definitions and cells than a text may have.
type few struct {
	parser.ParagraphTransformer
	tooMany func(lines *text.Segments, source []byte) bool
}

func (t few) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	e := effortOf(pc)
	e.over = e.over || t.tooMany(node.Lines(), reader.Source())
	if e.over {
		return
	}
	t.ParagraphTransformer.Transform(node, reader, pc)
}

// manyDefinitions counts the lines of a paragraph that define something, when the first does.
func manyDefinitions(lines *text.Segments, source []byte) bool {
	n := 0
	for i := range lines.Len() {
		at := lines.At(i)
		if defines(at.Value(source)) {
			n++
		} else if i == 0 {
			return false
		}
	}
	return n > maxDefinitions
}

// defines tells "[name]: address" from a line of a log, "[WARN]: disk is full".
func defines(line []byte) bool {
	line = bytes.TrimLeft(line, " \t")
	_, address, ok := bytes.Cut(line, []byte("]:"))
	if !ok || line[0] != '[' {
		return false
	}
	_, after, _ := bytes.Cut(bytes.TrimSpace(address), []byte(" "))
	after = bytes.TrimLeft(after, " \t")
	return len(after) == 0 || bytes.IndexByte([]byte("\"'("), after[0]) >= 0
}

// manyCells multiplies the columns of the widest line of dashes by the lines: a table fills up the lines that have
// fewer cells.
func manyCells(lines *text.Segments, source []byte) bool {
	columns := 0
	for i := range lines.Len() {
		at := lines.At(i)
		if line := at.Value(source); len(bytes.Trim(line, "|-: \t\n")) == 0 {
			columns = max(columns, bytes.Count(line, []byte("|")))
		}
	}
	return columns*lines.Len() > maxCells
}
