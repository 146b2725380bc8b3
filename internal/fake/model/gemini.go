package model

import (
	"time"
)

// gemini is POST /v1beta/models/MODEL:generateContent and :streamGenerateContent.
var gemini = protocol{whole: geminiWhole, events: geminiEvents, fail: geminiFail,
	tools: []string{"write_file", "run_shell_command"}}

// aside answers what a client asks without tools, also the questions of Gemini CLI: which model suits, who speaks next.
func aside(q question) string {
	if q.form == "application/json" {
		return `{"reasoning":"none","model_choice":"flash","complexity_reasoning":"none","complexity_score":10,"next_speaker":"user"}`
	}
	return "An answer."
}

// geminiPiece is a part of an answer; finish nil: more comes.
func (a answer) geminiPiece(parts []object, finish any) object {
	candidate := object{"index": 0, "content": object{"role": "model", "parts": parts}}
	piece := object{"candidates": []object{candidate}, "modelVersion": a.model, "responseId": a.id}
	if finish != nil {
		candidate["finishReason"] = finish
		piece["usageMetadata"] = object{"promptTokenCount": InputTokens, "candidatesTokenCount": OutputTokens,
			"totalTokenCount": InputTokens + OutputTokens}
	}
	return piece
}

func (a answer) geminiFinish() string {
	if a.end == Refuse {
		return "SAFETY"
	}
	return "STOP"
}

// geminiParts are what the model says, a part each. A refused answer has none.
func (a answer) geminiParts() (words, calls []object) {
	if a.end == Refuse {
		return nil, nil
	}
	if a.text != "" {
		words = append(words, object{"text": a.text})
	}
	for _, u := range a.uses {
		calls = append(calls, object{"functionCall": object{"id": u.id, "name": u.name, "args": u.input}})
	}
	return words, calls
}

func geminiWhole(a answer) object {
	words, calls := a.geminiParts()
	return a.geminiPiece(append(words, calls...), a.geminiFinish())
}

func geminiEvents(a answer) (events []event) {
	words, calls := a.geminiParts()
	if words != nil {
		events = append(events, event{data: a.geminiPiece(words, nil), begins: true})
	}
	if calls == nil {
		calls = []object{{"text": ""}}
	}
	return append(events, event{data: a.geminiPiece(calls, a.geminiFinish())})
}

var geminiFailures = map[Failure]struct {
	code            int
	status, message string
}{
	Limit:       {429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."},
	LimitReset:  {429, "RESOURCE_EXHAUSTED", "You exceeded your current quota."},
	Overloaded:  {503, "UNAVAILABLE", "The model is overloaded. Please try again later."},
	ServerError: {500, "INTERNAL", "An internal error has occurred."},
	Auth:        {401, "UNAUTHENTICATED", "Request had invalid authentication credentials."},
	Billing:     {403, "PERMISSION_DENIED", "This API method requires billing to be enabled."},
	TooLong: {400, "INVALID_ARGUMENT",
		"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."},
}

func geminiFail(f Failure, reset time.Time) failure {
	told := geminiFailures[f]
	inner := object{"code": told.code, "status": told.status, "message": told.message}
	delay := map[Failure]string{Limit: "1s", LimitReset: seconds(reset) + "s"}[f]
	if delay != "" {
		inner["details"] = []object{{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}}
	}
	return failure{status: told.code, body: object{"error": inner}}
}
