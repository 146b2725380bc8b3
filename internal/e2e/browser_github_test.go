//go:build e2e

package e2e_test

import (
	"bytes"
	_ "embed"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
)

//go:embed testdata/github-markdown-css/github-markdown.css
var githubStyle string

// phone and desk are the widths that reports are read at; a phone shows so much of a page before anybody scrolls.
const (
	phone       = 360
	phoneScreen = 640
	desk        = 1200
	deskScreen  = 900
)

// What is posted on GitHub looks as it should with GitHub's own style: nothing can be moved sideways, what is folded is
// closed, the first screen of a phone says what the run came to, why and what to do next, and a pull request's
// description is one screen of a desk.
func TestReportsOnGitHub(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	const failing, retry = "go test ./... still fails", "/ralph retry <hint>"
	tests := []struct {
		file  string
		says  []string // on the first screen of a phone
		pull  bool     // a pull request's description, which is one screen
		title bool     // its title stands before it
	}{
		{file: "done.md", says: []string{"Done after 2 iterations", "go test ./... pass",
			"review this pull request and merge it"}},
		{file: "capped.md", says: []string{"Stopped after 5 of 5 iterations", failing, retry}},
		{file: "asks.md", says: []string{"Waiting for your answer", "Should the empty name be greeted",
			"/ralph continue <answer>"}},
		{file: "running-third.md", says: []string{"Working: iteration 3 of 5", "what the reviewer asked for", "/ralph stop"}},
		{file: "failure.md", says: []string{"Stopped after 5 of 5 iterations", failing, retry, "git fetch origin"}},
		{file: "plan-failure.md", says: []string{"Stopped after 9 of 9 iterations", "US-003 is not done", retry,
			"git fetch origin"}},
		{file: "pull-draft.md", says: []string{"Working on it", "/ralph stop"}, pull: true, title: true},
		{file: "pull-done.md", says: []string{"Done after 2 iterations", "go test ./... pass", "and merge it"},
			pull: true, title: true},
		{file: "pull-capped.md", says: []string{"Stuck after 5 of 5 iterations", failing, retry}, pull: true},
		{file: "plan-pull.md", says: []string{"Done after 11 iterations", "1 of them only at the cap",
			"and merge it"}, pull: true, title: true},
		{file: "summary.md", says: []string{"Done after 2 iterations", "go test ./... pass", "and merge it"}},
		{file: "hostile-comment.md"}, {file: "hostile-failure.md"}, {file: "hostile-pull.md"}, {file: "hostile-summary.md"},
	}
	files := map[string]string{}
	for _, tt := range tests {
		files[tt.file] = asOnGitHub(t, tt.file, tt.title)
	}
	for _, width := range []int64{phone, desk} {
		p := open(t, browser, files[tests[0].file])
		p.look(width, "light")
		for _, tt := range tests {
			t.Run(tt.file+"/"+strconv.FormatInt(width, 10), func(t *testing.T) {
				p.forget(t)
				p.do(chromedp.Navigate("file://" + files[tt.file]))
				if got := p.asks(`String(document.querySelectorAll('details[open]').length)`); got != "0" {
					t.Errorf("%s folded parts are open", got)
				}
				first := ""
				if width == phone {
					first = p.firstScreen(phoneScreen)
				}
				for _, want := range tt.says {
					if width == phone && !strings.Contains(first, want) {
						t.Errorf("the first screen of a phone does not say %q:\n%s", want, first)
					}
				}
				height, err := strconv.ParseFloat(p.asks(`String(document.querySelector('main').getBoundingClientRect().height)`),
					64)
				if err != nil || tt.pull && width == desk && height > deskScreen {
					t.Errorf("the description is %.0f high, and a screen %d; %v", height, deskScreen, err)
				}
				if got := p.tooWide(width); got != "" {
					t.Errorf("the page can be moved sideways: %s", got)
				}
				if got := p.reached(files[tt.file]); got != "" {
					t.Errorf("the page reaches out: %s", got)
				}
			})
		}
		p.t = t
	}
}

// asOnGitHub makes a page of a golden file that shows it as GitHub shows a comment, and returns its path. title says
// that a pull request's title is above the text.
func asOnGitHub(t *testing.T, name string, title bool) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(comments, name))
	noError(t, err)
	if title {
		_, text, _ = bytes.Cut(text, []byte("\n\n"))
	}
	return framed(t, text, "")
}

// framed makes a page that shows a text as GitHub shows a comment, below a header of HTML, and returns its path.
func framed(t *testing.T, text []byte, header string) string {
	t.Helper()
	// GitHub shows each end of a line in a comment, and the markup that the reports have.
	gfm := goldmark.New(goldmark.WithExtensions(extension.GFM),
		goldmark.WithRendererOptions(html.WithHardWraps(), html.WithUnsafe()))
	var body bytes.Buffer
	noError(t, gfm.Convert(text, &body))
	page :=
		`<!DOCTYPE html><meta charset="utf-8"><meta name="viewport" content="width=device-width"><link rel="icon" href="data:,"><title>x</title><style>` + githubStyle +
			`body { margin: 0 } main.markdown-body { box-sizing: border-box; max-width: 890px; margin: 0 auto; padding: 16px; border: 1px solid #d1d9e0; font-size: 14px }</style>
<main class="markdown-body">` + header + body.String() + `</main>`
	file := filepath.Join(openDir(t), "page.html")
	noError(t, os.WriteFile(file, []byte(page), 0o644))
	return file
}

// forget makes the tab one of another test, to which nothing has happened yet.
func (p *tab) forget(t *testing.T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.t, p.asked, p.said = t, nil, nil
}

// firstScreen is the text that stands above a height, on one line.
func (p *tab) firstScreen(height int) string {
	p.t.Helper()
	return p.asks(`(() => {
		const range = document.createRange();
		let text = '';
		for (const walk = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT); walk.nextNode();) {
			range.selectNodeContents(walk.currentNode);
			const at = range.getClientRects();
			if (at.length && at[at.length - 1].bottom <= ` + strconv.Itoa(height) + `) text += walk.currentNode.data;
		}
		return text.replace(/\s+/g, ' ');
	})()`)
}
