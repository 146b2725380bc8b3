package agent

import (
	"io"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// TestLingers: an agent that does not end after its result is stopped, and its result counts.
func TestLingers(t *testing.T) {
	stopped := make(chan struct{})
	a := &Agent{dialect: claude, linger: time.Millisecond, options: Options{Command: "claude", Answer: Answer{Completion: "DONE"}}}
	talk := a.talk("")
	talk.stop = func() { close(stopped) }
	r := newReader(talk, a.dialect)
	_, _ = io.WriteString(r, `{"type":"result","subtype":"success","result":"<response>DONE</response>","usage":{"output_tokens":5}}`+"\n")
	<-stopped
	if turn := a.concluded(r, proc.Result{Class: proc.Canceled, Exit: -1}, ""); turn.Class != loop.OK || !turn.Claim.Done {
		t.Errorf("turn = %+v", turn)
	}
}

func TestByWords(t *testing.T) {
	for said, want := range map[string]loop.Class{
		"Claude AI usage limit reached|1763712000":                                                        loop.UsageLimit,
		"You’ve hit your limit · resets 4am (UTC)":                                                        loop.UsageLimit,
		"This request would exceed your account's rate limit. Please try again later.":                    loop.UsageLimit,
		"API Error: 400 You have reached your specified API usage limits. You will regain access on 2026": loop.UsageLimit,
		"You're out of extra usage · resets 9pm (UTC)":                                                    loop.UsageLimit,
		"You have exhausted your capacity on this model.":                                                 loop.UsageLimit,
		"Your rollout budget is exhausted.":                                                               loop.UsageLimit,
		"Your usage allocation has been disabled by your admin":                                           loop.Auth,
		"Claude is not available in your country":                                                         loop.Auth,
		"API Error: 401 status code (no body)":                                                            loop.Auth,
		"Your plan does not include this model.":                                                          loop.Billing,
		"RATE_LIMIT_EXCEEDED":                                                                             loop.UsageLimit,
		"Weekly limit reached":                                                                            loop.UsageLimit,
		"exceeded retry limit, last status: 429 Too Many Requests":                                        loop.UsageLimit,
		"RESOURCE_EXHAUSTED: You exceeded your current quota, please check your plan and billing":         loop.UsageLimit,
		"You exceeded your current quota. Quota exceeded for metric: free_tier. Please retry in 3s":       loop.UsageLimit,
		"You exceeded your current quota, please check your plan and billing details.":                    loop.Billing,
		"Your credit balance is too low to access the Anthropic API.":                                     loop.Billing,
		// not by a number alone: it would end the run
		"error code: 402":                       "",
		"insufficient_quota":                    loop.Billing,
		"API Error: 529 {}":                     loop.Overloaded,
		"overloaded_error":                      loop.Overloaded,
		"API Error: 500 overloaded":             loop.Overloaded,
		"API Error: 500 {}":                     loop.OutOfOrder,
		"502 Bad Gateway":                       loop.OutOfOrder,
		"API Error: 401 {}":                     loop.Auth,
		"Invalid API key · Please run /login":   loop.Auth,
		"OAuth token has expired":               loop.Auth,
		"ANTHROPIC_API_KEY: api key is not set": loop.Auth,
		"please run codex login":                loop.Auth,
		"Failed to authenticate. API Error: 403 Your account does not have permission": loop.Auth,
		"prompt is too long: 212345 tokens > 200000 maximum":                           loop.TooLong,
		"context_length_exceeded":                                                   loop.TooLong,
		"Codex ran out of room in the model's context window.":                      loop.TooLong,
		"The input token count (2000) exceeds the maximum number of tokens allowed": loop.TooLong,
		"connect ECONNREFUSED 127.0.0.1:9":                                          loop.Network,
		"TypeError: fetch failed":                                                   loop.Network,
		"Error: Couldn't connect to the Amp server at https://ampcode.com/.":        loop.Network,
		"stream disconnected before completion: error sending request for url":      loop.Network,
		"Request timed out.":                                                        loop.Network,
		"API Error: 400 messages: wrong":                                            loop.Rejected,
		"There's an issue with the selected model (x). It may not exist":            loop.Rejected,

		// What programs say of their work.
		"":                             "",
		"500 tests passed, 429 failed": "",
		"line 401: unauthorized access is tested": "",
		"expected status 404, got status 200":     "",
		"panic in src/login/handler.go:503":       "",
		"time limit exceeded":                     "",
		"permission denied":                       "",
		"the billing page is done":                "",
	} {
		if got := byWords(said); got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}

func TestByStatus(t *testing.T) {
	for _, c := range []struct {
		status int
		words  loop.Class
		want   loop.Class
	}{
		{400, "", loop.Rejected}, {400, loop.Billing, loop.Billing}, {400, loop.TooLong, loop.TooLong},
		{400, loop.UsageLimit, loop.UsageLimit},
		{400, loop.Network, loop.Rejected}, {401, loop.Network, loop.Auth}, {402, "", loop.Billing}, {403, "", loop.Auth},
		{403, loop.Billing, loop.Billing},
		{404, "", loop.Rejected}, {408, "", loop.Network}, {413, "", loop.TooLong}, {422, "", loop.Rejected},
		{429, "", loop.UsageLimit},
		{429, loop.Billing, loop.Billing}, {429, loop.Overloaded, loop.UsageLimit}, {500, "", loop.OutOfOrder},
		{500, loop.Overloaded, loop.Overloaded},
		{502, loop.Network, loop.OutOfOrder}, {503, "", loop.Overloaded}, {504, "", loop.OutOfOrder},
		{529, "", loop.Overloaded}, {200, loop.Network, loop.Network},
	} {
		if got := byStatus(c.status, c.words); got != c.want {
			t.Errorf("%d %q: %q, want %q", c.status, c.words, got, c.want)
		}
	}
}
