package html

import (
	"bytes"
	_ "embed" // the page's frame
	"errors"

	tasklist "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	goldhtml "github.com/yuin/goldmark/renderer/html"

	"fmt"
	"html/template"
	"strings"
	"sync"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/util"
)

// Section is one part of a page. Markdown may hold foreign text; whatever it renders to is sanitised.
type Section struct {
	Heading, Markdown string
	Meta              string // a short remark beside the heading: a time, a number
}

//go:embed page.html
var frame string

var (
	pageFrame = sync.OnceValue(func() *template.Template { return template.Must(template.New("page").Parse(frame)) })
	gfm       = []goldmark.Extender{extension.Linkify, extension.Strikethrough, extension.TaskList,
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

// Page is one self-contained HTML file: no script, no network, light and dark, readable on a phone.
func Page(title string, sections ...Section) ([]byte, error) {
	type shown struct {
		Heading, Meta string
		Body          template.HTML
	}
	var failed error
	data := struct {
		Title    string
		Sections []shown
	}{Title: title}
	for _, s := range sections {
		data.Sections = append(data.Sections, shown{s.Heading, s.Meta, rendered(s.Markdown, &failed)})
	}
	var out bytes.Buffer
	if err := errors.Join(failed, pageFrame().Execute(&out, data)); err != nil {
		return nil, fmt.Errorf("writing the page %q: %w", title, err)
	}
	return out.Bytes(), nil
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
