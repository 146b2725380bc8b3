//go:build e2e

package e2e_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/ralph-loop/ralph/internal/fake/webpages"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
)

// serve answers with the sample's pages as olga sees them; breaks cuts the streams and refuses new ones, or lets them
// be again.
func serve(t *testing.T) (world *webpages.World, address string, breaks func(bool)) {
	t.Helper()
	world = webpages.Sample(t)
	var broken atomic.Bool
	world.Let("olga", webpages.Demo, web.MayWrite)
	world.Let("olga", "acme/outside", web.MaySeeRuns)
	world.Put(web.Run{Shown: web.Shown{Branch: "ralph/issue-7", Pull: 9},
		Run: store.Run{ID: "run-8", Repository: "acme/outside", Title: "Add it", Person: "alice", State: web.Running}})
	session := world.Enter("olga")
	var pages *web.Server
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.AddCookie(&http.Cookie{Name: "ralph", Value: session})
		if broken.Load() && strings.HasSuffix(r.URL.Path, "/live") {
			http.Error(w, "gone for a moment", http.StatusBadGateway)
			return
		}
		pages.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	public, err := url.Parse(server.URL)
	noError(t, err)
	o := world.Options(public)
	o.Clock = func() time.Time { return webpages.Now }
	if pages, err = web.New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pages.Close)
	return world, server.URL, func(now bool) {
		broken.Store(now)
		pages.Close()
	}
}

// Every page of the server on a desk and on a phone, by day and by night: readable, and within its policy.
func TestServerInABrowser(t *testing.T) {
	t.Parallel()
	_, address, _ := serve(t)
	browser := startBrowser(t)
	for _, path := range []string{"/", "/runs/run-3", "/runs/run-1", "/runs/run-6", "/runs/run-4", "/runs/run-5", "/runs/run-8", "/repositories",
		"/repositories/acme/demo", "/repositories/acme/outside", "/deliveries", "/deliveries/delivery-1", "/spend", "/audit", "/setup", "/nothing",
		"/setup/code"} {
		t.Run(path, func(t *testing.T) {
			p := open(t, browser, os.DevNull)
			p.do(chromedp.Navigate(address + path))
			for _, width := range []int64{360, 1200} {
				for _, scheme := range []string{"light", "dark"} {
					p.look(width, scheme)
					for what, got := range map[string]string{"the page can be moved sideways": p.tooWide(width),
						"hard to read": p.tooPale()} {
						if got != "" {
							t.Errorf("%s at a width of %d, %s: %s", what, width, scheme, got)
						}
					}
				}
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			for _, said := range p.said {
				if !strings.Contains(said, "404") || path != "/nothing" {
					t.Errorf("the browser says %q", said)
				}
			}
		})
	}
}

// What a run prints appears by itself, and a stream that breaks goes on without loss and without anything twice.
func TestLiveRunInABrowser(t *testing.T) {
	t.Parallel()
	world, address, breaks := serve(t)
	p := open(t, startBrowser(t), os.DevNull)
	p.do(chromedp.Navigate(address + "/runs/run-3"))
	printed := func(n int) string {
		return fmt.Sprintf(`document.getElementById('output').textContent.includes('piece %d\n')`, n)
	}
	for i := range 5 {
		world.Print("run-3", fmt.Sprintf("piece %d\n", i))
	}
	p.waits(printed(4))
	breaks(true)
	for i := 5; i < 10; i++ {
		world.Print("run-3", fmt.Sprintf("piece %d\n", i))
	}
	p.waits(`document.getElementById('live-state').textContent.startsWith('Connection lost')`)
	breaks(false)
	for i := 10; i < 15; i++ {
		world.Print("run-3", fmt.Sprintf("piece %d\n", i))
	}
	p.waits(printed(14))
	want := "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14"
	text := `document.getElementById('output').textContent`
	if got := p.asks(`[...` + text + `.matchAll(/piece (\d+)/g)].map((m) => m[1]).join()`); got != want {
		t.Errorf("the page shows the pieces %s", got)
	}
	p.do(chromedp.Focus(chromedp.ID("main"))) // with the keyboard alone: to the first button, and what is behind it
	for range 30 {
		if p.asks(`document.activeElement.textContent`) == "Stop …" {
			break
		}
		p.press("\t")
	}
	p.press("\r")
	p.press("\t")
	p.press("\r")
	for late := time.Now().Add(4 * time.Minute); len(world.Done()) == 0 && time.Now().Before(late); {
		time.Sleep(20 * time.Millisecond)
	}
	if done := world.Done(); len(done) != 1 || done[0].Kind != web.Stop || done[0].By.Login != "olga" {
		t.Errorf("the keyboard did %+v", done)
	}
}

// waits waits until an expression is true on the page.
func (p *tab) waits(expression string) {
	p.t.Helper()
	got := p.asks(`new Promise((tell) => {
		const late = Date.now() + 60000;
		const look = () => (` + expression + `) ? tell('yes') : Date.now() > late ? tell('no') : setTimeout(look, 50);
		look();
	})`)
	if got != "yes" {
		p.t.Fatalf("it does not come: %s", expression)
	}
}
