package sample

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	ghtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

var (
	acts    = regexp.MustCompile(`(?i)@[a-z0-9]|#\d|\bgh-\d|://|\bwww\.`)
	ourRefs = regexp.MustCompile(`#(42|57)\b`)
	ourHTML = regexp.MustCompile(
		`^(<!-- ralph:run:[A-Za-z0-9._…-]* -->|<details><summary>Last failure: iteration \d+, <code>[^<>]*</code></summary>|<details><summary>All \d+ stories</summary>|<!-- ralph:plan-list:[A-Za-z0-9._…-]* -->|<!-- ralph:plan-written:[0-9a-f]{16} -->|<details><summary>As ralph wrote it: tasks.json. It is made of the list; edit the list instead</summary>|<!-- ralph:(iteration|reply):[A-Za-z0-9._…-]*/\d+ -->|<details><summary>What the review asked for</summary>|<details><summary>(Iteration by iteration, in words|The task as it was asked|The other files|Try it yourself|How it went|What was tried, attempt by attempt|What to look at first|Verification|Promises|What the reviewer said of each criterion|What the reviews asked for|What happened in git)</summary>|<details><summary>What <code>[^<>]*</code> printed</summary>|</details>|</?sub>|<br>)$`)
	ourLinks = regexp.MustCompile(
		`^https://github\.com/alice/demo/(issues|pull|tree|actions|commit)/[A-Za-z0-9._~%/?=&#+-]*$`)
)

// AsGitHub reads and renders Markdown with the extensions that GitHub has.
func AsGitHub() goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extension.Linkify, extension.Strikethrough, extension.TaskList,
		extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))),
		goldmark.WithRendererOptions(ghtml.WithHardWraps(), ghtml.WithUnsafe()))
}

// Inertness says what in a Markdown text would do anything on GitHub that ralph did not mean: it is parsed, and
// everything that is not code is examined. Text that GitHub's own parser would join is joined here too: within a line.
func Inertness(md string) (problems []string) {
	source := []byte(md)
	complain := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	html := func(raw string) {
		for _, line := range strings.Split(strings.TrimSpace(raw), "\n") {
			if !ourHTML.MatchString(line) {
				complain("foreign HTML: %q", line)
			}
		}
	}
	var words strings.Builder
	_ = ast.Walk(AsGitHub().Parser().Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			if n.Type() == ast.TypeBlock {
				if got := ourRefs.ReplaceAllString(words.String(), ""); acts.MatchString(got) {
					complain("acts: %q", got)
				}
				words.Reset()
			}
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.CodeSpan, *ast.FencedCodeBlock, *ast.CodeBlock:
			words.WriteString(" ")
			return ast.WalkSkipChildren, nil
		case *ast.Text:
			words.Write(n.Value(source))
			if n.SoftLineBreak() {
				words.WriteString("\n")
			}
		case *ast.String:
			words.Write(n.Value)
		case *ast.RawHTML:
			html(string(n.Segments.Value(source)))
		case *ast.HTMLBlock:
			html(string(n.Lines().Value(source)))
		case *ast.Link:
			if !ourLinks.MatchString(string(n.Destination)) {
				complain("foreign link: %q", n.Destination)
			}
		case *ast.AutoLink:
			complain("foreign autolink: %q", n.URL(source))
		case *ast.Image:
			complain("image: %q", n.Destination)
		}
		return ast.WalkContinue, nil
	})
	return problems
}
