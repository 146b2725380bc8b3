package task

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"github.com/ralph-loop/ralph/internal/event"
)

// labels are the headings that criteria stand under.
var labels = []string{"acceptance criteria", "acceptance criterion", "definition of done", "done when"}

var markdown = goldmark.New(goldmark.WithExtensions(extension.TaskList, extension.Table))

// FromText reads the criteria that a Markdown text holds: the items of the lists under "Acceptance criteria", "Done when" or "Definition
// of done", a heading, a bold line or a line that ends in a colon; and one fenced block whose language is ralph, a completion in YAML.
// Quotes, comments and other code are no criteria. c is nil when there are none. rest is the text without the block. name is how the
// text is called in errors. What a stranger wrote must be held against Commands before anything is run.
func FromText(name, markdown string) (c *Completion, rest string, err error) {
	return source{name: name}.criteria(markdown)
}

// span is a range of bytes.
type span struct{ from, to int }

// section reads the top level of a text, from its beginning to its end.
type section struct {
	source []byte
	within bool // below a label
	level  int  // of the heading that is the label; 7: it is a line of text
	named  span // the label itself, when nothing stands between it and here
	found  []string
	lists  []span // what the criteria take of the text, with their labels
	blocks []*ast.FencedCodeBlock
}

func (s source) criteria(content string) (*Completion, string, error) {
	sec := readSections(content)
	if len(sec.blocks) > 1 {
		return nil, "", s.at(lineOf(content, blockSpan(content, sec.blocks[1]).from), 0, "here begins the second ralph block; allowed is one: put both together")
	}
	c := &Completion{Acceptance: unique(sec.found)}
	rest := content
	if len(sec.blocks) == 1 {
		whole := blockSpan(content, sec.blocks[0])
		said, err := s.block(content, whole, sec.blocks[0])
		if err != nil {
			return nil, "", err
		}
		said.Acceptance = unique(append(c.Acceptance, said.Acceptance...))
		c, rest = said, cut(content, whole)
	}
	if c.empty() {
		return nil, rest, nil
	}
	if problems := c.Problems(""); len(problems) > 0 {
		return nil, "", s.at(0, 0, "%s", problems[0])
	}
	return c, rest, nil
}

// block reads the completion of a fenced block.
func (s source) block(content string, whole span, b *ast.FencedCodeBlock) (*Completion, error) {
	var inside strings.Builder
	for i := range b.Lines().Len() {
		at := b.Lines().At(i)
		inside.Write(at.Value([]byte(content)))
	}
	above := s.above + lineOf(content, whole.from) // with the fence itself
	if strings.TrimSpace(inside.String()) == "" {
		return nil, s.at(lineOf(content, whole.from), 0, "the ralph block is empty; write what must be true, or take it out")
	}
	return source{name: s.name, above: above}.completion(inside.String())
}

func readSections(content string) *section {
	sec := &section{source: []byte(content)}
	doc := markdown.Parser().Parse(text.NewReader(sec.source))
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Heading:
			sec.heading(n)
		case *ast.Paragraph:
			sec.paragraph(n)
		case *ast.List:
			sec.list(n)
		case *ast.FencedCodeBlock:
			if strings.EqualFold(string(n.Language(sec.source)), "ralph") {
				sec.blocks = append(sec.blocks, n)
			}
		}
	}
	return sec
}

func (s *section) heading(n *ast.Heading) {
	if s.within && n.Level > s.level { // a part of the section
		return
	}
	s.within, s.level, s.named = isLabel(s.text(n)), n.Level, s.place(n)
	content := string(s.source)
	s.named.from = startOfLine(content, s.named.from)
	s.named.to = endOfLine(content, s.named.to)
	if next := endOfLine(content, s.named.to); strings.Trim(content[s.named.to:next], "=- \t\n") == "" { // the line below an old heading
		s.named.to = next
	}
}

// paragraph begins a section when its last line is a label, and ends one that began so when it is another.
func (s *section) paragraph(n *ast.Paragraph) {
	lines := n.Lines()
	last := lines.At(lines.Len() - 1)
	line := strings.TrimSpace(string(last.Value(s.source)))
	bold := (strings.HasPrefix(line, "**") || strings.HasPrefix(line, "__")) && (strings.HasSuffix(line, "**") || strings.HasSuffix(line, "__"))
	switch {
	case !bold && !strings.HasSuffix(strings.TrimRight(line, "*_"), ":"):
		s.named = span{}
	case isLabel(line):
		if !s.within {
			s.level = 7
		}
		s.within, s.named = true, span{last.Start, last.Stop}
	case s.level == 7:
		s.within = false
	}
}

func (s *section) list(n *ast.List) {
	if !s.within {
		return
	}
	items := s.items(n, hasBox(n))
	if len(items) == 0 {
		return
	}
	s.found = append(s.found, items...)
	taken := s.place(n)
	taken.from = startOfLine(string(s.source), taken.from)
	if s.named.to > 0 {
		s.lists = append(s.lists, s.named)
		s.named = span{}
	}
	s.lists = append(s.lists, taken)
}

// items are the criteria of a list. Where any item has a box, only those with one count; a list of plain items counts as a whole. Plain
// items below a criterion belong to it.
func (s *section) items(n *ast.List, boxes bool) []string {
	var out []string
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		own, parts, below := "", []string(nil), []string(nil)
		for child := item.FirstChild(); child != nil; child = child.NextSibling() {
			switch child := child.(type) {
			case *ast.TextBlock, *ast.Paragraph:
				if own == "" && (!boxes || box(child)) {
					own = s.text(child)
				}
			case *ast.List:
				if hasBox(child) {
					below = append(below, s.items(child, true)...)
				} else if !boxes || own != "" {
					parts = append(parts, s.items(child, false)...)
				}
			}
		}
		if own != "" && len(parts) > 0 {
			own = strings.TrimSuffix(own, ":") + ": " + strings.Join(parts, "; ")
		}
		if own != "" {
			out = append(out, own)
		}
		out = append(out, below...)
	}
	return out
}

// box reports whether a block begins with a box.
func box(n ast.Node) bool {
	_, ok := n.FirstChild().(*east.TaskCheckBox)
	return ok
}

// hasBox reports whether any item of a list, or of the lists in it, has a box.
func hasBox(n *ast.List) bool {
	found := false
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the walker never fails
		if _, ok := n.(*ast.Blockquote); ok {
			return ast.WalkSkipChildren, nil
		}
		if _, ok := n.(*east.TaskCheckBox); ok {
			found = true
			return ast.WalkStop, nil
		}
		return ast.WalkContinue, nil
	})
	return found
}

// text is what a block says, on one line, as it is written but for a box.
func (s *section) text(n ast.Node) string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		at := n.Lines().At(i)
		b.Write(at.Value(s.source))
		b.WriteByte(' ')
	}
	line := oneLine(b.String())
	if box(n) && len(line) >= 3 {
		line = strings.TrimSpace(line[3:])
	}
	return line
}

// place is from where to where a block and all in it stand.
func (s *section) place(n ast.Node) span {
	out := span{len(s.source), 0}
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the walker never fails
		if entering && n.Type() == ast.TypeBlock {
			for i := range n.Lines().Len() {
				at := n.Lines().At(i)
				out.from, out.to = min(out.from, at.Start), max(out.to, at.Stop)
			}
			if b, ok := n.(*ast.FencedCodeBlock); ok {
				out.to = max(out.to, fenceEnd(string(s.source), b, out.to))
			}
		}
		return ast.WalkContinue, nil
	})
	if out.to == 0 {
		return span{}
	}
	return out
}

// isLabel reports whether a line names the criteria, whatever numbers, signs and marks stand around its words.
func isLabel(line string) bool {
	words := strings.FieldsFunc(strings.ToLower(line), func(r rune) bool { return !unicode.IsLetter(r) })
	return slices.Contains(labels, strings.Join(words, " "))
}

// blockSpan is a fenced block with its fences, in whole lines.
func blockSpan(content string, b *ast.FencedCodeBlock) span {
	return span{startOfLine(content, b.Info.Segment.Start), fenceEnd(content, b, b.Info.Segment.Stop)}
}

// fenceEnd is where the line after a block's last fence begins; empty is where a block without a line stands.
func fenceEnd(content string, b *ast.FencedCodeBlock, empty int) int {
	to := empty
	if n := b.Lines().Len(); n > 0 {
		to = b.Lines().At(n-1).Stop - 1
	}
	to = endOfLine(content, to)
	if next := endOfLine(content, to); strings.Trim(content[to:next], "`~ \t\n") == "" && strings.ContainsAny(content[to:next], "`~") {
		to = next
	}
	return to
}

func startOfLine(content string, i int) int { return strings.LastIndexByte(content[:i], '\n') + 1 }

// endOfLine is where the line after the one that i stands in begins.
func endOfLine(content string, i int) int {
	if n := strings.IndexByte(content[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(content)
}

func lineOf(content string, i int) int { return 1 + strings.Count(content[:i], "\n") }

// cut is a text without some parts of it, which are in their order.
func cut(content string, parts ...span) string {
	var kept []string
	keep := func(piece string) {
		if strings.TrimSpace(piece) != "" {
			kept = append(kept, strings.Trim(piece, "\n"))
		}
	}
	at := 0
	for _, p := range parts {
		if p.from >= at {
			keep(content[at:p.from])
			at = p.to
		}
	}
	keep(content[at:])
	return strings.Join(kept, "\n\n")
}

func unique(texts []string) []string {
	var out []string
	for _, t := range texts {
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

func (c *Completion) empty() bool {
	return c == nil || c.Outcome == "" && len(c.Acceptance) == 0 && c.Coder == nil && c.Tester == nil && c.Reviewer == nil && c.QA == nil
}

// markdownTask reads a task's file in Markdown: keys of the form in front matter, the title as its first heading or first line, the
// criteria as FromText finds them. Without an id in the front matter, the file's name is it.
func (s source) markdownTask(content string) (Task, error) {
	head, body, ok := frontMatter(content)
	form, d := Form{}, &decoder{source: s}
	if ok {
		s.above = lineOf(content, len(content)-len(body)) - 1
	}
	if strings.TrimSpace(head) != "" {
		var err error
		if form, d, err = (source{name: s.name, above: 1}).form(head); err != nil {
			return Task{}, err
		}
	}
	trimmed := strings.TrimLeft(body, " \t\n")
	s.above += strings.Count(body[:len(body)-len(trimmed)], "\n")
	if form.Title == "" || strings.HasPrefix(trimmed, "# ") {
		first, rest, _ := strings.Cut(trimmed, "\n")
		if form.Title == "" {
			form.Title = strings.TrimSpace(strings.TrimLeft(first, "# "))
		}
		s.above++
		trimmed = rest
	}
	said, rest, err := s.criteria(trimmed)
	if err != nil {
		return Task{}, err
	}
	sec := readSections(rest)
	form.Description = strings.TrimSpace(form.Description + "\n\n" + cut(rest, sec.lists...))
	form.Completion = Merge(form.Completion, said)
	if form.ID == "" {
		form.ID = fileID(s.name)
	}
	return d.checked(form)
}

// fileID is the id that a file's name gives.
func fileID(name string) string {
	base := strings.TrimSuffix(path.Base(name), path.Ext(name))
	if ValidID(base) && base != "" {
		return base
	}
	return slug(event.Visible(base), 40)
}
