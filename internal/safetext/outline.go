package safetext

import (
	"bytes"
	"sort"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/ralph-loop/ralph/internal/regex"
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

// span is a range of bytes.
type span struct{ from, to int }

// outline is what a Markdown parser says about a text: where its code stands, which is all visible, the info strings of
// its fences, of which nothing but the language is, and the names of its link definitions.
type outline struct {
	code  []span
	infos map[int]int // where an info string begins → where it ends
	refs  map[string]bool
	// overdone says that there is more in each other than anyone writes, and that the parser has left off.
	overdone bool
	effort   int // that it took
}

// blocks are read with a bound to how deep they lie; links and tables with one to their number. Emphasis is not read:
// it hides nothing, and ends no code.
var blocks = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(bounded(parser.DefaultBlockParsers())...),
		parser.WithInlineParsers(
			util.Prioritized(parser.NewCodeSpanParser(), 100),
			util.Prioritized(linkSearch{parser.NewLinkParser(), parser.NewLinkParser().(parser.CloseBlocker)}, 200),
			util.Prioritized(parser.NewAutoLinkParser(), 300),
			util.Prioritized(parser.NewRawHTMLParser(), 400),
		),
		parser.WithParagraphTransformers(
			util.Prioritized(few{parser.LinkReferenceParagraphTransformer, manyDefinitions}, 100),
			util.Prioritized(few{extension.NewTableParagraphTransformer(), manyCells}, 200),
		),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
	)
})

func bounded(parsers []util.PrioritizedValue) []util.PrioritizedValue {
	for i, p := range parsers {
		if b := p.Value.(parser.BlockParser); b.Trigger() != nil {
			parsers[i].Value = shallow{b}
		}
	}
	return parsers
}

func outlineOf(s string) outline {
	o := outline{refs: map[string]bool{}, infos: map[int]int{}}
	source := []byte(s)
	pc := parser.NewContext()
	doc := blocks().Parse(text.NewReader(source), parser.WithContext(pc))
	e := effortOf(pc)
	if o.overdone, o.effort = e.over, e.spent; o.overdone {
		return o
	}
	for _, r := range pc.References() {
		o.refs[refName(string(r.Label()))] = true
	}
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the walker below never fails
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.FencedCodeBlock:
			o.lines(n.Lines())
			if n.Info != nil {
				o.infos[n.Info.Segment.Start] = n.Info.Segment.Stop
			}
		case *ast.CodeBlock:
			o.lines(n.Lines())
		case *ast.CodeSpan:
			for c := n.FirstChild(); c != nil; c = c.NextSibling() {
				if t, ok := c.(*ast.Text); ok {
					o.code = append(o.code, span{t.Segment.Start, t.Segment.Stop})
				}
			}
		}
		return ast.WalkContinue, nil
	})
	sort.Slice(o.code, func(i, j int) bool { return o.code[i].from < o.code[j].from })
	return o
}

func (o *outline) lines(segments *text.Segments) {
	for i := range segments.Len() {
		seg := segments.At(i)
		o.code = append(o.code, span{seg.Start, seg.Stop})
	}
}

// codeAt is the end of the code that position i is in.
func (o *outline) codeAt(i int) (end int, ok bool) {
	n := sort.Search(len(o.code), func(k int) bool { return o.code[k].to > i })
	if n < len(o.code) && o.code[n].from <= i {
		return o.code[n].to, true
	}
	return 0, false
}

// refName is a definition's name as names are compared.
func refName(label string) string { return util.ToLinkReference([]byte(strings.TrimSpace(label))) }

type pattern = regex.Pattern

// reading keeps the newest outline: most texts have nothing to take out, and one is enough for them.
type reading struct {
	of       string
	last     *outline
	overdone bool
}

func (r *reading) outline(s string) *outline {
	if r.last == nil || r.of != s {
		o := outlineOf(s)
		r.of, r.last = s, &o
		r.overdone = r.overdone || o.overdone
	}
	return r.last
}

// lazy is a pattern that is compiled when it is first asked.
func lazy(text string) *pattern { return regex.Lazy(text) }
