package fake

import (
	"crypto/rand"
	"fmt"
	"net/http"
)

func newGUID() string {
	raw := make([]byte, 16)
	_, _ = rand.Read(raw) // never fails
	return fmt.Sprintf("%x-%x-%x-%x-%x", raw[:4], raw[4:6], raw[6:8], raw[8:10], raw[10:])
}

func (r *request) delivery() *delivery {
	for _, d := range r.token.app.sent.log {
		if d.id == r.number("id") {
			return d
		}
	}
	return nil
}

// redeliver sends a delivery once more: another attempt with the same GUID.
func (g *GitHub) redeliver(r *request) answer {
	if refused := wantsApp(r); refused != nil {
		return *refused
	}
	d := r.delivery()
	if d == nil {
		return notFound()
	}
	g.enqueue(r.token.app, &delivery{guid: d.guid, event: d.event, action: d.action, payload: d.payload,
		installation: d.installation, repo: d.repo, again: true})
	return answer{status: http.StatusAccepted, body: object{}}
}

func (g *GitHub) hookShape(h Hook) object {
	kind := "json"
	if h.Form {
		kind = "form"
	}
	o := object{"url": h.URL, "content_type": kind, "insecure_ssl": "0"}
	if h.Secret != "" {
		o["secret"] = "********"
	}
	return o
}

func (g *GitHub) getHookConfig(r *request) answer {
	if refused := wantsApp(r); refused != nil {
		return *refused
	}
	return ok(g.hookShape(r.token.app.Hook))
}

func (g *GitHub) editHookConfig(r *request) answer {
	if refused := wantsApp(r); refused != nil {
		return *refused
	}
	var in struct {
		URL         *string `json:"url"`
		ContentType *string `json:"content_type"`
		Secret      *string `json:"secret"`
		InsecureSSL any     `json:"insecure_ssl"`
	}
	if bad := r.decode(&in); bad != nil {
		return *bad
	}
	hook := &r.token.app.Hook
	if in.URL != nil {
		hook.URL = *in.URL
	}
	if in.Secret != nil {
		hook.Secret = *in.Secret
	}
	if in.ContentType != nil {
		if *in.ContentType != "json" && *in.ContentType != "form" {
			return failure(http.StatusUnprocessableEntity, "Validation Failed")
		}
		hook.Form = *in.ContentType == "form"
	}
	return ok(g.hookShape(*hook))
}
