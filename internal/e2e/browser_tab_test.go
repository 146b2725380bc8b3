//go:build e2e

package e2e_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// tab is one page in the browser.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu    sync.Mutex
	asked []string // addresses that the page has asked for
	said  []string // what the browser complained of
}

func open(t *testing.T, browser context.Context, where string, before ...chromedp.Action[chromedp.Void]) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	ctx, done := context.WithTimeout(ctx, 8*time.Minute)
	t.Cleanup(done)
	p := &tab{t: t, ctx: ctx}
	noError(t, chromedp.Listen(ctx, p.hears))
	p.do(order(network.Enable, network.EnableParams{}), order(cdplog.Enable, cdp.Empty{}))
	p.do(before...)
	p.do(chromedp.Navigate("file://" + where))
	return p
}

// order is a command to the page, of which only matters that it was obeyed.
func order[P any](command cdp.Command[P, cdp.Empty], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, page *chromedp.Target) error {
		_, err := cdp.Call(ctx, page, command, params)
		return err
	})
}

func (p *tab) hears(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		p.asked = append(p.asked, e.Request.URL)
	case *cdplog.EventEntryAdded:
		p.said = append(p.said, e.Entry.Text)
	}
}

func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	noError(p.t, chromedp.Do(p.ctx, steps...))
}

// asks is the text that an expression of JavaScript gives on the page.
func (p *tab) asks(expression string) string {
	p.t.Helper()
	got, err := chromedp.Run(p.ctx, chromedp.Evaluate[string](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return got
}

// look gives the page a window and a time of day.
func (p *tab) look(width int64, scheme string) {
	p.t.Helper()
	feature := &emulation.MediaFeature{Name: "prefers-color-scheme", Value: scheme}
	var options []chromedp.EmulateViewportOption
	if width < 600 {
		options = append(options, chromedp.EmulateMobile, chromedp.EmulateTouch, chromedp.EmulatePortrait)
	}
	p.do(chromedp.EmulateViewport(width, 740, options...),
		order(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{feature}}))
}

// types puts a text into the field of the search, as if it was typed anew.
func (p *tab) types(text string) {
	p.t.Helper()
	p.do(chromedp.Focus(chromedp.ID("query")))
	p.asks(`document.getElementById('query').select(), ''`)
	p.do(chromedp.KeyEvent(text))
}

func (p *tab) press(key string) {
	p.t.Helper()
	p.do(chromedp.KeyEvent(key))
}

// tooWide says what makes the page one that can be moved sideways, folded and unfolded; "" when nothing does.
func (p *tab) tooWide(width int64) string {
	p.t.Helper()
	return p.asks(`(() => {
		const width = ` + strconv.FormatInt(width, 10) + `;
		const folds = [...document.querySelectorAll('details')], left = folds.map((d) => d.open);
		const wide = () => document.documentElement.scrollWidth > width;
		const is = [wide()];
		for (const d of folds) d.open = true;
		is.push(wide());
		const out = [...document.querySelectorAll('body *')].filter((e) => e.getBoundingClientRect().right > width + 1 && !e.closest('pre, table, .skip, svg'));
		folds.forEach((d, i) => { d.open = left[i]; });
		return is.join() === 'false,false' ? '' : is.join() + ' ' + out.slice(0, 5).map((e) => e.tagName + '.' + e.className).join(' ');
	})()`)
}

// tooPale names text that stands out from its ground by less than 4.5 to 1, which WCAG asks for at level AA; "" when
// there is none.
func (p *tab) tooPale() string {
	p.t.Helper()
	return p.asks(`(() => {
		const parts = (c) => c.match(/[\d.]+/g).map(Number);
		const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
			.reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
		const ground = (e) => {
			for (; e; e = e.parentElement) {
				const c = parts(getComputedStyle(e).backgroundColor);
				if (c.length < 4 || c[3] === 1) return c;
			}
			return matchMedia('(prefers-color-scheme: dark)').matches ? [0, 0, 0] : [255, 255, 255];
		};
		const poor = new Set();
		const folds = [...document.querySelectorAll('details')], left = folds.map((d) => d.open);
		for (const d of folds) d.open = true;
		for (const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT); walk.nextNode();) {
			const e = walk.currentNode.parentElement;
			if (!walk.currentNode.data.trim() || !e.getClientRects().length || e.closest('script, svg')) continue;
			const [a, b] = [light(parts(getComputedStyle(e).color)), light(ground(e))].sort((x, y) => y - x);
			const ratio = (a + 0.05) / (b + 0.05);
			if (ratio < 4.5) poor.add(e.tagName + '.' + e.className + ' ' + ratio.toFixed(2));
		}
		folds.forEach((d, i) => { d.open = left[i]; });
		return [...poor].slice(0, 10).join(', ');
	})()`)
}

// reached says what the page has asked for besides itself, and what the browser complained of: scripts and addresses
// that the page's policy forbids among it; "" when nothing.
func (p *tab) reached(file string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	asked := slices.DeleteFunc(slices.Clone(p.asked), func(url string) bool { return url == "file://"+file })
	return strings.Join(slices.Concat(asked, p.said), "\n")
}

// holds complains of a page that is too wide or too pale, or reaches out.
func (p *tab) holds(width int64, file string) {
	p.t.Helper()
	for what, got := range map[string]string{"the page can be moved sideways": p.tooWide(width),
		"hard to read": p.tooPale(), "the page reaches out": p.reached(file)} {
		if got != "" {
			p.t.Errorf("%s at a width of %d: %s", what, width, got)
		}
	}
}
