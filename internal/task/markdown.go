package task

import (
	"path"
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// maxBlock bounds a block in bytes.
const maxBlock = 16 << 10

// nested is a line that begins with more lists and quotes in each other than anyone writes; parsing them takes the
// square of it.
var nested = lazy(`(?m)^(?:[ \t]*(?:>|(?:[-*+]|[0-9]{1,9}[.)])[ \t])){50}`)

// criteria reads the criteria that a Markdown text holds: the items of the lists under "Acceptance criteria", "Done
// when" or "Definition of done", a heading, a bold line or a line that ends in a colon; and one fenced block whose
// language is ralph, a completion in YAML. Quotes, comments and other code are no criteria. They are nil when there are
// none. The text comes back without the block. What a stranger wrote must be held against Commands before anything is
// run.
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
		if form.Title == "" {
			form.Title = strings.TrimSpace(strings.TrimLeft(first, "# "))
		}
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
	return safetext.Slug(safetext.Visible(base), 40)
}
