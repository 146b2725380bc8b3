package html

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"
	"sync"

	"github.com/microcosm-cc/bluemonday"
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
		return goldmark.New(goldmark.WithExtensions(gfm...),
			goldmark.WithRendererOptions(goldhtml.WithHardWraps(), goldhtml.WithUnsafe(),
				renderer.WithNodeRenderers(util.Prioritized(boxes{}, 1))))
	})
	allowed = sync.OnceValue(pagePolicy)
)

// boxes shows the boxes of task lists as signs: a page has no form.
type boxes struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (boxes) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(tasklist.KindTaskCheckBox,
		func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
			box, ok := n.(*tasklist.TaskCheckBox)
			if !ok || !entering {
				return ast.WalkContinue, nil
			}
			sign := "☐ "
			if box.IsChecked {
				sign = "☑ "
			}
			_, err := w.WriteString(sign)
			return ast.WalkContinue, err
		})
}

// pagePolicy lets through what the reports use. There are no images: a page must not reach out to anywhere.
func pagePolicy() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "code", "em", "strong",
		"del", "sub", "sup",
		"ul", "ol", "li", "table", "thead", "tbody", "tr", "details", "summary")
	p.AllowAttrs("align").Matching(bluemonday.CellAlign).OnElements("th", "td")
	p.AllowElements("th", "td")
	p.AllowStandardURLs()
	p.AllowAttrs("href").OnElements("a")
	p.RequireNoReferrerOnLinks(true)
	return p
}

// reachable lets a keyboard scroll what may be wider than the page.
var reachable = strings.NewReplacer("<pre>", `<pre tabindex="0">`, "<table>", `<table tabindex="0">`)

// rendered is a text of ours in Markdown, with foreign text in it, as sanitized HTML; the first error is kept.
func rendered(text string, failed *error) template.HTML {
	var b bytes.Buffer
	if err := markdown().Convert([]byte(text), &b); err != nil && *failed == nil {
		*failed = fmt.Errorf("rendering Markdown: %w", err)
	}
	// The policy has just been over it, which is what makes it HTML that may stand as it is.
	return template.HTML(reachable.Replace(string(allowed().SanitizeBytes(b.Bytes()))))
}
