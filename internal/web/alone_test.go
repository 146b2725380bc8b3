package web_test

import (
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/webpages"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
)

// alone shows one run of a world, in a directory of a person.
type alone struct{ *webpages.World }

func (a alone) Run(ctx context.Context, id string) (store.Run, error) {
	run, err := a.World.Run(ctx, "run-3")
	run.ID, run.Repository = web.AloneRun, "issue-42"
	if id != web.AloneRun {
		err = store.ErrNotFound
	}
	return run, err
}

func (a alone) Records(ctx context.Context, _ string, after int64, limit int) ([]store.Record, error) {
	return a.World.Records(ctx, "run-3", after, limit)
}

// TestOneRunForOneBrowser: the page of a run on a laptop is there for whoever opens its address first.
func TestOneRunForOneBrowser(t *testing.T) {
	var pages *web.Alone
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		pages.ServeHTTP(w, r)
	}))
	defer server.Close()
	public := must[*url.URL](t)(url.Parse(server.URL))
	world := webpages.Sample(t)
	pages = must[*web.Alone](t)(web.NewAlone(public, alone{world}))
	jar := must[*cookiejar.Jar](t)(cookiejar.New(nil))
	browser := &http.Client{Jar: jar}
	get := func(client *http.Client, address string) (int, string) {
		got := must[*http.Response](t)(client.Get(address))
		defer got.Body.Close()
		text := must[[]byte](t)(io.ReadAll(got.Body))
		return got.StatusCode, string(text)
	}
	for range 2 { // the same browser comes in again
		status, page := get(browser, pages.Enter())
		if status != http.StatusOK || !strings.Contains(page, "run/live") || strings.Contains(page, "<form") {
			t.Errorf("%d %.300s", status, page)
		}
	}
	if status, text := get(browser, server.URL+"/runs/run/output.txt"); status != http.StatusOK || text == "" {
		t.Errorf("what was printed: %d", status)
	}
	for _, path := range []string{"/enter", "/enter?token=", "/", "/runs/run", "/runs/run/live",
		"/runs/run/output.txt"} {
		if status, _ := get(http.DefaultClient, server.URL+path); status != http.StatusNotFound {
			t.Errorf("%s answers anybody: %d", path, status)
		}
	}
	if status, _ := get(http.DefaultClient, pages.Enter()); status != http.StatusNotFound {
		t.Errorf("the address opens twice: %d", status)
	}
	pages.Finish()
	_, text := get(browser, server.URL+"/runs/run/live?after=1")
	if !strings.HasSuffix(text, "event: over\ndata: over\n\n") {
		t.Errorf("the stream ends with %q", text[max(0, len(text)-100):])
	}
}
