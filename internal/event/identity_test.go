package event

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata and docs/internals/requests.md anew")

// The matrix of B-10 to B-15: everybody who can be behind an event, with every answer of GitHub about them, in every
// kind of event.
var (
	actors = []struct {
		Actor
		self string // whom ralph writes as; empty: ralph[bot]
	}{
		{Actor{"alice", false}, ""},
		{Actor{"helper[bot]", true}, ""}, // listed in allowed_bots
		{Actor{"stray[bot]", true}, ""},
		{Actor{"machine", true}, ""}, // a bot without the suffix
		{Actor{"RALPH[bot]", true}, ""},
		{Actor{"rita", false}, "Rita"}, // whose token ralph uses
		{Actor{"", false}, ""},         // a deleted account
	}
	permissions = []*Permission{
		{Level: "admin", Role: "admin"}, {Level: "write", Role: "maintain"}, {Level: "maintain"},
		{Level: "write", Role: "write"},
		{Level: "read", Role: "triage"}, {Level: "read", Role: "read"}, {Level: "none"}, {},
		{Level: "owner"}, // which GitHub does not have
		{Level: "write", Role: "releaser"}, {Level: "read", Role: "auditor `@all`"},
		{Err: errors.New("404 Not Found")}, {Level: "admin", Err: errors.New("403 Resource not accessible by integration")},
		{Level: "write", Err: errors.New("500")},
		nil, // not looked up
	}
	// others are further people: with write access, without, with a lookup that failed, bots.
	others = []string{"", "same", "wendy", "bob", "errol", "helper[bot]", "stray[bot]", "ralph[bot]"}
	kinds  = []Kind{Labeled, Unlabeled, Closed, Commented, Reviewed, Built, Dispatched, Scheduled}
)

// identity is one case of the matrix.
type identity struct {
	who        Actor
	self       string
	permission *Permission
	kind       Kind
	second     string // labeler, comment's author or reviewer
	trigger    string
	fork       bool
}

func (c identity) event() Event {
	ev := Event{Kind: c.kind, Sender: c.who, TriggeringActor: c.trigger,
		Issue: &Issue{Number: 4, Pull: c.fork, Fork: c.fork}}
	author := Actor{c.second, c.second == c.who.Login && c.who.Bot}
	switch c.kind {
	case Commented:
		ev.Comment = &Comment{Author: author}
	case Reviewed:
		ev.Review = &Review{Author: author}
	case Built:
		ev.Issue, ev.Build = nil, &Build{Fork: c.fork}
	case Scheduled:
		ev.Issue = nil
	}
	return ev
}

func (c identity) facts() Facts {
	facts := Facts{Self: c.self, Permissions: map[string]Permission{"wendy": {Level: "write"}, "bob": {Level: "read"},
		"errol": {Err: errors.New("502")}}}
	if c.permission != nil {
		facts.Permissions[strings.ToLower(c.who.Login)] = *c.permission
	}
	if c.kind == Labeled {
		facts.Labeler = c.second
	}
	return facts
}

// faults are all reasons to refuse a case, each by a word of its sentence; none lets it in. It says the rules once
// more, in another way.
func (c identity) faults() map[string]bool {
	wrong := map[string]bool{}
	if c.kind == Closed {
		return wrong
	}
	if c.fork && c.kind != Scheduled {
		wrong["fork"] = true
	}
	if c.kind == Built || c.kind == Scheduled {
		return wrong
	}
	worded, people := c.kind == Commented || c.kind == Reviewed, []string{c.who.Login}
	if worded || c.kind == Labeled {
		people = append(people, c.second)
	}
	if c.trigger != "" {
		people = append(people, c.trigger)
	}
	if slices.Contains(people, "") {
		wrong["names no"] = true
		wrong["event log"] = c.kind == Labeled && c.second == ""
	}
	wrong["on behalf of another user"] = worded && c.second != c.who.Login
	for _, login := range people {
		wrong[c.faultOf(login)] = true
	}
	maps.DeleteFunc(wrong, func(word string, is bool) bool { return word == "" || !is })
	return wrong
}

// faultOf is what is wrong with one login.
func (c identity) faultOf(login string) string {
	switch login {
	case "wendy", "":
		return ""
	case "bob":
		return "a request needs write"
	case "errol":
		return "could not be looked up"
	case "ralph[bot]", "RALPH[bot]":
		if c.self == "Rita" {
			return "not listed in allowed_bots"
		}
		return "its own events"
	case "rita":
		return "its own events"
	case "helper[bot]":
		return ""
	case "stray[bot]", "machine":
		return "not listed in allowed_bots"
	}
	switch p := c.permission; { // alice
	case p == nil:
		return "was not read"
	case p.Err != nil:
		return "could not be looked up"
	case p.Level == "admin" || p.Level == "maintain" || p.Level == "write":
		return ""
	}
	return "a request needs write"
}

func identities(visit func(identity)) {
	for _, a := range actors {
		self := a.self
		if self == "" {
			self = "ralph[bot]"
		}
		for i, p := range permissions {
			if a.Login != "alice" && i > 0 && p != nil { // nobody asks what the others may
				continue
			}
			for _, kind := range kinds {
				for _, second := range others {
					for _, trigger := range others {
						for _, fork := range []bool{false, true} {
							visit(identity{a.Actor, self, p, kind, same(second, a.Login), same(trigger, a.Login), fork})
						}
					}
				}
			}
		}
	}
}

func same(other, login string) string {
	if other == "same" {
		return login
	}
	return other
}

// TestIdentities walks the matrix, and shows every sentence that anybody can be refused with.
func TestIdentities(t *testing.T) {
	rules, sentences, cases := Rules{AllowedBots: []string{"Helper[bot]", "*", "ralph[bot]"}}, map[string]bool{}, 0
	identities(func(c identity) {
		cases++
		ev, facts := c.event(), c.facts()
		got, want := Authorize(ev, facts, rules), c.faults()
		if (got == nil) != (len(want) == 0) {
			t.Fatalf("%+v: %+v, want %v", c, got, want)
		}
		if why, own := IsOwn(ev, facts.Self); own != (strings.EqualFold(c.who.Login, c.self) && c.kind != Closed &&
			c.kind != Built && c.kind != Scheduled) {
			t.Fatalf("%+v: own is %v", c, own)
		} else if own {
			sentences[why] = true
		}
		if got == nil {
			return
		}
		if !slices.ContainsFunc(slices.Collect(maps.Keys(want)),
			func(word string) bool { return strings.Contains(got.Reason, word) }) {
			t.Fatalf("%+v: refused with %q, want one of %v", c, got.Reason, want)
		}
		if !strings.Contains(got.Reason, "on behalf of") || c.who.Login == "alice" && c.second == "bob" { // once is enough
			sentences[got.Reason] = true
		}
	})
	if cases < 25_000 {
		t.Errorf("only %d cases", cases)
	}
	golden(t, "testdata/refusals.txt", strings.Join(slices.Sorted(maps.Keys(sentences)), "\n")+"\n")
}

// TestIdentitiesAreLookedUp: whoever Authorize asks about is in the list of those to look up, and nobody twice.
func TestIdentitiesAreLookedUp(t *testing.T) {
	identities(func(c identity) {
		if c.fork || c.permission != permissions[0] {
			return
		}
		ev := c.event()
		who := Identities(ev, c.facts().Labeler)
		facts := Facts{Self: c.self, Labeler: c.facts().Labeler, Permissions: map[string]Permission{}}
		for _, login := range who {
			facts.Permissions[strings.ToLower(login)] = Permission{Level: "write"}
		}
		if got := Authorize(ev, facts, Rules{}); got != nil && strings.Contains(got.Reason, "was not read") {
			t.Fatalf("%+v: %s, of %q", c, got.Reason, who)
		}
		for i, login := range who {
			if login == "" || slices.ContainsFunc(who[:i], func(w string) bool { return strings.EqualFold(w, login) }) {
				t.Fatalf("%+v: %q", c, who)
			}
		}
	})
}

// golden holds a text against a file, or writes it anew.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not what the code says (write it anew with -update):\n%s", file, firstChange(got, string(want)))
	}
}

func firstChange(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d\n got %s\nwant %s", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(a), len(b))
}
