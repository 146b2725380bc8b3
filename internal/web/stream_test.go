package web_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/fake/webpages"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
)

// follows reads a stream line by line; the channel is closed when it ends.
func (s *site) follows(login, path string, edit func(*http.Request)) <-chan string {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	s.t.Cleanup(cancel)
	r := must[*http.Request](s.t)(http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, http.NoBody))
	r.AddCookie(&http.Cookie{Name: "ralph", Value: s.world.Enter(login)})
	if edit != nil {
		edit(r)
	}
	got := must[*http.Response](s.t)(http.DefaultClient.Do(r))
	if got.StatusCode != http.StatusOK || got.Header.Get("Content-Type") != "text/event-stream" {
		s.t.Fatalf("%d %s", got.StatusCode, got.Header.Get("Content-Type"))
	}
	lines := make(chan string, 10_000)
	go func() {
		defer close(lines)
		defer got.Body.Close()
		for in := bufio.NewScanner(got.Body); in.Scan(); {
			lines <- in.Text()
		}
	}()
	return lines
}

// until reads lines up to one that holds a text, or, with "", to the end of the stream.
func until(t *testing.T, lines <-chan string, text string) (read []string) {
	t.Helper()
	late := time.After(time.Minute)
	for {
		select {
		case line, ok := <-lines:
			if read = append(read, line); !ok && text == "" || ok && text != "" && strings.Contains(line, text) {
				return read
			} else if !ok {
				t.Fatalf("the stream ended before %q: %q", text, read)
			}
		case <-late:
			t.Fatalf("no %q: %q", text, read)
		}
	}
}

// TestStreamGoesOnWhereThePageEnds: what is new comes once each, whether after the page or after the last event.
func TestStreamGoesOnWhereThePageEnds(t *testing.T) {
	s := open(t, nil)
	w := s.world
	const id = "run-new"
	w.Put(web.Run{Run: store.Run{ID: id, Repository: webpages.Demo, Title: "New", State: web.Queued}})
	script := sample.Begin(nil)
	w.Facts(id, script.Records...) // records 1 and 2
	w.Print(id, "printed 3\n")
	lines := s.follows("bob", "/runs/"+id+"/live?after=2", nil)
	if read := until(t, lines, "printed 3"); slices.Contains(read, "id: 2") {
		t.Errorf("what the page has came again: %q", read)
	}
	w.Print(id, "printed 4\n")
	until(t, lines, "printed 4")
	before := len(script.Records)
	script.Iterate(1, loop.Implement, "I did it.", sample.Pass("claim"))
	w.Facts(id, script.Records[before:]...)
	read := strings.Join(until(t, lines, `id="iteration-1"`), "\n")
	if !strings.Contains(read, `hx-target="#run-head"`) || !strings.Contains(read, `hx-target="#run-iterations"`) {
		t.Errorf("a new iteration: %s", read)
	}
	again := s.follows("bob", "/runs/"+id+"/live?after=2", func(r *http.Request) { r.Header.Set("Last-Event-ID", "3") })
	if read := strings.Join(until(t, again, "printed 4"), "\n"); strings.Contains(read, "printed 3") {
		t.Errorf("what the browser has came again: %s", read)
	}
	beyond := s.follows("bob", "/runs/"+id+"/live?after=2", func(r *http.Request) {
		r.Header.Set("Last-Event-ID", "9223372036854775807") // of a database that a backup has replaced
	})
	until(t, beyond, "retry")
	w.Print(id, "printed at last\n")
	until(t, beyond, "printed at last")
}

// TestStreamEndsWithAccess: neither somebody who has signed out nor somebody who has lost access reads on.
func TestStreamEndsWithAccess(t *testing.T) {
	t.Cleanup(web.Pace(10*time.Millisecond, 20*time.Millisecond, 10*time.Millisecond))
	s := open(t, func(o *web.Options) { o.Clock = time.Now })
	out := s.follows("bob", "/runs/run-3/live?after=1", nil)
	until(t, out, ": still here")
	if got, _ := s.asks("bob", "POST", "/sign-out", "", nil); got.StatusCode != http.StatusSeeOther {
		t.Fatalf("%d", got.StatusCode)
	}
	until(t, out, "")
	out = s.follows("bob", "/runs/run-3/live?after=1", nil)
	until(t, out, ": still here")
	if got, _ := s.asks("bob", "POST", "/sign-out", "everywhere=yes", nil); got.StatusCode != http.StatusSeeOther { // in another browser
		t.Fatalf("%d", got.StatusCode)
	}
	until(t, out, "")
	out = s.follows("bob", "/runs/run-3/live?after=1", nil)
	until(t, out, ": still here")
	_ = s.world.End(t.Context(), s.world.Enter("bob"), true) // the session has expired
	until(t, out, "")
	out = s.follows("alice", "/runs/run-3/live?after=1", nil)
	s.pages.Close()
	until(t, out, "")
}

// TestSlowReaderHoldsNothingUp: somebody who reads nothing is dropped, and others read on meanwhile.
func TestSlowReaderHoldsNothingUp(t *testing.T) {
	s := open(t, nil)
	conn := must[net.Conn](t)(net.Dial("tcp", strings.TrimPrefix(s.url, "http://")))
	defer conn.Close()
	fmt.Fprintf(conn, "GET /runs/run-3/live HTTP/1.1\r\nHost: %s\r\nCookie: ralph=%s\r\n\r\n",
		strings.TrimPrefix(s.url, "http://"), s.world.Enter("alice"))
	lines := s.follows("bob", "/runs/run-3/live?after=1", nil)
	for i := range 300 {
		s.world.Print("run-3", strings.Repeat("x", 30_000)+fmt.Sprintf("\npiece %d\n", i))
	}
	until(t, lines, "piece 299")
}

// TestLongRunIsShown: a run of ten thousand records is a page of bounded size.
func TestLongRunIsShown(t *testing.T) {
	s := open(t, nil)
	webpages.Long(s.world, "run-long", 10_000)
	s.asks("bob", "GET", "/runs/run-3", "", nil) // templates are made
	got, text := s.asks("bob", "GET", "/runs/run-long", "", nil)
	if got.StatusCode != http.StatusOK || !strings.Contains(text, "after=10000") {
		t.Fatalf("%d", got.StatusCode)
	}
	if len(text) > 4<<20 {
		t.Errorf("the page has %d bytes", len(text))
	}
}
