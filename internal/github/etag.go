package github

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
)

// etags remembers answers by their ETag: GitHub does not count a call of the hourly limit whose answer has not changed
// since. Only reads of a context that conditional made are remembered.
type etags struct {
	next  http.RoundTripper
	mu    sync.Mutex
	known map[string]*remembered // by address and requested format
}

type remembered struct {
	etag   string
	header http.Header
	body   []byte
}

// What is remembered: answers, and bytes of one.
const (
	mostRemembered     = 64
	mostRememberedBody = 4 << 20
)

type pollKey struct{}

// conditional is a context for reads that are repeated.
func conditional(ctx context.Context) context.Context { return context.WithValue(ctx, pollKey{}, true) }

func (e *etags) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodGet || req.Context().Value(pollKey{}) == nil {
		return e.next.RoundTrip(req)
	}
	key := req.Header.Get("Accept") + " " + req.URL.String()
	e.mu.Lock()
	before := e.known[key]
	e.mu.Unlock()
	if before != nil {
		req = req.Clone(req.Context())
		req.Header.Set("If-None-Match", before.etag)
	}
	resp, err := e.next.RoundTrip(req)
	switch {
	case err != nil:
		return nil, err
	case resp.StatusCode == http.StatusNotModified && before != nil:
		return before.again(resp), nil
	case resp.StatusCode == http.StatusOK && resp.Header.Get("ETag") != "":
		if err := e.remember(key, resp); err != nil {
			return nil, err
		}
	}
	return resp, nil
}

// again is the answer that has not changed, with what the new one says of rate limits.
func (r *remembered) again(resp *http.Response) *http.Response {
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // so that the connection can be used again
	_ = resp.Body.Close()
	header := r.header.Clone()
	for name, values := range resp.Header {
		if name != "Content-Length" && name != "Content-Type" {
			header[name] = values
		}
	}
	resp.StatusCode, resp.Status = http.StatusOK, strconv.Itoa(http.StatusOK)+" "+http.StatusText(http.StatusOK)
	resp.Header, resp.Body, resp.ContentLength = header, io.NopCloser(bytes.NewReader(r.body)), int64(len(r.body))
	return resp
}

// remember reads an answer and keeps it; one that is too long is only passed on.
func (e *etags) remember(key string, resp *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, mostRememberedBody+1))
	if err != nil {
		_ = resp.Body.Close()
		return fmt.Errorf("reading the answer: %w", err)
	}
	if len(body) > mostRememberedBody {
		resp.Body = &longBody{io.MultiReader(bytes.NewReader(body), resp.Body), resp.Body}
		return nil
	}
	_ = resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(body))
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.known == nil || len(e.known) >= mostRemembered {
		e.known = map[string]*remembered{}
	}
	e.known[key] = &remembered{etag: resp.Header.Get("ETag"), header: resp.Header.Clone(), body: body}
	return nil
}

type longBody struct {
	io.Reader
	io.Closer
}
