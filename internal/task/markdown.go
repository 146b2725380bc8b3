package task

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// maxBlock bounds a block in bytes.
const maxBlock = 16 << 10

// nested is a line that begins with more lists and quotes in each other than anyone writes; parsing them takes the
// square of it.
var nested = lazy(`(?m)^(?:[ \t]*(?:>|(?:[-*+]|[0-9]{1,9}[.)])[ \t])){50}`)

// criteria reads the criteria that a Markdown text holds: the items of the lists under "Acceptance criteria", "Done
// when" or "Definition of done", a heading, a bold line or a line that ends in a colon; and one fenced block whose
// language is ralph, a completion in YAML. Quotes, comments and other code are no criteria. They are nil if the text
// holds no criteria. The text comes back without the block. What a stranger wrote must be held against Commands before
// anything is run.
func (s source) criteria(content string) (*Completion, string, error) {
	if deep := nested.FindStringIndex(content); deep != nil {
		return nil, "", s.at(lineOf(content, deep[0]), 0,
			"the line begins with 50 lists or quotes in each other, or more; write it without them")
	}
	sec := readSections(content)
	if len(sec.blocks) > 1 {
		return nil, "", s.at(lineOf(content, blockSpan(content, sec.blocks[1]).from), 0,
			"a second ralph block begins here; put both into one")
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
	written := []byte(content)
	for i := range b.Lines().Len() {
		at := b.Lines().At(i)
		inside.Write(at.Value(written))
	}
	above := s.lineOffset + lineOf(content, whole.from) // with the fence itself
	if strings.TrimSpace(inside.String()) == "" {
		return nil, s.at(lineOf(content, whole.from), 0, "the ralph block is empty; write what must be true, or take it out")
	}
	if inside.Len() > maxBlock {
		return nil, s.at(lineOf(content, whole.from), 0, "the ralph block has %d bytes; must be at most %d", inside.Len(),
			maxBlock)
	}
	return source{name: s.name, lineOffset: above}.completion(inside.String())
}

// blockSpan is a fenced block with its fences, in whole lines.
func blockSpan(content string, b *ast.FencedCodeBlock) span {
	return span{startOfLine(content, b.Info.Segment.Start), fenceEnd(content, b, b.Info.Segment.Stop)}
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

func (c *Completion) empty() bool {
	return c == nil || c.Outcome == "" && len(c.Acceptance) == 0 && c.Coder == nil && c.Tester == nil &&
		c.Reviewer == nil && c.QA == nil
}

// markdownTask reads a task's file in Markdown: keys of the form in front matter, the title as its first heading or
// first line, the criteria as an issue does. Without an id in the front matter, the file's name is it.
func (s source) markdownTask(content string) (Task, error) {
	head, body, ok := frontMatter(content)
	form, d := Form{}, &decoder{source: s}
	if ok {
		s.lineOffset = lineOf(content, len(content)-len(body)) - 1
	}
	if strings.TrimSpace(head) != "" {
		var err error
		if form, d, err = (source{name: s.name, lineOffset: 1}).form(head); err != nil {
			return Task{}, err
		}
	}
	trimmed := strings.TrimLeft(body, " \t\n")
	s.lineOffset += strings.Count(body[:len(body)-len(trimmed)], "\n")
	if form.Title == "" || strings.HasPrefix(trimmed, "# ") {
		first, rest, _ := strings.Cut(trimmed, "\n")
		form.Title = cmp.Or(form.Title, strings.TrimSpace(strings.TrimLeft(first, "# ")))
		s.lineOffset++
		trimmed = rest
	}
	said, rest, err := s.criteria(trimmed)
	if err != nil {
		return Task{}, err
	}
	sec := readSections(rest)
	form.Description = strings.TrimSpace(form.Description + "\n\n" + cut(rest, sec.lists...))
	form.Completion = Merge(form.Completion, said)
	form.ID = cmp.Or(form.ID, fileID(s.name))
	return d.checked(form)
}

// fileID is the id that a file's name gives.
func fileID(name string) string {
	base := strings.TrimSuffix(path.Base(name), path.Ext(name))
	if ValidID(base) && base != "" {
		return base
	}
	return safetext.Slug(safetext.Visible(base), 40)
}

// fenceEnd is where the line after a block's last fence begins; empty is where a block without a line stands.
func fenceEnd(content string, b *ast.FencedCodeBlock, empty int) int {
	to := empty
	if n := b.Lines().Len(); n > 0 {
		to = b.Lines().At(n-1).Stop - 1
	}
	to = endOfLine(content, to)
	if next := endOfLine(content, to); strings.Trim(content[to:next], "`~ \t\n") == "" &&
		strings.ContainsAny(content[to:next], "`~") {
		to = next
	}
	return to
}

func startOfLine(content string, i int) int { return strings.LastIndexByte(content[:i], '\n') + 1 }

// endOfLine is where the line after the one that i is in begins.
func endOfLine(content string, i int) int {
	if n := strings.IndexByte(content[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(content)
}

// labels are the headings that criteria stand under.
var labels = []string{"acceptance criteria", "acceptance criterion", "definition of done", "done when",
	"akzeptanzkriterien", "critères d acceptation", "criterios de aceptación", "critérios de aceitação",
	"criteri di accettazione", "acceptatiecriteria", "kryteria akceptacji", "критерии приемки", "критерии приёмки",
	"критерии готовности", "критерії приймання", "验收标准", "驗收標準", "受け入れ条件", "受け入れ基準", "인수 조건", "수락 기준"}

var markdown = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extension.TaskList, extension.Table))
})

// span is a range of bytes.
type span struct{ from, to int }

// section reads the top level of a text, from its beginning to its end.
type section struct {
	source  []byte
	content string // the same
	within  bool   // below a label
	level   int    // of the heading that is the label; 7: it is a line of text
	named   span   // the label itself, when nothing is between it and here
	found   []string
	lists   []span // what the criteria take of the text, with their labels
	blocks  []*ast.FencedCodeBlock
}

func readSections(content string) *section {
	sec := &section{source: []byte(content), content: content}
	doc := markdown().Parser().Parse(text.NewReader(sec.source))
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Heading:
			sec.heading(n)
		case *ast.Paragraph:
			sec.paragraph(n)
		case *ast.List:
			sec.take(n, sec.items(n, hasBox(n)))
		case *east.Table:
			sec.take(n, sec.rows(n))
		case *ast.HTMLBlock: // <details><summary>Done when</summary>
			sec.label(sec.text(n), span{}, sec.text(n) != "</details>")
		case *ast.FencedCodeBlock:
			switch language := strings.ToLower(string(n.Language(sec.source))); language {
			case "ralph":
				sec.blocks = append(sec.blocks, n)
			case "gherkin", "feature", "cucumber":
				sec.take(n, scenarios(string(n.Lines().Value(sec.source))))
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
	content := s.content
	s.named.from = startOfLine(content, s.named.from)
	s.named.to = endOfLine(content, s.named.to)
	// the line below an old heading
	if next := endOfLine(content, s.named.to); strings.Trim(content[s.named.to:next], "=- \t\n") == "" {
		s.named.to = next
	}
}

// paragraph begins a section when its last line is a label, and ends one that began so when it is another.
func (s *section) paragraph(n *ast.Paragraph) {
	lines := n.Lines()
	last := lines.At(lines.Len() - 1)
	line := strings.TrimSpace(string(last.Value(s.source)))
	bold := (strings.HasPrefix(line, "**") || strings.HasPrefix(line, "__")) &&
		(strings.HasSuffix(line, "**") || strings.HasSuffix(line, "__"))
	if bold || strings.HasSuffix(strings.TrimRight(line, "*_"), ":") {
		s.label(line, span{last.Start, last.Stop}, false)
	} else {
		s.named = span{}
	}
}

// label begins a section whose label is a line of text, or ends such a section unless it continues.
func (s *section) label(line string, named span, on bool) {
	switch {
	case isLabel(tag.ReplaceAllString(line, " ")):
		if !s.within {
			s.level = 7
		}
		s.within, s.named = true, named
	case s.level == 7 && !on:
		s.within = false
	}
}

var tag = lazy(`</?[a-zA-Z][^<>]*>`)

// rows are the criteria of a table: the cells of each row but the header.
func (s *section) rows(n *east.Table) (out []string) {
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			if text := s.text(cell); text != "" {
				cells = append(cells, text)
			}
		}
		if _, header := row.(*east.TableHeader); !header && len(cells) > 0 {
			out = append(out, strings.Join(cells, ": "))
		}
	}
	return out
}

// scenarios are the criteria of a feature in Gherkin, each on one line.
func scenarios(feature string) (out []string) {
	for line := range strings.Lines(feature) {
		switch line = strings.TrimSpace(line); {
		case line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "@"):
		case strings.HasPrefix(line, "Scenario") || strings.HasPrefix(line, "Example:") || strings.HasPrefix(line, "Rule:"):
			out = append(out, line)
		case len(out) > 0:
			out[len(out)-1] += " " + line
		}
	}
	return out
}

// take adds criteria that a block below a label holds.
func (s *section) take(n ast.Node, items []string) {
	if !s.within || len(items) == 0 {
		return
	}
	s.found = append(s.found, items...)
	taken := s.place(n)
	taken.from = startOfLine(s.content, taken.from)
	if s.named.to > 0 {
		s.lists = append(s.lists, s.named)
		s.named = span{}
	}
	s.lists = append(s.lists, taken)
}

// items are the criteria of a list. Where any item has a box, only those with one count; a list of plain items counts
// as a whole. Plain items below a criterion belong to it.
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
		if strings.HasPrefix(own, "~~") && strings.HasSuffix(own, "~~") { // struck out, with what belongs to it
			continue
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
	line := safetext.OneLine(b.String())
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
				out.to = max(out.to, fenceEnd(s.content, b, out.to))
			}
		}
		return ast.WalkContinue, nil
	})
	if out.to == 0 {
		return span{}
	}
	return out
}

// isLabel reports whether a line names the criteria, whatever numbers, signs and marks surround its words.
func isLabel(line string) bool {
	words := strings.FieldsFunc(strings.ToLower(line), func(r rune) bool { return !unicode.IsLetter(r) })
	return slices.Contains(labels, strings.Join(words, " "))
}
