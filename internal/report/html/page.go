package html

import (
	"bytes"
	"fmt"
	"html/template"
	"regexp"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tasklist "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	goldhtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"
)

var (
	gfm = []goldmark.Extender{extension.Linkify, extension.Strikethrough, extension.TaskList,
		extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))}
	markdown = sync.OnceValue(func() goldmark.Markdown {
		return goldmark.New(goldmark.WithExtensions(gfm...), goldmark.WithRendererOptions(goldhtml.WithHardWraps(),
			renderer.WithNodeRenderers(util.Prioritized(page{}, 1))))
	})
	// The HTML of reports is tags without attributes; this also matches where any other tag begins or ends. Comments are
	// for GitHub.
	markup = regexp.MustCompile(`(?s)<!--.*?-->|</?(?:details|summary|sub|code|br)>|<|>`)
)

// page renders what goldmark, which lets no HTML and no address of a script through, leaves out or shows otherwise.
type page struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (page) RegisterFuncs(to renderer.NodeRendererFuncRegisterer) {
	for kind, text := range map[ast.NodeKind]func(n ast.Node, source []byte) string{
		ast.KindHTMLBlock: func(n ast.Node, source []byte) string {
			block := n.(*ast.HTMLBlock)
			html := block.Lines().Value(source)
			if block.HasClosure() {
				html = append(html, block.ClosureLine.Value(source)...)
			}
			return tagged(string(html))
		},
		ast.KindRawHTML: func(n ast.Node, source []byte) string {
			return tagged(string(n.(*ast.RawHTML).Segments.Value(source)))
		},
		ast.KindImage: func(ast.Node, []byte) string { return "" }, // a page must not reach out to anywhere
		tasklist.KindTaskCheckBox: func(n ast.Node, _ []byte) string { // a page has no form
			if n.(*tasklist.TaskCheckBox).IsChecked {
				return "☑ "
			}
			return "☐ "
		},
	} {
		to.Register(kind, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
			if !entering {
				return ast.WalkContinue, nil
			}
			_, err := w.WriteString(text(n, source))
			return ast.WalkContinue, err
		})
	}
}

// tagged is HTML of which only the tags that reports have are tags.
func tagged(html string) string {
	return markup.ReplaceAllStringFunc(html, func(found string) string {
		switch {
		case strings.HasPrefix(found, "<!--"):
			return ""
		case len(found) > 1:
			return found
		}
		return template.HTMLEscapeString(found)
	})
}

// reachable lets a keyboard scroll what may be wider than the page.
var reachable = strings.NewReplacer("<pre>", `<pre tabindex="0">`, "<table>", `<table tabindex="0">`)

// rendered is a text of ours in Markdown, with foreign text in it, as HTML that reaches out to nowhere; the first error
// is kept.
func rendered(text string, failed *error) template.HTML {
	var b bytes.Buffer
	if err := markdown().Convert([]byte(text), &b); err != nil && *failed == nil {
		*failed = fmt.Errorf("rendering Markdown: %w", err)
	}
	return template.HTML(reachable.Replace(b.String()))
}
