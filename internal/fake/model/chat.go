package model

import (
	"time"
)

// chat is POST /v1/chat/completions.
var chat = protocol{whole: chatWhole, events: chatEvents, fail: openAIFail,
	tools: []string{"write", "bash"}}

func (a answer) chatFinish() string {
	switch {
	case a.end == Refuse:
		return "content_filter"
	case len(a.uses) > 0:
		return "tool_calls"
	}
	return "stop"
}

func (a answer) chatUses() (calls []object) {
	for i, u := range a.uses {
		calls = append(calls, object{"index": i, "id": u.id, "type": "function",
			"function": object{"name": u.name, "arguments": u.json()}})
	}
	return calls
}

// chatFrame is what whole answers and pieces of them have in common.
func (a answer) chatFrame(kind string, choice object) object {
	choice["index"] = 0
	return object{"id": "chatcmpl-" + a.id, "object": kind, "created": time.Now().Unix(), "model": a.model,
		"choices": []object{choice}}
}

var chatUsage = object{"prompt_tokens": InputTokens, "completion_tokens": OutputTokens,
	"total_tokens": InputTokens + OutputTokens}

func chatWhole(a answer) object {
	message := object{"role": "assistant", "content": a.text}
	if calls := a.chatUses(); calls != nil {
		message["tool_calls"] = calls
	}
	frame := a.chatFrame("chat.completion", object{"message": message, "finish_reason": a.chatFinish()})
	frame["usage"] = chatUsage
	return frame
}

func chatEvents(a answer) (events []event) {
	piece := func(delta object, finish any) object {
		return a.chatFrame("chat.completion.chunk", object{"delta": delta, "finish_reason": finish})
	}
	events = append(events, event{data: piece(object{"role": "assistant", "content": a.text}, nil), begins: true})
	if calls := a.chatUses(); calls != nil {
		events = append(events, event{data: piece(object{"tool_calls": calls}, nil)})
	}
	last := piece(object{}, a.chatFinish())
	last["usage"] = chatUsage
	return append(events, event{data: last}, event{data: "[DONE]"})
}
