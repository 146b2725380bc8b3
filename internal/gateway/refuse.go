package gateway

import (
	"encoding/json"
	"io"
	"net/http"
)

// refuse answers so that the agent stops at once and says why: each CLI was seen to try again after other answers.
func refuse(w http.ResponseWriter, p Protocol, why string) {
	if p == Responses { // codex shows a plain text as it is
		respond(w, http.StatusBadRequest, "text/plain; charset=utf-8", why)
		return
	}
	fail(w, p, http.StatusPaymentRequired, why)
}

// fail answers with an error in the shape of its protocol.
func fail(w http.ResponseWriter, p Protocol, status int, why string) {
	respond(w, status, "application/json", string(failure(p, status, why)))
}

// failure is an error in the shape of its protocol.
func failure(p Protocol, status int, why string) []byte {
	kind := "api_error"
	if status == http.StatusPaymentRequired {
		kind = "billing_error"
	}
	var body any
	switch p {
	case Anthropic:
		body = map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": why}}
	case Gemini:
		body = map[string]any{"error": map[string]any{"code": status, "message": why, "status": "FAILED_PRECONDITION"}}
	default:
		body = map[string]any{"error": map[string]any{"type": kind, "message": why, "code": "ralph", "param": nil}}
	}
	text, _ := json.Marshal(body) // strings and numbers
	return text
}

func respond(w http.ResponseWriter, status int, kind, body string) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}
