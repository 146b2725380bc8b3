//go:build e2e

package e2e_test

import (
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// pages are the report's, and comments what is posted on GitHub, as their own tests hold them.
const (
	pages    = "../report/html/testdata/golden"
	comments = "../report/testdata/golden"
)

// The report as people open it: on a desk and on a phone, by day and by night, and with no script at all. With
// RALPH_E2E_SHOTS=DIR it leaves pictures there.
func TestReportInABrowser(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	for _, name := range []string{"html-done.html", "html-capped.html", "html-plan.html", "html-hostile.html"} {
		file, err := filepath.Abs(filepath.Join(pages, name))
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			p := open(t, browser, file)
			for _, width := range []int64{360, 1200} {
				for _, scheme := range []string{"light", "dark"} {
					p.look(width, scheme)
					p.holds(width, file)
					p.picture(name, width, scheme)
				}
			}
		})
	}
}

// A search shows what it found, counts it, hides the rest, and leaves everything as it was.
func TestSearchInTheReport(t *testing.T) {
	t.Parallel()
	file, err := filepath.Abs(filepath.Join(pages, "html-done.html"))
	if err != nil {
		t.Fatal(err)
	}
	p := open(t, startBrowser(t), file)
	p.look(360, "light")
	before := p.asks(`[...document.querySelectorAll('details')].map((d) => d.open).join()`)
	for _, c := range []struct{ typed, says, iterations string }{
		{"hello!", "6 matches, in 2 of 3 iterations.", "2,1"},
		{"ITOA", "No matches.", ""},
		{"json flag", "1 match, in 1 of 3 iterations.", "2"},
		{"Sprintf(\"hello", "2 matches, in 2 of 3 iterations.", "2,1"},
		{".*", "No matches.", ""},
		{"x", "Type one more letter.", "3,2,1"},
	} {
		p.types(c.typed)
		p.until(`document.getElementById('found').textContent.endsWith(`+strconv.Quote(c.says)+`)`,
			"the search for "+c.typed+" says it")
		if got := p.asks(
			`[...document.querySelectorAll('details.iteration:not([hidden])')].map((d) => d.id.slice(10)).join()`); got != c.iterations {
			t.Errorf("the search for %q shows the iterations %q, want %q", c.typed, got, c.iterations)
		}
		if hidden := p.asks(
			`String([...document.querySelectorAll('mark')].filter((m) => !m.getClientRects().length).length)`); hidden != "0" {
			t.Errorf("%s matches of %q cannot be seen", hidden, c.typed)
		}
		p.holds(360, file)
		p.picture("search-"+url.PathEscape(c.typed), 360, "light")
	}
	p.types("hello!")
	p.until(`document.querySelectorAll('mark').length > 2`, "marks")
	p.press("\r")
	p.until(
		`document.querySelectorAll('mark.now').length == 1 && document.getElementById('found').textContent.startsWith('Match 1 of')`, "Enter leads to the first match")
	p.press("\x1b")
	p.until(`!document.querySelector('mark') && document.getElementById('query').value == ''`, "Escape ends the search")
	if after := p.asks(`[...document.querySelectorAll('details')].map((d) => d.open).join()`); after != before {
		t.Errorf("what was open before the search was %s, and is %s after it", before, after)
	}
	p.holds(360, file)
}

// Without its script the report says the same.
func TestReportWithoutScript(t *testing.T) {
	t.Parallel()
	file, err := filepath.Abs(filepath.Join(pages, "html-done.html"))
	if err != nil {
		t.Fatal(err)
	}
	p := open(t, startBrowser(t), file,
		order(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}))
	p.look(360, "light")
	html, err := chromedp.Run(p.ctx, chromedp.Text(chromedp.CSS("main")))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"What to look at first", "Timeline", "Iteration 3", "Iteration 1", "What was asked"} {
		if !strings.Contains(html, want) {
			t.Errorf("%q cannot be read without the script", want)
		}
	}
	p.picture("no-script", 360, "light")
}

// The judges of the other tests can themselves say no.
func TestBrowserJudges(t *testing.T) {
	t.Parallel()
	file := filepath.Join(openDir(t), "bad.html")
	bad :=
		`<meta name="viewport" content="width=device-width"><meta http-equiv="Content-Security-Policy" content="default-src 'none'">
<p style="color: #aaa">pale</p><details><summary>x</summary><pre>` + strings.Repeat("wide", 100) + `</pre></details><img src="https://127.0.0.1:9/x.png"><script>document.title = 'ran'</script>`
	if err := os.WriteFile(file, []byte(bad), 0o644); err != nil {
		t.Fatal(err)
	}
	p := open(t, startBrowser(t), file)
	p.look(360, "light")
	if got := p.tooWide(360); !strings.Contains(got, "true") {
		t.Errorf("a page that is too wide passes: %q", got)
	}
	if got := p.reached(file); !strings.Contains(got, "x.png") || !strings.Contains(got, "script") {
		t.Errorf("a page that reaches out passes: %q", got)
	}
	if got := p.asks(`document.title`); got != "" {
		t.Errorf("a script that is forbidden ran: %q", got)
	}
	p.asks(`document.querySelector('p').style.color = '#aaa', ''`)
	if got := p.tooPale(); !strings.HasPrefix(got, "P. 2.") {
		t.Errorf("text that is too pale passes: %q", got)
	}
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
