package event

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func may(levels map[string]string) map[string]Permission {
	out := map[string]Permission{}
	for login, level := range levels {
		out[login] = Permission{Level: level}
	}
	return out
}

// TestAuthorise has a row for each rule of B-10, B-11 and B-15. An empty want lets the event pass.
func TestAuthorise(t *testing.T) {
	labelled := func(sender string) Event {
		return Event{Kind: Labeled, Sender: Actor{Login: sender}, Issue: &Issue{Number: 1}}
	}
	comment := func(sender, author string) Event {
		return Event{Kind: Commented, Sender: Actor{Login: sender}, Comment: &Comment{Author: Actor{Login: author}},
			Issue: &Issue{Number: 1}}
	}
	tests := []struct {
		name  string
		ev    Event
		facts Facts
		bots  []string
		want  string
	}{
		{"a writer labels", labelled("alice"),
			Facts{Labeller: "alice", Permissions: may(map[string]string{"alice": "write"})}, nil, ""},
		{"an admin labels", labelled("Alice"),
			Facts{Labeller: "alice", Permissions: may(map[string]string{"alice": "admin"})}, nil, ""},
		{"a reader labels", labelled("bob"), Facts{Labeller: "bob", Permissions: may(map[string]string{"bob": "read"})}, nil,
			"bob has read permission"},
		{"no permission at all", labelled("bob"), Facts{Labeller: "bob", Permissions: may(map[string]string{"bob": "none"})},
			nil, "bob has no permission here"},
		{"a level GitHub does not have", labelled("bob"),
			Facts{Labeller: "bob", Permissions: may(map[string]string{"bob": "owner"})}, nil, "bob has owner permission"},
		{"the lookup failed", labelled("alice"),
			Facts{Labeller: "alice", Permissions: map[string]Permission{"alice": {Level: "admin", Err: errors.New("502")}}}, nil,
			"could not be looked up (502)"},
		{"nobody looked it up", labelled("alice"), Facts{Labeller: "alice"}, nil, "was not read"},
		{"the label is another's", labelled("alice"),
			Facts{Labeller: "bob", Permissions: may(map[string]string{"alice": "write", "bob": "read"})}, nil, "bob has read"},
		{"the labeller is unknown", labelled("alice"), Facts{Permissions: may(map[string]string{"alice": "write"})}, nil,
			"could not be read"},
		{"a writer comments", comment("alice", "alice"), Facts{Permissions: may(map[string]string{"alice": "write"})}, nil,
			""},
		{"sender and author differ", comment("alice", "mallory"),
			Facts{Permissions: may(map[string]string{"alice": "write", "mallory": "read"})}, nil,
			"the comment's author is mallory, but alice sent"},
		{"a reader re-runs a writer's event",
			Event{Kind: Commented, Sender: Actor{Login: "alice"}, TriggeringActor: "bob",
				Comment: &Comment{Author: Actor{Login: "alice"}}},
			Facts{Permissions: may(map[string]string{"alice": "write", "bob": "read"})}, nil, "bob has read"},
		{"a bot that is not listed", labelled("helper[bot]"),
			Facts{Labeller: "helper[bot]", Permissions: may(map[string]string{"helper[bot]": "admin"})}, []string{"other[bot]"},
			"not listed in allowed_bots"},
		{"a bot by its type", Event{Kind: Dispatched, Sender: Actor{Login: "machine", Bot: true}},
			Facts{Permissions: may(map[string]string{"machine": "admin"})}, nil, "not listed"},
		{"a listed bot", labelled("helper[bot]"), Facts{Labeller: "helper[bot]"}, []string{"Helper[bot]"}, ""},
		{"a star lists nobody", labelled("helper[bot]"), Facts{Labeller: "helper[bot]"}, []string{"*"}, "not listed"},
		{"ralph itself, even listed", labelled("ralph[bot]"), Facts{Self: "ralph[bot]", Labeller: "ralph[bot]"},
			[]string{"ralph[bot]"}, "its own events"},
		{"a fork", Event{Kind: Commented, Sender: Actor{Login: "alice"}, Issue: &Issue{Pull: true, Fork: true},
			Comment: &Comment{Author: Actor{Login: "alice"}}},
			Facts{Permissions: may(map[string]string{"alice": "admin"})}, nil, "comes from a fork"},
		{"nobody at all", Event{Kind: Dispatched}, Facts{}, nil, "names no"},
		{"a schedule", Event{Kind: Scheduled}, Facts{}, nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Authorise(tt.ev, tt.facts, Rules{AllowedBots: tt.bots})
			switch {
			case tt.want == "" && got != nil:
				t.Errorf("refused: %s", got.Reason)
			case tt.want != "" && got == nil:
				t.Errorf("let in; want a refusal with %q", tt.want)
			case got != nil && !strings.Contains(got.Reason, tt.want):
				t.Errorf("refused with %q, want %q", got.Reason, tt.want)
			}
		})
	}
}

func TestRead(t *testing.T) {
	rules := Rules{TriggerLabel: "ralph", TriggerPhrase: "/ralph"}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	comment := func(body string, edited time.Duration) Event {
		return Event{Kind: Commented, Issue: &Issue{},
			Comment: &Comment{Body: body, CreatedAt: at, UpdatedAt: at.Add(edited)}}
	}
	tests := []struct {
		name string
		ev   Event
		verb Verb
		skip string
	}{
		{"our label", Event{Kind: Labeled, Label: "Ralph", Issue: &Issue{}}, Run, ""},
		{"the label that asks for a plan", Event{Kind: Labeled, Label: "Ralph:Plan", Issue: &Issue{}}, Plan, ""},
		{"that label on a closed issue", Event{Kind: Labeled, Label: "ralph:plan", Issue: &Issue{Number: 3, Closed: true}},
			"", "#3 is closed"},
		{"a label of ours that asks for nothing", Event{Kind: Labeled, Label: "ralph:failed", Issue: &Issue{}}, "",
			"not “ralph” or “ralph:plan”"},
		{"approve", comment("/ralph approve", 0), Approve, ""},
		{"an edited approval", comment("/ralph approve", time.Second), "", "edited"},
		{"another label", Event{Kind: Labeled, Label: "bug", Issue: &Issue{}}, "", "the label is “bug”"},
		{"a closed issue", Event{Kind: Labeled, Label: "ralph", Issue: &Issue{Number: 3, Closed: true}}, "", "#3 is closed"},
		{"a command", comment("/ralph retry", 0), Retry, ""},
		{"an edited command", comment("/ralph retry", time.Minute), "", "edited"},
		{"a plain comment", comment("nice", 0), "", "does not begin with /ralph"},
		{"a dispatch", Event{Kind: Dispatched}, Run, ""},
		{"a dispatch of a plan", Event{Kind: Dispatched, Ask: DispatchRequest{Plan: "ralph/tasks.json"}}, Run, ""},
		{"a schedule", Event{Kind: Scheduled}, Sweep, ""},
		{"anything else", Event{Kind: Other, Name: "star.created"}, "", "nothing on star.created"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req, skip, err := Read(tt.ev, rules)
			if err != nil {
				t.Fatal(err)
			}
			if tt.skip != "" {
				if skip == nil || !strings.Contains(skip.Reason, tt.skip) {
					t.Errorf("skip = %v, want %q", skip, tt.skip)
				}
				return
			}
			if req.PlanFile != tt.ev.Ask.Plan {
				t.Errorf("plan file = %q, want %q", req.PlanFile, tt.ev.Ask.Plan)
			}
			if skip != nil || req.Verb != tt.verb {
				t.Errorf("verb = %q, skip = %v, want %q", req.Verb, skip, tt.verb)
			}
		})
	}
}

// TestAuthoriseEdit has a row for each who may have edited a comment of ralph's. An empty want lets the edit count.
func TestAuthoriseEdit(t *testing.T) {
	facts := Facts{Self: "github-actions[bot]", Permissions: may(map[string]string{"alice": "write", "bob": "read"})}
	facts.Permissions["carol"] = Permission{Err: errors.New("502")}
	for _, tt := range []struct {
		name   string
		editor Actor
		want   string
	}{
		{"a writer", Actor{Login: "Alice"}, ""},
		{"a reader", Actor{Login: "bob"}, "bob has read permission here"},
		{"an account that is gone", Actor{}, "the last editor is not known"},
		{"the lookup failed", Actor{Login: "carol"}, "could not be looked up (502)"},
		{"nobody looked it up", Actor{Login: "dave"}, "was not read"},
		{"a bot", Actor{Login: "helper[bot]", Bot: true}, "is a bot that is not listed in allowed_bots"},
		{"a bot that may", Actor{Login: "robot[bot]", Bot: true}, ""},
		{"another workflow", Actor{Login: "github-actions[bot]", Bot: true}, "another workflow writes as that account"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			refusal := AuthoriseEdit(tt.editor, facts, Rules{AllowedBots: []string{"robot[bot]"}})
			if (refusal == nil) != (tt.want == "") || refusal != nil && !strings.Contains(refusal.Reason, tt.want) {
				t.Errorf("%+v, want %q", refusal, tt.want)
			}
		})
	}
}
