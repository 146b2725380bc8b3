//go:build e2e

package e2e_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/chromedp/chromedp"
)

// pages are the report's, and comments what is posted on GitHub, as their own tests hold them.
const (
	pages    = "../report/html/testdata/golden"
	comments = "../report/testdata/golden"
)

// The report as people open it: on a desk and on a phone, by day and by night.
func TestReportInABrowser(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	for _, name := range []string{"html-done.html", "html-capped.html", "html-plan.html", "html-hostile.html"} {
		file, err := filepath.Abs(filepath.Join(pages, name))
		noError(t, err)
		t.Run(name, func(t *testing.T) {
			p := open(t, browser, file)
			for _, width := range []int64{360, 1200} {
				for _, scheme := range []string{"light", "dark"} {
					p.look(width, scheme)
					p.holds(width, file)
				}
			}
		})
	}
}

// A search shows what it found, counts it, hides the rest, and leaves everything as it was.
func TestSearchInTheReport(t *testing.T) {
	t.Parallel()
	file, err := filepath.Abs(filepath.Join(pages, "html-done.html"))
	noError(t, err)
	p := open(t, startBrowser(t), file)
	p.look(360, "light")
	before := p.asks(`[...document.querySelectorAll('details')].map((d) => d.open).join()`)
	for _, c := range []struct{ typed, says, iterations string }{
		{"hello!", "5 matches, in 2 of 3 iterations.", "2,1"},
		{"ITOA", "No matches.", ""},
		{"json flag", "1 match, in 1 of 3 iterations.", "2"},
		{"return \"hello", "1 match, in 1 of 3 iterations.", "2"},
		{".*", "No matches.", ""},
		{"x", "Type one more letter.", "3,2,1"},
	} {
		p.types(c.typed)
		p.waits(`document.getElementById('found').textContent.endsWith(` + strconv.Quote(c.says) + `)`)
		if got := p.asks(
			`[...document.querySelectorAll('details.iteration:not([hidden])')].map((d) => d.id.slice(10)).join()`); got != c.iterations {
			t.Errorf("the search for %q shows the iterations %q, want %q", c.typed, got, c.iterations)
		}
		if hidden := p.asks(
			`String([...document.querySelectorAll('mark')].filter((m) => !m.getClientRects().length).length)`); hidden != "0" {
			t.Errorf("%s matches of %q cannot be seen", hidden, c.typed)
		}
		p.holds(360, file)
	}
	p.types("hello!")
	p.waits(`document.querySelectorAll('mark').length > 2`)
	p.press("\r")
	p.waits(`document.querySelectorAll('mark.now').length == 1 && document.getElementById('found').textContent.startsWith('Match 1 of')`)
	p.press("\x1b")
	p.waits(`!document.querySelector('mark') && document.getElementById('query').value == ''`)
	if after := p.asks(`[...document.querySelectorAll('details')].map((d) => d.open).join()`); after != before {
		t.Errorf("what was open before the search was %s, and is %s after it", before, after)
	}
	p.holds(360, file)
}

// startBrowser starts one, or the test is not run.
func startBrowser(t *testing.T) context.Context {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("left out: no browser is here: apt-get install chromium, or any Chrome")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.DisableGPU)
	all, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, stop := chromedp.NewContext(all)
	t.Cleanup(stop)
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		t.Fatalf("starting %s: %v", path, err)
	}
	return ctx
}
