// Package model is a small stand-in for a model that speaks the Anthropic Messages protocol, for tests that run a real agent CLI.
package model

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// Turn is what the model answers once.
type Turn struct {
	Text   string
	Tools  []Tool
	Status int // an HTTP error instead of an answer: 401, 529
}

// Tool is one use of a tool that the model asks for.
type Tool struct {
	Name  string // "Write", "Bash"
	Input map[string]any
}

// Write asks for a file to be written.
func Write(path, content string) Tool {
	return Tool{"Write", map[string]any{"file_path": path, "content": content}}
}

// Bash asks for a shell command.
func Bash(command string) Tool {
	return Tool{"Bash", map[string]any{"command": command, "description": "run " + command}}
}

// Request is one request as it came.
type Request struct {
	Path  string
	Key   string // the credential it carried
	Model string
	Tools []string // the names of the tools it offered
	Body  string
}

// Server plays a script. Which turn it answers with depends on the conversation alone: on how many turns of the model it holds. After
// the end of the script it repeats the last turn. URL goes into ANTHROPIC_BASE_URL.
type Server struct {
	*httptest.Server
	script []Turn

	mu       sync.Mutex
	requests []Request
	unknown  []string
}

// New starts a server on loopback. Close ends it.
func New(script ...Turn) *Server {
	s := &Server{script: script}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	return s
}

// Requests lists the requests for messages so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Unknown lists what was asked that a model does not answer; a test should find none.
func (s *Server) Unknown() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.unknown...)
}

// question is what is read of a request.
type question struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role string `json:"role"`
	} `json:"messages"`
	Tools []struct {
		Name string `json:"name"`
	} `json:"tools"`
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 32<<20))
	switch {
	case err != nil:
		return
	case r.Method == http.MethodHead: // is anybody there
	case r.Method == http.MethodPost && r.URL.Path == "/v1/messages/count_tokens":
		reply(w, http.StatusOK, map[string]any{"input_tokens": len(body) / 4})
	case r.Method == http.MethodPost && r.URL.Path == "/v1/messages":
		s.messages(w, r, body)
	default:
		s.mu.Lock()
		s.unknown = append(s.unknown, r.Method+" "+r.URL.Path)
		s.mu.Unlock()
		fail(w, http.StatusNotFound)
	}
}

func (s *Server) messages(w http.ResponseWriter, r *http.Request, body []byte) {
	var q question
	if err := json.Unmarshal(body, &q); err != nil {
		fail(w, http.StatusBadRequest)
		return
	}
	number := s.record(r, q, body)
	said := 0
	for _, m := range q.Messages {
		if m.Role == "assistant" {
			said++
		}
	}
	turn := s.script[min(said, len(s.script)-1)]
	if turn.Status != 0 {
		fail(w, turn.Status)
		return
	}
	a := answer{id: fmt.Sprintf("msg_%04d", number), model: q.Model, turn: turn}
	if q.Stream {
		a.stream(w)
	} else {
		reply(w, http.StatusOK, a.message(a.blocks(), a.stop()))
	}
}

// record notes a request and returns its number, from 1.
func (s *Server) record(r *http.Request, q question, body []byte) int {
	request := Request{Path: r.URL.Path, Model: q.Model, Body: string(body)}
	request.Key = r.Header.Get("X-Api-Key")
	if request.Key == "" {
		request.Key = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	for _, tool := range q.Tools {
		request.Tools = append(request.Tools, tool.Name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, request)
	return len(s.requests)
}

// errorTypes are what the protocol calls the statuses.
var errorTypes = map[int]string{
	400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
	429: "rate_limit_error", 500: "api_error", 529: "overloaded_error",
}

func fail(w http.ResponseWriter, status int) {
	kind := errorTypes[status]
	reply(w, status, map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": "the test says " + kind}})
}

func reply(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value)
}
