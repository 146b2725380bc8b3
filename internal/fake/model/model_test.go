package model_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake/model"
)

// client is how one protocol asks.
type client struct {
	name, path string
	body       string    // with one %s: more of the conversation
	turn       string    // what the model said, and what came of it
	write      [2]string // the client's tool for files, and what must stand in its use
	end        [2]string // how an answer with a tool and one without say that they end
}

var clients = []client{
	{
		name: "anthropic", path: "/v1/messages",
		body:  `{"model":"m","stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"prompt"}]}%s],"tools":[{"name":"Bash"},{"name":"Write"}]}`,
		turn:  `,{"role":"assistant","content":[]},{"role":"user","content":[]}`,
		write: [2]string{"Write", `"{\"content\":\"hello\\n\",\"file_path\":\"hello.txt\"}"`},
		end:   [2]string{`"stop_reason":"tool_use"`, `"stop_reason":"end_turn"`},
	},
	{
		name: "responses", path: "/v1/responses",
		body:  `{"model":"m","stream":true,"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"prompt"}]}%s],"tools":[{"type":"function","name":"exec_command"}]}`,
		turn:  `,{"type":"message","role":"assistant","content":[]},{"type":"function_call"},{"type":"function_call_output"}`,
		write: [2]string{"exec_command", `printf %s 'hello\\n' \\u003e 'hello.txt'`},
		end:   [2]string{`"type":"function_call"`, `"type":"response.completed"`},
	},
	{
		name: "chat", path: "/v1/chat/completions",
		body:  `{"model":"m","stream":true,"messages":[{"role":"system","content":"you are"},{"role":"user","content":"prompt"}%s],"tools":[{"function":{"name":"bash"}},{"function":{"name":"write"}}]}`,
		turn:  `,{"role":"assistant","content":null},{"role":"tool","content":"done"}`,
		write: [2]string{"write", `"{\"content\":\"hello\\n\",\"filePath\":\"hello.txt\"}"`},
		end:   [2]string{`"finish_reason":"tool_calls"`, `"finish_reason":"stop"`},
	},
	{
		name: "gemini", path: "/v1beta/models/m:streamGenerateContent",
		body:  `{"contents":[{"role":"user","parts":[{"text":"prompt"}]}%s],"tools":[{"functionDeclarations":[{"name":"write_file"}]}]}`,
		turn:  `,{"role":"model","parts":[]},{"role":"user","parts":[{"functionResponse":{}}]}`,
		write: [2]string{"write_file", `"args":{"content":"hello\n","file_path":"hello.txt"}`},
		end:   [2]string{`"functionCall"`, `"finishReason":"STOP"`},
	},
}

func (c client) ask(t *testing.T, s *model.Server, turns int) (int, string) {
	t.Helper()
	status, body, err := c.try(t.Context(), t, s, turns)
	if err != nil {
		t.Fatal(err)
	}
	return status, body
}

func (c client) try(ctx context.Context, t *testing.T, s *model.Server, turns int) (int, string, error) {
	t.Helper()
	body := fmt.Sprintf(c.body, strings.Repeat(c.turn, turns))
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+c.path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer the-key")
	response, err := s.Client().Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	return response.StatusCode, string(raw), err
}

// each runs a test with every protocol against a scenario.
func each(t *testing.T, scenario string, test func(t *testing.T, c client, s *model.Server)) {
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			s := model.New(model.Scenario(scenario)...)
			defer s.Close()
			test(t, c, s)
		})
	}
}

func TestAnswers(t *testing.T) {
	each(t, "ok", func(t *testing.T, c client, s *model.Server) {
		for turns, parts := range [][]string{
			{"I will write hello.txt.", `"name":"` + c.write[0] + `"`, c.write[1], c.end[0]},
			{"DONE", c.end[1]},
			{"DONE", c.end[1]}, // the last turn again
		} {
			status, body := c.ask(t, s, turns)
			for _, part := range parts {
				if status != http.StatusOK || !strings.Contains(body, part) {
					t.Errorf("turn %d: status %d, and no %s in\n%s", turns, status, part, body)
				}
			}
		}
		r := s.Requests()
		if len(r) != 3 || !slices.Contains(r[0].Tools, c.write[0]) || !strings.Contains(r[0].Body, "prompt") ||
			strings.Contains(fmt.Sprint(r), "the-key") {
			t.Errorf("requests = %+v", r)
		}
	})
}

func TestFailures(t *testing.T) {
	for scenario, statuses := range map[string][4]int{
		"limit":        {429, 429, 429, 429},
		"limit-reset":  {429, 429, 429, 429},
		"overloaded":   {529, 503, 503, 503},
		"server-error": {500, 500, 500, 500},
		"auth":         {401, 401, 401, 401},
		"billing":      {400, 429, 429, 403},
		"too-long":     {400, 400, 400, 400},
	} {
		for i, c := range clients {
			s := model.New(model.Scenario(scenario)...)
			status, body := c.ask(t, s, 0)
			if status != statuses[i] || !regexp.MustCompile(`"message":"[A-Za-z]`).MatchString(body) {
				t.Errorf("%s by %s: status %d\n%s", scenario, c.name, status, body)
			}
			s.Close()
		}
	}
}

func TestAWrongKeyIsRefused(t *testing.T) {
	each(t, "text", func(t *testing.T, c client, s *model.Server) {
		s.Key = "another"
		if status, _ := c.ask(t, s, 0); status != http.StatusUnauthorized {
			t.Errorf("status %d", status)
		}
		s.Key = "the-key"
		if status, _ := c.ask(t, s, 0); status != http.StatusOK {
			t.Errorf("status %d", status)
		}
	})
}

// TestBrokenAnswers: an answer that is cut ends, and one that hangs does not.
func TestBrokenAnswers(t *testing.T) {
	for scenario, want := range map[string]error{"cut": io.ErrUnexpectedEOF, "hang": context.DeadlineExceeded} {
		each(t, scenario, func(t *testing.T, c client, s *model.Server) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if _, body, err := c.try(ctx, t, s, 0); !errors.Is(err, want) || !strings.Contains(body, "I begin with") {
				t.Errorf("%v\n%s", err, body)
			}
		})
	}
}
