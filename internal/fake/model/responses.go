package model

import (
	"time"
)

// responses is POST /v1/responses, as codex asks it.
var responses = protocol{whole: responsesWhole, events: responsesEvents, fail: responsesFail,
	tools: []string{"exec_command"}}

// responsesItems are what the model says, an item each.
func (a answer) responsesItems() []object {
	items := []object{}
	if a.text != "" {
		part := object{"type": "output_text", "text": a.text, "annotations": []object{}}
		if a.end == Refuse {
			part = object{"type": "refusal", "refusal": a.text}
		}
		items = append(items, object{"type": "message", "id": "msg_" + a.id, "role": "assistant", "status": "completed",
			"content": []object{part}})
	}
	for _, u := range a.uses {
		items = append(items, object{"type": "function_call", "id": "fc_" + u.id, "call_id": u.id, "name": u.name,
			"arguments": u.json(), "status": "completed"})
	}
	return items
}

func (a answer) responsesResponse(status string, items []object) object {
	return object{
		"id": "resp_" + a.id, "object": "response", "created_at": time.Now().Unix(), "status": status, "model": a.model,
		"output": items,
		"usage": object{"input_tokens": InputTokens, "output_tokens": OutputTokens,
			"total_tokens": InputTokens + OutputTokens},
	}
}

func responsesWhole(a answer) object {
	return a.responsesResponse("completed", a.responsesItems())
}

func responsesEvents(a answer) (events []event) {
	send := func(kind string, data object) {
		data["type"], data["sequence_number"] = kind, len(events)
		events = append(events, event{name: kind, data: data})
	}
	send("response.created", object{"response": a.responsesResponse("in_progress", []object{})})
	items := a.responsesItems()
	for i, item := range items {
		send("response.output_item.added", object{"output_index": i, "item": item})
		if item["type"] == "message" && a.end != Refuse {
			send("response.output_text.delta",
				object{"item_id": item["id"], "output_index": i, "content_index": 0, "delta": a.text})
		}
		events[len(events)-1].begins = i == 0
		send("response.output_item.done", object{"output_index": i, "item": item})
	}
	send("response.completed", object{"response": a.responsesResponse("completed", items)})
	return events
}

// openAIFailures have the same form in both of OpenAI's protocols.
var openAIFailures = map[Failure]struct {
	status              int
	kind, code, message string
}{
	Limit:      {429, "requests", "rate_limit_exceeded", "Rate limit reached for requests. Please try again in 1s."},
	LimitReset: {429, "usage_limit_reached", "usage_limit_reached", "The usage limit has been reached"},
	Overloaded: {503, "server_error", "server_is_overloaded",
		"The server is currently overloaded. Please try again later."},
	ServerError: {500, "server_error", "", "The server had an error while processing your request."},
	Auth:        {401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided."},
	Billing: {429, "insufficient_quota", "insufficient_quota",
		"You exceeded your current quota, please check your plan and billing details."},
	TooLong: {400, "invalid_request_error", "context_length_exceeded",
		"Your input exceeds the context window of this model."},
}

func openAIFail(f Failure, reset time.Time) failure {
	told := openAIFailures[f]
	inner := object{"type": told.kind, "message": told.message, "code": told.code, "param": nil}
	out := failure{status: told.status, body: object{"error": inner}}
	switch f {
	case Limit:
		out.headers = map[string]string{"Retry-After": "1"}
	case LimitReset:
		out.headers = map[string]string{"Retry-After": seconds(reset)}
	}
	return out
}

// responsesFail tells a plan's limit as codex reads it.
func responsesFail(f Failure, reset time.Time) failure {
	out := openAIFail(f, reset)
	if f == LimitReset {
		inner := out.body["error"].(object)
		inner["plan_type"], inner["resets_at"] = "plus", reset.Unix()
	}
	return out
}
