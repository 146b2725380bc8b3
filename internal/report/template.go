package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/regex"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// TemplatePaths are the places where GitHub looks for a repository's pull request template, in its order, from the top
// of the repository. Case does not matter to GitHub.
var TemplatePaths = []string{
	".github/pull_request_template.md", ".github/pull_request_template.txt",
	".github/PULL_REQUEST_TEMPLATE/pull_request_template.md",
	"pull_request_template.md", "pull_request_template.txt", "PULL_REQUEST_TEMPLATE/pull_request_template.md",
	"docs/pull_request_template.md", "docs/pull_request_template.txt",
	"docs/PULL_REQUEST_TEMPLATE/pull_request_template.md",
}

// maxTemplate is how much of a template is used, in bytes.
const maxTemplate = 16 << 10

// section is a part of a pull request's description. Its name says which heading of a template it belongs under.
type section struct{ name, title, body string }

// slots are the headings that templates have, with the sections that belong under them, the more special ones first.
var slots = []struct {
	heading *regex.Pattern
	holds   []string
}{
	{regex.Lazy(
		`(?i)^(related |linked |associated )?(issues?|tickets?)\b|^(this pr )?(fixes|closes|resolves)\b|\breferences?$`),
		[]string{"closes"}},
	{regex.Lazy(`(?i)\b(motivation|context|background|why|rationale|problem)\b`), []string{"asked"}},
	{regex.Lazy(`(?i)\btest(s|ed|ing)?\b|\bverif(y|ied|ication)\b|\bQA\b`), []string{"checks"}},
	{regex.Lazy(
		`(?i)^(description|summary|overview|what|changes?|proposed changes?|change ?log|about|details|solution|implementation)\b|\bthis (pr|pull request)\b`), []string{"state", "asked", "done"}},
}

var (
	headingLine = regex.Lazy(`^ {0,3}(#{1,6})[ \t]+(.*?)[ \t#]*$`)
	underline   = regex.Lazy(`^ {0,3}(=+|-{2,})[ \t]*$`)
	htmlComment = regex.Lazy(`(?s)<!--.*?(-->|\z)`)
	taskItem    = regex.Lazy(`(?m)^([ \t]*(?:[-*+]|\d{1,4}[.)])[ \t]+)\[[ xX]\]`)
	htmlTag     = regex.Lazy(
		`(?i)</?(a|b|br|center|details|div|em|h[1-6]|hr|i|img|kbd|p|picture|source|span|strong|sub|summary|sup|u)(\s[^<>]*)?/?>`)
)

// heading of a template with its level and the lines below it; the first of a template may have none.
type templatePart struct {
	level int
	title string
	lines []string
}

// templateParts takes a template apart at its headings. Text in HTML comments is for those who write by hand, and no box
// of it is ticked.
func (w Words) templateParts(text string) (parts []templatePart) {
	text = strings.ReplaceAll(safetext.FirstBytes(text, maxTemplate), "\r\n", "\n")
	text = w.Clean(htmlTag.ReplaceAllString(htmlComment.ReplaceAllString(text, ""), ""))
	text = taskItem.ReplaceAllString(text, "$1[ ]")
	parts = []templatePart{{}}
	fence := ""
	for _, line := range strings.Split(text, "\n") {
		last := &parts[len(parts)-1]
		switch m := fenceLine.FindStringSubmatch(line); {
		case fence != "":
			if strings.HasPrefix(strings.TrimSpace(line), fence) {
				fence = ""
			}
		case m != nil:
			fence = m[1]
		case headingLine.MatchString(line):
			h := headingLine.FindStringSubmatch(line)
			parts = append(parts, templatePart{level: len(h[1]), title: h[2]})
			continue
		case underline.MatchString(line) && len(last.lines) > 0 && strings.TrimSpace(last.lines[len(last.lines)-1]) != "":
			title := last.lines[len(last.lines)-1]
			last.lines = last.lines[:len(last.lines)-1]
			parts = append(parts, templatePart{level: 2, title: strings.TrimSpace(title)})
			continue
		}
		last.lines = append(last.lines, line)
	}
	return parts
}

// intoTemplate puts the sections under the headings of the repository's own template, which keep their order. Headings that ralph
// has nothing to say under keep their own text; what finds no heading goes below all of them.
func (w Words) intoTemplate(template string, sections []section) string {
	parts := w.templateParts(template)
	places := placed(parts)
	var p wording.Markdown
	var below []section
	for _, s := range sections {
		if _, found := places[s.name]; !found {
			below = append(below, s)
		}
	}
	for i, part := range parts {
		if part.level > 0 {
			p.Part(strings.Repeat("#", part.level) + " " +
				cmp.Or(wording.Inert(safetext.OneLine(part.title), w.OwnPhrase()), "–"))
		}
		var own wording.Markdown
		for _, s := range sections {
			if at, found := places[s.name]; found && at == i {
				own.Part(wording.JoinedBy("\n\n", loud(s.title), s.body))
			}
		}
		if p.Part(own.String()); own.Len() > 0 {
			part.lines = slices.DeleteFunc(part.lines, func(l string) bool { return !taskItem.MatchString(l) })
		}
		p.Part(strings.Trim(strings.Join(w.quoted(part.lines), "\n"), "\n"))
	}
	p.Part(written(below))
	return p.String()
}

func loud(title string) string {
	if title == "" {
		return ""
	}
	return "**" + title + "**"
}

// placed says under which part of a template a section goes: of those that it may go under the most special one, the first of equals.
func placed(parts []templatePart) map[string]int {
	places := map[string]int{}
	for _, slot := range slots {
		for i, part := range parts {
			if slotOf(part.title) != slot.heading {
				continue
			}
			for _, name := range slot.holds {
				if _, taken := places[name]; !taken {
					places[name] = i
				}
			}
		}
	}
	return places
}

// slotOf is the kind of a heading; nil for one that ralph does not know.
func slotOf(title string) *regex.Pattern {
	title = strings.TrimLeft(title, "*_ :.0123456789")
	for _, s := range slots {
		if title != "" && s.heading.MatchString(title) {
			return s.heading
		}
	}
	return nil
}

// written are sections under their own headings.
func written(sections []section) string {
	var p wording.Markdown
	for _, s := range sections {
		if s.title == "" {
			p.Part(s.body)
			continue
		}
		p.Part(wording.Titled(s.title, strings.TrimRight(s.body, "\n")))
	}
	return p.String()
}
