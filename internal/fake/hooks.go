package fake

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// sentHooks are an App's deliveries and what goes wrong with them.
type sentHooks struct {
	log   []*Delivery // oldest first
	lose  int         // how many get lost; below 0: all
	twice bool
}

// Delivery is one attempt to deliver a webhook to an App.
type Delivery struct {
	ID                          int64
	GUID, Event, Action, Status string
	Code                        int
	Payload                     []byte
	Redelivery                  bool
	installation, repo          int64
	at                          time.Time
}

// Deliveries are all attempts to deliver to an App that have ended, oldest first.
func (g *GitHub) Deliveries(app int64) []Delivery {
	defer g.lock()()
	return each(g.mustApp(app).sent.log, value)
}

// LoseDeliveries has the next deliveries to an App fail before they are sent; below 0 all, 0 no longer any.
func (g *GitHub) LoseDeliveries(app int64, n int) {
	defer g.lock()()
	g.mustApp(app).sent.lose = n
}

// RepeatDeliveries has every delivery to an App arrive twice, as GitHub says that it may.
func (g *GitHub) RepeatDeliveries(app int64, twice bool) {
	defer g.lock()()
	g.mustApp(app).sent.twice = twice
}

// Deliver sends a webhook with this payload to every App that is installed on a repository and hears of the event:
// what the stand-in does not send by itself, such as the end of a check suite.
func (g *GitHub) Deliver(owner, name, event string, payload []byte) error {
	var o object
	if err := json.Unmarshal(payload, &o); err != nil {
		return fmt.Errorf("reading the Payload: %w", err)
	}
	defer g.lock()()
	g.deliver(g.mustRepo(owner, name), event, o)
	return nil
}

// Delivered waits until every delivery so far was sent.
func (g *GitHub) Delivered(ctx context.Context) error {
	g.mu.Lock()
	last := g.last
	g.mu.Unlock()
	if last == nil {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-last:
		return nil
	}
}

// happened delivers an event that someone has caused. Callers hold the lock.
func (g *GitHub) happened(r *repo, event, sender string, shape func() object) {
	if !slices.ContainsFunc(g.apps, func(a *App) bool { return a.hears(r, event) }) {
		return
	}
	o := shape()
	o["repository"], o["sender"] = g.repoShape(r, ""), g.userShape(sender)
	g.deliver(r, event, o)
}

func (a *App) hears(r *repo, event string) bool {
	return a.Hook.URL != "" && slices.Contains(a.Events, event) && a.on(r) != nil && !a.on(r).suspended
}

// deliver sends a payload to all Apps that hear of it. Callers hold the lock.
func (g *GitHub) deliver(r *repo, event string, o object) {
	for _, a := range g.apps {
		if a.hears(r, event) {
			g.send(a, a.on(r), event, r.id, o)
		}
	}
}

// announceInstallation tells an App of an installation, which it hears of whatever its events are.
func (g *GitHub) announceInstallation(a *App, in *installation, action string) {
	if a.Hook.URL == "" {
		return
	}
	repos := each(g.reposOf(in), func(r *repo) object {
		return object{"id": r.id, "name": r.name, "full_name": r.String(), "private": r.private}
	})
	g.send(a, in, "installation", 0, object{"action": action, "installation": g.installationShape(a, in),
		"repositories": repos, "sender": g.userShape(in.owner)})
}

func (g *GitHub) send(a *App, in *installation, event string, repo int64, o object) {
	if _, there := o["installation"]; !there || event != "installation" {
		o["installation"] = object{"id": in.id}
	}
	payload, err := json.Marshal(o)
	if err != nil { // only maps, slices and plain values come here
		panic(err)
	}
	action, _ := o["action"].(string)
	d := &Delivery{GUID: rand.Text(), Event: event, Action: action, Payload: payload, installation: in.id, repo: repo}
	g.enqueue(a, d)
	if a.sent.twice {
		again := *d
		g.enqueue(a, &again)
	}
}

// enqueue has a delivery sent after the one before it. Callers hold the lock.
func (g *GitHub) enqueue(a *App, d *Delivery) {
	d.ID = g.id()
	before, sent := g.last, make(chan struct{})
	g.last = sent
	go func() {
		defer close(sent)
		if before != nil {
			<-before
		}
		g.post(a, d)
	}()
}

// hookTime is how long GitHub waits for an answer.
const hookTime = 10 * time.Second

// post sends a delivery and writes down what resulted from it.
func (g *GitHub) post(a *App, d *Delivery) {
	g.mu.Lock()
	hook, lose := a.Hook, a.sent.lose != 0
	if a.sent.lose > 0 {
		a.sent.lose--
	}
	d.at = g.time()
	g.mu.Unlock()
	status, code := "failed to connect to host", 0
	if !lose {
		status, code = g.carry(a, hook, d)
	}
	defer g.lock()()
	d.Status, d.Code = status, code
	a.sent.log = append(a.sent.log, d)
}

func (g *GitHub) carry(a *App, hook Hook, d *Delivery) (status string, code int) {
	body, kind := d.Payload, "application/json"
	if hook.Form {
		body, kind = []byte(url.Values{"payload": {string(d.Payload)}}.Encode()), "application/x-www-form-urlencoded"
	}
	ctx, cancel := context.WithTimeout(g.running, hookTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, hook.URL, bytes.NewReader(body))
	if err != nil {
		return "invalid address", 0
	}
	req.Header = http.Header{
		"Content-Type": {kind}, "User-Agent": {"GitHub-Hookshot/0000000"}, "X-Github-Event": {d.Event},
		"X-Github-Delivery": {d.GUID}, "X-Github-Hook-Id": {strconv.FormatInt(a.ID, 10)},
		"X-Github-Hook-Installation-Target-Id":   {strconv.FormatInt(a.ID, 10)},
		"X-Github-Hook-Installation-Target-Type": {"integration"},
	}
	if hook.Secret != "" {
		mac := hmac.New(sha256.New, []byte(hook.Secret))
		mac.Write(body)
		req.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	}
	resp, err := (&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // GitHub follows none
	}}).Do(req)
	var slow net.Error
	switch {
	case errors.As(err, &slow) && slow.Timeout():
		return "timed out", 0
	case err != nil:
		return "failed to connect to host", 0
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20)) // GitHub reads it, too
	if resp.StatusCode/100 == 2 {
		return "OK", resp.StatusCode
	}
	return fmt.Sprintf("Invalid HTTP Response: %d", resp.StatusCode), resp.StatusCode
}

func (d *Delivery) shape() object {
	o := object{"id": d.ID, "guid": d.GUID, "delivered_at": stamp(d.at), "redelivery": d.Redelivery, "status": d.Status,
		"status_code": d.Code, "event": d.Event, "action": text(d.Action), "installation_id": d.installation}
	if d.repo != 0 {
		o["repository_id"] = d.repo
	}
	return o
}

// listDeliveries shows the newest first. The cursor is the id of the first one of a page.
func (g *GitHub) listDeliveries(r *request) answer {
	log, size, header := slices.Clone(r.token.app.sent.log), 30, http.Header{}
	slices.Reverse(log)
	if n, err := strconv.Atoi(cmp.Or(r.query.Get("per_page"), "30")); err == nil && n > 0 {
		size = min(n, 100)
	}
	if cursor := r.query.Get("cursor"); cursor != "" {
		at := slices.IndexFunc(log, func(d *Delivery) bool { return strconv.FormatInt(d.ID, 10) == cursor })
		if at < 0 {
			return failure(http.StatusBadRequest, "Invalid cursor")
		}
		log = log[at:]
	}
	if len(log) > size {
		header.Set("Link", fmt.Sprintf(`<%s/app/hook/deliveries?per_page=%d&cursor=%d>; rel="next"`, g.APIURL(), size,
			log[size].ID))
		log = log[:size]
	}
	return answer{status: http.StatusOK, body: each(log, (*Delivery).shape), header: header}
}

// redeliver sends a delivery once more: another attempt with the same GUID.
func (g *GitHub) redeliver(r *request) answer {
	d := found(first(r.token.app.sent.log, func(d *Delivery) bool { return d.ID == r.number("id") }))
	g.enqueue(r.token.app, &Delivery{GUID: d.GUID, Event: d.Event, Action: d.Action, Payload: d.Payload,
		installation: d.installation, repo: d.repo, Redelivery: true})
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
	return ok(g.hookShape(r.token.app.Hook))
}

func (g *GitHub) editHookConfig(r *request) answer {
	hook := &r.token.app.Hook
	in := struct {
		URL, Secret string
		ContentType string `json:"content_type"`
		InsecureSSL any    `json:"insecure_ssl"`
	}{URL: hook.URL, Secret: hook.Secret, ContentType: "json"}
	r.decode(&in)
	if in.ContentType != "json" && in.ContentType != "form" {
		return failure(http.StatusUnprocessableEntity, "Validation Failed")
	}
	*hook = Hook{URL: in.URL, Secret: in.Secret, Form: in.ContentType == "form"}
	return ok(g.hookShape(*hook))
}
