package model

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// answer is one turn on its way.
type answer struct {
	id, model string
	turn      Turn
}

type object = map[string]any

// What every answer costs.
const (
	InputTokens  = 100
	OutputTokens = 20
)

func (a answer) stop() string {
	if len(a.turn.Tools) > 0 {
		return "tool_use"
	}
	return "end_turn"
}

func (a answer) blocks() []object {
	var blocks []object
	if a.turn.Text != "" {
		blocks = append(blocks, object{"type": "text", "text": a.turn.Text})
	}
	for i, tool := range a.turn.Tools {
		blocks = append(blocks, object{"type": "tool_use", "id": fmt.Sprintf("toolu_%s_%d", a.id, i), "name": tool.Name, "input": tool.Input})
	}
	return blocks
}

func (a answer) message(content []object, stop any) object {
	if content == nil {
		content = []object{}
	}
	return object{
		"id": a.id, "type": "message", "role": "assistant", "model": a.model, "content": content, "stop_reason": stop, "stop_sequence": nil,
		"usage": object{"input_tokens": InputTokens, "output_tokens": OutputTokens},
	}
}

// stream sends the answer as server-sent events.
func (a answer) stream(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(kind string, event object) {
		event["type"] = kind
		data, _ := json.Marshal(event)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, data)
	}
	send("message_start", object{"message": a.message(nil, nil)})
	for i, block := range a.blocks() {
		begin, delta := pieces(block)
		send("content_block_start", object{"index": i, "content_block": begin})
		send("content_block_delta", object{"index": i, "delta": delta})
		send("content_block_stop", object{"index": i})
	}
	send("message_delta", object{"delta": object{"stop_reason": a.stop(), "stop_sequence": nil}, "usage": object{"output_tokens": OutputTokens}})
	send("message_stop", object{})
}

// pieces cuts a block into its empty beginning and all the rest.
func pieces(block object) (begin, delta object) {
	if block["type"] == "text" {
		return object{"type": "text", "text": ""}, object{"type": "text_delta", "text": block["text"]}
	}
	input, _ := json.Marshal(block["input"])
	begin = object{"type": "tool_use", "id": block["id"], "name": block["name"], "input": object{}}
	return begin, object{"type": "input_json_delta", "partial_json": string(input)}
}
