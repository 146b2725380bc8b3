package event

import (
	"errors"
	"strings"
	"testing"
)

func TestParseAsk(t *testing.T) {
	tests := []struct {
		name, payload string
		want          DispatchRequest
		usage         string
	}{
		{"an issue", `{"issue":42}`, DispatchRequest{Issue: 42}, ""},
		{"an issue as a shell sends it", `{"issue":"42","fresh":"true","max_iterations":"3"}`,
			DispatchRequest{Issue: 42, Fresh: true, MaxIterations: 3}, ""},
		{"a prompt", `{"prompt":"add a greeting","hint":"short"}`, DispatchRequest{Prompt: "add a greeting", Hint: "short"}, ""},
		{"a plan", `{"plan":"ralph/tasks.json","fresh":false}`, DispatchRequest{Plan: "ralph/tasks.json"}, ""},
		{"everything but what to do", `{"hint":"x","fresh":true}`, DispatchRequest{},
			"client_payload with 0 of issue, prompt and plan is not understood; allowed: exactly one of them"},
		{"two at once", `{"issue":1,"prompt":"x"}`, DispatchRequest{}, "client_payload with 2 of"},
		{"a list", `[1]`, DispatchRequest{}, "allowed: a JSON object with issue, prompt, plan, hint, fresh, max_iterations"},
		{"broken", `{`, DispatchRequest{}, "a JSON object"},
		{"an unknown key", `{"issue":1,"zzz":1,"model":"big"}`, DispatchRequest{},
			"client_payload (“json: unknown field \"zzz\"”) is not understood"},
		{"a hostile key", `{"issue":1,"<!-- @all":1}`, DispatchRequest{}, "?!-- ?all"},
		{"no issue", `{"issue":0}`, DispatchRequest{}, "client_payload.issue is not understood; allowed: the number of an issue"},
		{"a huge issue", `{"issue":99999999999999999999}`, DispatchRequest{}, "the number of an issue"},
		{"too many iterations", `{"issue":1,"max_iterations":101}`, DispatchRequest{}, "a whole number from 1 to 100"},
		{"an empty prompt", `{"prompt":""}`, DispatchRequest{}, "client_payload with 0 of"},
		{"a prompt that is a number", `{"prompt":1}`, DispatchRequest{}, "a JSON object"},
		{"a plan outside", `{"plan":"../x.json"}`, DispatchRequest{}, "the path of a file in the repository"},
		{"a plan from the root", `{"plan":"/etc/passwd"}`, DispatchRequest{}, "the path of a file"},
		{"fresh as a word", `{"issue":1,"fresh":"yes"}`, DispatchRequest{}, "true or false"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseAsk([]byte(tt.payload))
			if got != tt.want {
				t.Errorf("ParseAsk = %+v, want %+v", got, tt.want)
			}
			var usage *UsageError
			if tt.usage == "" && err != nil || tt.usage != "" &&
				(!errors.As(err, &usage) || !strings.Contains(err.Error(), tt.usage)) {
				t.Errorf("error: %v, want %q", err, tt.usage)
			}
		})
	}
}

// TestReads: whose comments the agent reads, with and without write access; never ralph's own.
func TestReads(t *testing.T) {
	facts := Facts{Self: "Alice", Permissions: may(map[string]string{"alice": "admin", "wendy": "write"})}
	for _, tt := range []struct {
		by    CommentsBy
		login string
		want  bool
	}{
		{nil, "wendy", true}, {nil, "bob", false}, {CommentsBy{"wendy", "None"}, "wendy", false},
		{CommentsBy{"Bob", "writers"}, "bob", true}, {CommentsBy{"bob", "writers"}, "wendy", true},
		{CommentsBy{"bob"}, "wendy", false}, {CommentsBy{"bob"}, "bob", true}, {CommentsBy{"writers"}, "writers", false},
		{CommentsBy{""}, "", false}, {CommentsBy{"writers", "alice"}, "alice", false},
	} {
		if got := facts.Reads(tt.login, tt.by); got != tt.want {
			t.Errorf("%q of %q: %v, want %v", tt.login, tt.by, got, tt.want)
		}
	}
}
