package gateway

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
)

// begin sends a request and returns its answer as soon as that begins.
func begin(t *testing.T, ctx context.Context, turn *Turn, path, body string) *http.Response {
	t.Helper()
	r := must(http.NewRequestWithContext(ctx, "POST", turn.URL()+path, strings.NewReader(body)))
	r.Header.Set("x-api-key", turn.Bearer())
	answer := must((&http.Transport{DisableKeepAlives: true}).RoundTrip(r))
	t.Cleanup(func() { _ = answer.Body.Close() })
	return answer
}

// dripping is a provider that says a piece whenever more is asked for, and tells when it is left.
func dripping(t *testing.T) (p *provider, more chan string, left chan struct{}) {
	t.Helper()
	more, left = make(chan string), make(chan struct{}, 100)
	p = newProvider(t, func(w http.ResponseWriter, r *http.Request) {
		defer func() { left <- struct{}{} }()
		for {
			select {
			case piece, ok := <-more:
				if !ok {
					return
				}
				_, _ = io.WriteString(w, piece)
				_ = http.NewResponseController(w).Flush()
			case <-r.Context().Done():
				return
			}
		}
	})
	return p, more, left
}

// TestDrops: each piece of an answer is passed on before the next one is made, and what it says is counted at once.
func TestDrops(t *testing.T) {
	t.Parallel()
	p, more, _ := dripping(t)
	turn := opened(t, p, nil)
	go func() { more <- ":\n\n" }()
	answer := begin(t, t.Context(), turn, messages, `{"model":"opus"}`)
	read := bufio.NewReader(answer.Body)
	for _, piece := range []string{":\n", "\n"} {
		if line, err := read.ReadString('\n'); line != piece || err != nil {
			t.Fatal(line, err)
		}
	}
	for i, piece := range []string{"data: {}\n", "\n", messageStart, messageText, messageEnd} {
		more <- piece
		got := make([]byte, len(piece))
		if _, err := io.ReadFull(read, got); err != nil || string(got) != piece {
			t.Fatalf("%q, %v", got, err)
		}
		used, asked := turn.Usage()
		if !asked || used.Output != []int64{0, 0, 1, 1, 42}[i] {
			t.Errorf("after %d pieces: %+v", i+1, used)
		}
	}
	close(more)
	if _, err := io.ReadAll(read); err != nil {
		t.Error(err)
	}
}

// TestCut: a client that goes takes the request to the provider with it, and what was not said of it is estimated.
func TestCut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, path, said string
		want             loop.Usage
	}{
		{"after the beginning", messages, messageStart + messageText + messageText,
			loop.Usage{Input: 10, CacheRead: 5, CacheWrite: 3, Output: 6}},
		{"before anything was said", messages, "",
			loop.Usage{Input: 4}},
		{"after all was said", messages, messageStart + messageText + messageEnd,
			loop.Usage{Input: 10, CacheRead: 5, CacheWrite: 3, Output: 42}},
		{"nothing said", response, `data: {"type":"response.output_text.delta","delta":"eight by"}` + "\n\n",
			loop.Usage{Input: 4, Output: 2}},
		{"said until then", generate, `data: {"text":"` + strings.Repeat("x", 40) + `","usageMetadata":` +
			`{"promptTokenCount":9,"candidatesTokenCount":3}}` + "\n\n",
			loop.Usage{Input: 9, Output: 10}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, more, left := dripping(t)
			turn := opened(t, p, func(o *Options, _ *Upstream) { o.Prices = Prices{Models: map[string]Price{}} })
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.said == "" {
				go func() {
					for len(p.requests()) == 0 {
						time.Sleep(time.Millisecond)
					}
					cancel()
				}()
				r := must(http.NewRequestWithContext(ctx, "POST", turn.URL()+c.path, strings.NewReader(`{"model":"opus"}`)))
				r.Header.Set("x-api-key", turn.Bearer())
				if answer, err := (&http.Transport{}).RoundTrip(r); err == nil {
					_ = answer.Body.Close()
					t.Error("it was answered")
				}
			} else {
				go func() { more <- c.said }()
				answer := begin(t, ctx, turn, c.path, `{"model":"opus"}`)
				if _, err := io.ReadFull(answer.Body, make([]byte, len(c.said))); err != nil {
					t.Fatal(err)
				}
			}
			cancel()
			<-left
			if err := turn.Close(); err != nil { // which waits for what is being counted
				t.Error(err)
			}
			if got, asked := turn.Usage(); !asked || got != c.want {
				t.Errorf("%+v\nwant %+v", got, c.want)
			}
		})
	}
}

// TestSilentProvider: an answer of which nothing comes any more is cut.
func TestSilentProvider(t *testing.T) {
	t.Parallel()
	p, more, left := dripping(t)
	soon := usual
	soon.idle = 10 * time.Millisecond
	turn := must(open(Options{Upstreams: map[string]Upstream{"": p.upstream(t)}}, soon))
	defer turn.Close()
	go func() { more <- messageStart }()
	answer := begin(t, t.Context(), turn, messages, "{}")
	if _, err := io.ReadAll(answer.Body); err == nil {
		t.Error("an answer that was cut looks whole")
	}
	<-left
}

// TestClose: what runs is cut, nothing is carried afterwards, and nothing stays.
func TestClose(t *testing.T) {
	const running = 8
	left := make(chan struct{}, running)
	p := newProvider(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, messageStart)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		left <- struct{}{}
	})
	before := goroutines()
	turn := opened(t, p, nil)
	var bodies []io.Reader
	for range running {
		bodies = append(bodies, begin(t, t.Context(), turn, messages, "{}").Body)
	}
	idle := must((&http.Transport{}).RoundTrip(must(http.NewRequest("GET", turn.URL()+"/", nil)))) // stays open
	_ = idle.Body.Close()
	if err := turn.Close(); err != nil {
		t.Fatal(err)
	}
	for _, body := range bodies {
		if _, err := io.ReadAll(body); err == nil {
			t.Error("an answer that was cut looks whole")
		}
	}
	for range running {
		<-left
	}
	if answer, err := http.Post(turn.URL()+messages, "", strings.NewReader("{}")); err == nil {
		_ = answer.Body.Close()
		t.Error("it still listens")
	}
	if used, _ := turn.Usage(); used.Input != 10*running {
		t.Errorf("%+v", used)
	}
	for deadline := time.Now().Add(20 * time.Second); ; runtime.Gosched() { // connections end a moment later
		now := goroutines()
		if len(now) <= len(before) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("goroutines stay:\n%s", bytes.Join(now, []byte("\n\n")))
		}
		time.Sleep(time.Millisecond)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// goroutines are those of this package that belong to a gateway or its provider connections.
func goroutines() [][]byte {
	buf := make([]byte, 8<<20)
	var ours [][]byte
	for _, one := range bytes.Split(buf[:runtime.Stack(buf, true)], []byte("\n\n")) {
		if bytes.Contains(one, []byte("internal/gateway.")) && !bytes.Contains(one, []byte("_test.go")) ||
			bytes.Contains(one, []byte("gateway.open")) {
			ours = append(ours, one)
		}
	}
	return ours
}
