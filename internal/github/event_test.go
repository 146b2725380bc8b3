package github

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/fake"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// payloads are what GitHub sends, from the stand-in.
func payloads(t testing.TB) map[string][]byte {
	t.Helper()
	gh, err := fake.New(fake.Options{Now: func() time.Time { return noon }})
	noError(t, err)
	defer gh.Close()
	gh.AddUser("alice", false)
	noError(t, gh.AddRepo("alice", "demo", "trunk"))
	n := gh.AddIssue("alice", "demo", fake.Issue{Title: "T", Body: "B", Author: "alice", Labels: []string{"ralph"}})
	pr := gh.AddPull("alice", "demo", fake.Pull{Title: "P", Author: "alice", Head: "x", Base: "trunk"})
	return map[string][]byte{
		"issues": gh.LabeledPayload("alice", "demo", n, "ralph", "alice"),
		"issue_comment": gh.CommentPayload("alice", "demo",
			gh.AddComment("alice", "demo", n, fake.Comment{Author: "alice", Body: "/ralph run"})),
		"comment on a pull": gh.CommentPayload("alice", "demo",
			gh.AddComment("alice", "demo", pr, fake.Comment{Author: "alice", Body: "/ralph run"})),
		"workflow_dispatch": gh.DispatchPayload("alice", "demo", "alice", nil),
		"schedule":          gh.SchedulePayload("alice", "demo"),
	}
}

func TestEventsThatAreNotOurs(t *testing.T) {
	if ev, err := ParseEvent(Delivery{Name: "push", Repository: "alice/demo"}); err != nil || ev.Kind != event.Other {
		t.Errorf("an event without a payload: %+v, %v", ev, err)
	}
	if ev, err := ParseEvent(Delivery{Name: "schedule", Repository: "alice/demo"}); err != nil ||
		ev.Kind != event.Scheduled || ev.Repo.Name != "demo" {
		t.Errorf("a schedule without a payload: %+v, %v", ev, err)
	}
}

// FuzzParseEvent: whatever arrives, the parser neither panics nor invents an event that asks for something without a
// repository.
func FuzzParseEvent(f *testing.F) {
	for name, payload := range payloads(f) {
		event, _, _ := strings.Cut(name, " ")
		f.Add(event, plainer(f, payload))
	}
	f.Add("issues", []byte(`{"action":"labeled","issue":{"number":-1},"repository":null}`))
	for _, one := range handmade {
		f.Add(one.event, []byte(one.payload()))
	}
	f.Fuzz(func(t *testing.T, name string, payload []byte) {
		ev, err := ParseEvent(Delivery{Name: name, Payload: payload, Repository: "alice/demo", At: noon})
		if err != nil {
			return
		}
		if ev.Repo.String() != "alice/demo" && !strings.EqualFold(ev.Repo.String(), "alice/demo") {
			t.Errorf("an event of %s", ev.Repo)
		}
		if lacking(ev) {
			t.Errorf("%s without what it is about", ev.Kind)
		}
		_ = ev.String()
		rules := event.Rules{TriggerLabel: "ralph", TriggerPhrase: "/ralph", CIGate: true}
		if r, skip, err := event.Read(ev, rules); skip == nil && err == nil {
			event.Authorize(ev, event.Facts{}, rules)
			event.Decide(r, event.None, rules)
		}
		if !json.Valid(payload) && len(payload) > 0 {
			t.Error("a payload that is not JSON was read")
		}
	})
}

// plainer is a payload without what nobody reads of it: the fuzzer shortens whatever it finds, in a time that grows
// with the square of its length.
func plainer(f *testing.F, payload []byte) []byte {
	var all map[string]any
	if err := json.Unmarshal(payload, &all); err != nil {
		f.Fatal(err)
	}
	withoutAddresses(all)
	short, err := json.Marshal(all)
	if err != nil || len(short) > 2000 {
		f.Fatalf("%d bytes are too many for a seed: %s, %v", len(short), short, err)
	}
	return short
}

func withoutAddresses(in any) {
	switch v := in.(type) {
	case map[string]any:
		for name, value := range v {
			if strings.HasSuffix(name, "url") || value == nil || value == false {
				delete(v, name)
			}
			withoutAddresses(value)
		}
	case []any:
		for _, value := range v {
			withoutAddresses(value)
		}
	}
}

// lacking reports whether an event lacks what its kind says that it has.
func lacking(ev event.Event) bool {
	switch ev.Kind {
	case event.Labeled, event.Unlabeled, event.Closed:
		return ev.Issue == nil || ev.Issue.Number <= 0
	case event.Commented:
		return ev.Issue == nil || ev.Comment == nil
	case event.Reviewed:
		return ev.Issue == nil || !ev.Issue.Pull || ev.Review == nil
	case event.Built:
		return ev.Build == nil
	}
	return false
}
