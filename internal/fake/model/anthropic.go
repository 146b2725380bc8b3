package model

import (
	"strconv"
	"time"
)

// anthropic is POST /v1/messages.
var anthropic = protocol{whole: anthropicWhole, events: anthropicEvents, fail: anthropicFail,
	tools: []string{"Write", "Bash"}}

func (a answer) anthropicStop() string {
	switch {
	case a.end == Refuse:
		return "refusal"
	case len(a.uses) > 0:
		return "tool_use"
	}
	return "end_turn"
}

func (a answer) anthropicMessage(content []object, stop any) object {
	return object{
		"id": "msg_" + a.id, "type": "message", "role": "assistant", "model": a.model, "content": content,
		"stop_reason": stop, "stop_sequence": nil,
		"usage": object{"input_tokens": InputTokens, "output_tokens": OutputTokens},
	}
}

func anthropicWhole(a answer) object {
	blocks := []object{}
	if a.text != "" {
		blocks = append(blocks, object{"type": "text", "text": a.text})
	}
	for _, u := range a.uses {
		blocks = append(blocks, object{"type": "tool_use", "id": u.id, "name": u.name, "input": u.input})
	}
	return a.anthropicMessage(blocks, a.anthropicStop())
}

func anthropicEvents(a answer) (events []event) {
	send := func(kind string, data object) {
		data["type"] = kind
		events = append(events, event{name: kind, data: data})
	}
	block := func(i int, begin, delta object) {
		send("content_block_start", object{"index": i, "content_block": begin})
		send("content_block_delta", object{"index": i, "delta": delta})
		events[len(events)-1].begins = i == 0
		send("content_block_stop", object{"index": i})
	}
	send("message_start", object{"message": a.anthropicMessage([]object{}, nil)})
	i := 0
	if a.text != "" {
		block(i, object{"type": "text", "text": ""}, object{"type": "text_delta", "text": a.text})
		i++
	}
	for _, u := range a.uses {
		begin := object{"type": "tool_use", "id": u.id, "name": u.name, "input": object{}}
		block(i, begin, object{"type": "input_json_delta", "partial_json": u.json()})
		i++
	}
	delta := object{"stop_reason": a.anthropicStop(), "stop_sequence": nil}
	send("message_delta", object{"delta": delta, "usage": object{"output_tokens": OutputTokens}})
	send("message_stop", object{})
	return events
}

var anthropicFailures = map[Failure]struct {
	status        int
	kind, message string
}{
	Limit:       {429, "rate_limit_error", "This request would exceed your organization's rate limit."},
	LimitReset:  {429, "rate_limit_error", "This request would exceed your account's rate limit."},
	Overloaded:  {529, "overloaded_error", "Overloaded"},
	ServerError: {500, "api_error", "Internal server error"},
	Auth:        {401, "authentication_error", "invalid x-api-key"},
	Billing:     {400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API."},
	TooLong:     {400, "invalid_request_error", "prompt is too long: 212345 tokens > 200000 maximum"},
}

func anthropicFail(f Failure, reset time.Time) failure {
	told := anthropicFailures[f]
	body := object{"type": "error", "error": object{"type": told.kind, "message": told.message}}
	return failure{status: told.status, headers: anthropicHeaders(f, reset), body: body}
}

// anthropicHeaders tell a subscription's window, as claude reads it with a subscriber's token.
func anthropicHeaders(f Failure, reset time.Time) map[string]string {
	switch f {
	case Limit:
		return map[string]string{"Retry-After": "1"}
	case LimitReset:
		at := strconv.FormatInt(reset.Unix(), 10)
		const unified = "Anthropic-Ratelimit-Unified-"
		return map[string]string{
			"Retry-After": seconds(reset), "X-Should-Retry": "false",
			unified + "Status": "rejected", unified + "Reset": at, unified + "Representative-Claim": "five_hour",
			unified + "5h-Status": "rejected", unified + "5h-Reset": at, unified + "5h-Utilization": "1",
		}
	}
	return nil
}

// seconds is how long it is until a moment.
func seconds(at time.Time) string { return strconv.Itoa(int(time.Until(at) / time.Second)) }
