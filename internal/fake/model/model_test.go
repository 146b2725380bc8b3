package model_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/model"
)

func ask(t *testing.T, s *model.Server, path, body string) (int, string) {
	t.Helper()
	request, err := http.NewRequest(http.MethodPost, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-Api-Key", "k")
	response, err := s.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(raw)
}

func TestServer(t *testing.T) {
	s := model.New(
		model.Turn{Text: "I write.", Tools: []model.Tool{model.Write("a.txt", "a\n")}},
		model.Turn{Status: 529},
		model.Turn{Text: "Done."})
	defer s.Close()
	history := `{"role":"user"}`
	for i, want := range []struct {
		status int
		parts  []string
	}{
		{200, []string{`"stop_reason":"tool_use"`, `"name":"Write"`, `"file_path":"a.txt"`}},
		{529, []string{"overloaded_error"}},
		{200, []string{`"text":"Done."`, `"stop_reason":"end_turn"`}},
		{200, []string{`"text":"Done."`}},
	} {
		status, body := ask(t, s, "/v1/messages?beta=true", `{"model":"m","messages":[`+history+`],"tools":[{"name":"Write"}]}`)
		for _, part := range want.parts {
			if status != want.status || !strings.Contains(body, part) {
				t.Errorf("answer %d: %d %s, want %s", i, status, body, part)
			}
		}
		history += `,{"role":"assistant"},{"role":"user"}`
	}
	if r := s.Requests(); len(r) != 4 || r[0].Key != "k" || r[0].Model != "m" || len(r[0].Tools) != 1 {
		t.Errorf("requests = %+v", r)
	}
	if status, _ := ask(t, s, "/v1/other", "{}"); status != 404 || len(s.Unknown()) != 1 {
		t.Errorf("%d, unknown = %q", status, s.Unknown())
	}
}

func TestServerStreams(t *testing.T) {
	s := model.New(model.Turn{Text: "Hi.", Tools: []model.Tool{model.Bash("ls")}})
	defer s.Close()
	_, body := ask(t, s, "/v1/messages", `{"stream":true,"messages":[{"role":"user"}]}`)
	at := 0
	for _, event := range []string{"message_start", "content_block_start", "content_block_delta", "content_block_stop", "content_block_start",
		"content_block_delta", "content_block_stop", "message_delta", "message_stop"} {
		next := bytes.Index([]byte(body[at:]), []byte("event: "+event+"\ndata: {"))
		if next < 0 {
			t.Fatalf("no %s after %q in %s", event, body[:at], body)
		}
		at += next + 1
	}
	if !strings.Contains(body, `"partial_json":"{\"command\":\"ls\"`) {
		t.Error(body)
	}
}
