package safetext

import (
	"sort"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

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
