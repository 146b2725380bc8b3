package model

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

type object = map[string]any

// protocol is how clients ask a model and how it answers.
type protocol struct {
	whole  func(a answer) object
	events func(a answer) []event
	fail   func(f Failure, reset time.Time) failure
	tools  []string // what its clients write files and run commands with
	count  string   // it only counts tokens: what its answer calls their number
}

// question is what is read of a request.
type question struct {
	model  string
	stream bool
	said   int      // how many turns of the model it holds
	tools  []string // the names of those it offers
	form   string   // the form that the answer must have: "application/json"
	body   string   // as it came
}

// message is what one side said: an item of each protocol's own list.
type message struct{ Type, Role string }

// readQuestion reads the body of a request, whichever protocol's it is: no two have a field that they mean differently.
func readQuestion(body []byte) (q question, err error) {
	var asked struct {
		Model                     string
		Stream                    bool
		Messages, Input, Contents []message
		Tools                     []struct {
			Name      string
			Function  struct{ Name string }
			Functions []struct{ Name string } `json:"functionDeclarations"`
		}
		Config struct {
			Form string `json:"responseMimeType"`
		} `json:"generationConfig"`
	}
	err = json.Unmarshal(body, &asked)
	q.model, q.stream, q.form = asked.Model, asked.Stream, asked.Config.Form
	before := false
	for _, m := range slices.Concat(asked.Messages, asked.Input, asked.Contents) {
		byModel := m.Role == "assistant" || m.Role == "model" || m.Type == "function_call" || m.Type == "reasoning"
		if byModel && !before { // all it says at once is one turn
			q.said++
		}
		before = byModel
	}
	for _, tool := range asked.Tools {
		for _, f := range tool.Functions {
			q.tools = append(q.tools, f.Name)
		}
		if tool.Functions == nil {
			q.tools = append(q.tools, cmp.Or(tool.Name, tool.Function.Name))
		}
	}
	return q, err
}

// answer is one turn on its way.
type answer struct {
	id, model, text string
	uses            []use
	end             Ending
}

// event is one of a stream. The stream hangs or is cut right after the one that begins the answer.
type event struct {
	name   string // "" where the protocol names none
	data   any
	begins bool
}

// failure is an HTTP error in the form of a protocol.
type failure struct {
	status  int
	headers map[string]string
	body    object
}

// What every answer costs.
const (
	InputTokens  = 100
	OutputTokens = 20
)

// route finds the protocol of a request.
func route(r *http.Request) (p protocol, ok bool) {
	path := r.URL.Path
	switch {
	case r.Method != http.MethodPost:
	case path == "/v1/messages":
		return anthropic, true
	case path == "/v1/messages/count_tokens":
		return protocol{count: "input_tokens"}, true
	case path == "/v1/responses":
		return responses, true
	case path == "/v1/chat/completions":
		return chat, true
	case !strings.HasPrefix(path, "/v1beta/models/"):
	case strings.HasSuffix(path, ":generateContent"), strings.HasSuffix(path, ":streamGenerateContent"):
		return gemini, true
	case strings.HasSuffix(path, ":countTokens"):
		return protocol{count: "totalTokens"}, true
	}
	return protocol{}, false
}

// stream sends an answer as server-sent events.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, end Ending, events []event) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		if e.name != "" {
			fmt.Fprintf(w, "event: %s\n", e.name)
		}
		data, ok := e.data.(string)
		if !ok {
			text, _ := json.Marshal(e.data)
			data = string(text)
		}
		fmt.Fprintf(w, "data: %s\n\n", data)
		if e.begins {
			s.mishap(w, r, end)
		}
	}
}

// mishap hangs or cuts an answer that has begun.
func (s *Server) mishap(w http.ResponseWriter, r *http.Request, end Ending) {
	if end != Hang && end != Cut {
		return
	}
	_ = http.NewResponseController(w).Flush()
	if end == Hang {
		select {
		case <-r.Context().Done():
		case <-s.closed:
		}
	}
	panic(http.ErrAbortHandler)
}

func reply(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value)
}
