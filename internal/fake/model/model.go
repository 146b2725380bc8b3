// Package model is a small stand-in for a model, for tests that run a real agent CLI. It speaks four protocols, each in
// a file: Anthropic Messages, OpenAI Responses, OpenAI Chat Completions and Gemini.
package model

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
)

// Request is one request for an answer. It holds no credential.
type Request struct {
	Tools []string // the names of the tools it offered
	Body  string   // as it came
}

// Server plays a script. Which turn it answers with depends on the conversation alone: on how many turns of the model
// it holds. After the end of the script it repeats the last turn. URL is the base address: Anthropic's and Gemini's as
// it is, OpenAI's with /v1.
type Server struct {
	*httptest.Server
	Key     string    // the only credential that it takes; "" takes any
	ResetAt time.Time // until when a usage limit is reached: a whole hour, in one to two hours
	// Other is the script of a conversation that the body of a request tells from others, such as a review; nil, or for
	// none: the server's.
	Other func(body string) []Turn

	script []Turn
	closed chan struct{}

	mu       sync.Mutex
	requests []Request
	unknown  []string
}

// New starts a server on loopback. Close ends it.
func New(script ...Turn) *Server {
	s := &Server{script: script, closed: make(chan struct{}), ResetAt: time.Now().Truncate(time.Hour).Add(2 * time.Hour)}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	return s
}

// Close ends the server and every answer that hangs.
func (s *Server) Close() {
	close(s.closed)
	s.Server.Close()
}

// Requests lists the requests for answers so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Unknown lists what was asked that a model does not answer; a test should find none.
func (s *Server) Unknown() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.unknown)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
	if err != nil || r.Method == http.MethodHead { // is anyone there
		return
	}
	p, ok := route(r)
	if !ok {
		s.mu.Lock()
		s.unknown = append(s.unknown, r.Method+" "+r.URL.Path)
		s.mu.Unlock()
		reply(w, http.StatusNotFound, object{"error": object{"type": "not_found_error",
			"message": "a model has no " + r.URL.Path}})
		return
	}
	if p.count != "" {
		reply(w, http.StatusOK, object{p.count: len(body) / 4})
		return
	}
	q, err := readQuestion(body)
	if err != nil {
		reply(w, http.StatusBadRequest, object{"error": object{"type": "invalid_request_error", "message": err.Error()}})
		return
	}
	q.body = string(body)
	s.answer(w, r, p, q, s.record(r, &q))
}

// answer plays a turn; number is the request's, from 1.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, p protocol, q question, number int) {
	script := s.script
	if s.Other != nil {
		if other := s.Other(q.body); len(other) > 0 {
			script = other
		}
	}
	turn := script[min(q.said, len(script)-1)]
	if s.Key != "" && key(r) != s.Key {
		turn = Turn{Fail: Auth}
	}
	if turn.Fail != "" {
		f := p.fail(turn.Fail, s.ResetAt)
		for name, value := range f.headers {
			w.Header().Set(name, value)
		}
		reply(w, f.status, f.body)
		return
	}
	if len(q.tools) == 0 { // a title, a summary: nothing that the script is about
		turn = Turn{Text: aside(q)}
	}
	a := answer{id: fmt.Sprintf("%04d", number), model: q.model, text: turn.Text, end: turn.End}
	for i, tool := range turn.Tools {
		u, ok := tool.by(q.tools)
		if !ok {
			u, _ = tool.by(p.tools)
		}
		u.id = fmt.Sprintf("call_%s_%d", a.id, i)
		a.uses = append(a.uses, u)
	}
	if q.stream {
		s.stream(w, r, a.end, p.events(a))
	} else {
		s.mishap(w, r, a.end)
		reply(w, http.StatusOK, p.whole(a))
	}
}

// record notes a request and returns its number, from 1.
func (s *Server) record(r *http.Request, q *question) int {
	if q.model == "" { // Gemini names it in the path
		q.model, _, _ = strings.Cut(r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:], ":")
		q.stream = strings.HasSuffix(r.URL.Path, ":streamGenerateContent")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, Request{q.tools, q.body})
	return len(s.requests)
}

// key is the credential that a request carries.
func key(r *http.Request) string {
	return cmp.Or(r.Header.Get("X-Api-Key"), r.Header.Get("X-Goog-Api-Key"),
		strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
}
