package serve

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/bot"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
)

// TestSessionsAreAudited: that somebody signs out is in the audit log, once, and of a session that is there.
func TestSessionsAreAudited(t *testing.T) {
	_, in := anApp(t, time.Now, fake.App{Owner: "acme"})
	s, p := in.s, newPeople(&parts{in.o, in.s, in})
	must(t, p.Start(t.Context(), "one", web.Identity{Login: "alice", Token: "ghu_made-up"}))
	must(t, p.Start(t.Context(), "two", web.Identity{Login: "alice"}))
	must(t, p.End(t.Context(), "one", false))
	must(t, p.End(t.Context(), "two", true))
	if err := p.End(t.Context(), "one", false); err == nil {
		t.Error("a session ended twice")
	}
	rows := got[[]store.Entry](t)(s.Audits(t.Context(), store.Filter{}))
	var did []string
	for _, e := range rows {
		did = append(did, e.Action+" "+e.Result)
	}
	if want := []string{"session.end everywhere done", "session.end done"}; !slices.Equal(did, want) {
		t.Errorf("the audit log has %q, want %q", did, want)
	}
}

// TestWhoMay: outsiders read what the setting says of a public repository, whoever works on it everything, and operators
// are who owns the App, who owns the organization that does, and who was named.
func TestWhoMay(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	clock := func() time.Time { return now }
	hub, in := anApp(t, clock, fake.App{Owner: "acme"})
	hub.AddOrganization("acme", "olga")
	for _, name := range []string{"open", "shut"} {
		must(t, hub.AddRepo("acme", name, "main"))
		hub.SetPermission("acme", name, "bob", "read")
		hub.SetPermission("acme", name, "tim", "triage")
		hub.SetPermission("acme", name, "wendy", "write")
	}
	hub.SetPrivate("acme", "shut", true)
	installation := hub.Install(7, "acme")
	for _, login := range []string{"sam", "bob", "tim", "wendy"} {
		hub.AddToken("token-of-"+login, login, fake.PAT)
	}
	if newPeople(&parts{in.o, in.s, in}).AuthorizeURL("", "", "https://ralph.example/sign-in/callback") == "" {
		t.Error("the page says that no one can sign in")
	}
	as := func(login string) web.Identity {
		return web.Identity{Login: login, Token: "token-of-" + login}
	}
	for _, c := range []struct {
		outsiders, login, repository string
		may                          web.Permission
	}{
		{"nothing", "sam", "acme/open", web.NoPermission}, {"runs", "sam", "acme/open", web.MaySeeRuns},
		{"all", "sam", "acme/open", web.MayRead}, {"runs", "bob", "acme/open", web.MayRead},
		{"nothing", "tim", "acme/open", web.MayRead}, {"runs", "wendy", "acme/open", web.MayWrite},
		{"runs", "bob", "acme/shut", web.MayRead}, {"runs", "wendy", "acme/none", web.NoPermission},
		{"all", "bob", "acme", web.NoPermission},
	} {
		p := newPeople(&parts{Options{Identity: Identity{Outsiders: c.outsiders}, Clock: clock}, in.s, in})
		if got, err := p.Permission(t.Context(), as(c.login), c.repository); err != nil || got != c.may {
			t.Errorf("%+v: %v, %v", c, got, err)
		}
	}
	p := newPeople(&parts{Options{Identity: Identity{Operators: []string{"Nora"}, Outsiders: "runs"}, Clock: clock}, in.s, in})
	for login, want := range map[string]bool{"olga": true, "nora": true, "bob": false, "acme": false} {
		if got, err := p.Operator(t.Context(), as(login)); err != nil || got != want {
			t.Errorf("%s is an operator: %v, %v", login, got, err)
		}
	}
	if _, err := p.Permission(t.Context(), as("eve"), "acme/open"); !errors.Is(err, web.ErrSignedOut) {
		t.Errorf("with a token that GitHub does not know: %v", err)
	}
	hub.Fail(fake.Fault{Status: 502, Times: -1})
	if got, err := p.Operator(t.Context(), as("olga")); err != nil || !got {
		t.Errorf("while it is remembered: %v, %v", got, err)
	}
	now = now.Add(time.Minute)
	if got, err := p.Operator(t.Context(), as("olga")); err == nil || got {
		t.Errorf("a minute after GitHub has said so: %v, %v", got, err)
	}
	hub.ClearFaults()
	hub.Grant(installation, fake.Permissions{"contents": "write"})
	if got, err := p.Operator(t.Context(), as("olga")); err != nil || got {
		t.Errorf("without the permission to read members: %v, %v", got, err)
	}
}

// TestStrangersCostLittle: a stranger's command costs a call for their permission, which is remembered for a minute, and
// one for its reaction.
func TestStrangersCostLittle(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	clock := func() time.Time { return now }
	hub, in := anApp(t, clock, fake.App{Owner: "alice", InstallationID: 70})
	must(t, hub.AddRepo("alice", "demo", "main"))
	issue := hub.AddIssue("alice", "demo", fake.Issue{Title: "x", Author: "alice"})
	in.o.Rules = event.Rules{TriggerLabel: "ralph", TriggerPhrase: "/ralph"}
	a := &askers{parts: &parts{in.o, in.s, in}, may: lookups[string]{clock: clock}}
	for _, c := range []struct {
		name, login, role string
		after             time.Duration
		refused           bool
		calls             int // tokens, of which one counts for an hour, not counted
	}{
		{"a stranger", "bob", "", 0, true, 2}, {"once more", "bob", "", 0, true, 1}, {"a minute later", "bob", "", time.Minute, true, 2},
		{"somebody who may", "wendy", "write", 0, false, 1}, {"once more", "wendy", "write", 0, false, 0},
	} {
		t.Run(c.login+" "+c.name, func(t *testing.T) {
			now = now.Add(c.after)
			hub.SetPermission("alice", "demo", c.login, cmp.Or(c.role, "none"))
			id := hub.AddComment("alice", "demo", issue, fake.Comment{Author: c.login, Body: "/ralph run"})
			payload := strings.NewReplacer("BODY", "/ralph run", `"bob"`, `"`+c.login+`"`, `"id":1,`, fmt.Sprintf(`"id":%d,`, id)).Replace(aComment)
			hub.ResetCalls()
			ev := got[event.Event](t)(eventOf(delivered("d-1", "issue_comment", []byte(payload), now)))
			at, read, err := a.soon(t.Context(), 70, ev)
			must(t, err)
			calls := slices.DeleteFunc(hub.Calls(), func(c fake.Call) bool { return strings.HasSuffix(c.Path, "/access_tokens") })
			if (at.Step == bot.Refuse) != c.refused || len(calls) != c.calls || read.Levels[c.login] != cmp.Or(c.role, "none") {
				t.Errorf("%s: %s, %v, calls: %v", at.Step, at.Why, read, calls)
			}
			for _, call := range calls {
				if call.Status >= 300 {
					t.Errorf("%s: %d", call, call.Status)
				}
			}
		})
	}
	ev := got[event.Event](t)(eventOf(delivered("d-2", "issue_comment", []byte(strings.NewReplacer("BODY", "/ralph run", `"bob"`, `"wendy"`).Replace(aComment)), now)))
	row := decided{event: ev, permitted: permitted{now, map[string]string{"wendy": "write"}}}.run(store.Delivery{})
	row.Installation = 70
	hub.SetPermission("alice", "demo", "wendy", "none")
	if levels, err := a.again(t.Context(), row, ev); err != nil || levels["wendy"] != "write" {
		t.Errorf("within a minute it counts as decided: %v, %v", levels, err)
	}
	now = now.Add(time.Minute)
	lost := (*settledError)(nil)
	if _, err := a.again(t.Context(), row, ev); !errors.As(err, &lost) || lost.state != string(loop.Refused) {
		t.Errorf("who has lost access while the run waited: %v", err)
	}
	hub.Fail(fake.Fault{Status: 502, Times: -1})
	now = now.Add(time.Minute)
	if _, err := a.again(t.Context(), row, ev); err == nil || errors.As(err, &lost) {
		t.Errorf("while GitHub does not answer, nothing begins: %v", err)
	}
}
