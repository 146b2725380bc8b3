package agent

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// GatewaySupport says whether a gateway can carry the turns of an agent.
type GatewaySupport struct {
	Routes []Route
	Why    string // why it cannot; "": it can
	// Unsure says that no one knows whether the agent uses the address that it is given.
	Unsure bool
	Known  bool // ralph knows the agent, and how it is carried
	// Unnamed names the variables that the agent needs to reach a provider without the gateway, and does not get
	// because the setting environment does not name them; "" if it gets all.
	Unnamed string
	// Credential is where the agent's credential is: "key in ANTHROPIC_API_KEY"; "" none is seen.
	Credential string
}

// unnamed says which variables of a provider the environment has and the agent does not get.
func unnamed(name string, o Options) string {
	given := proc.Environment(o.Parent, o.Allow)
	for _, e := range elsewhere {
		if e.agent != name || proc.Value(o.Parent, e.chosen) == "" {
			continue
		}
		missing := slices.DeleteFunc(append([]string{e.chosen}, e.needs...), func(variable string) bool {
			return proc.Value(o.Parent, variable) == "" || proc.Value(given, variable) != ""
		})
		if len(missing) > 0 {
			return fmt.Sprintf("%s asks %s (%s), which the gateway does not carry: add %s to the setting environment", name,
				e.provider, e.chosen, strings.Join(missing, ", "))
		}
	}
	return ""
}

// CheckGateway finds out whether a gateway could carry the turns of these options.
func CheckGateway(o Options) GatewaySupport {
	d, known := dialectOf(o.Command)
	c := GatewaySupport{Unsure: !known, Known: known && d.gateway != nil}
	if known {
		c.Credential = credential(d, o)
	} else if i := slices.IndexFunc(KeyNames(), func(name string) bool { return o.Keys[name] != "" }); i >= 0 {
		c.Credential = "key in " + KeyNames()[i]
	}
	if d.gateway == nil {
		c.Why = d.name + " has no setting that says where its model is"
		return c
	}
	c.Routes, c.Why = d.gateway.routes(o)
	if len(c.Routes) == 0 {
		c.Unnamed = unnamed(d.name, o)
	}
	if c.Why != "" || len(c.Routes) > 0 {
		if c.Why != "" && c.Credential == "" && d.name == "claude" && d.login.lax {
			c.Credential = "login in the keychain, if there is one"
		}
		return c
	}
	if c.Why = "no key for " + d.name + " is in the environment"; strings.HasPrefix(c.Credential, "login") {
		c.Why = "the " + c.Credential + " cannot use the gateway: " + d.login.how
	}
	return c
}

// carry opens the way to the agent's model; done closes it. A turn without a gateway has none. why says that its user
// has to log in again before there can be one.
func (t *turnInput) carry(ctx context.Context) (done func(), why string, err error) {
	if t.Gateway == nil {
		return func() {}, "", nil
	}
	c := CheckGateway(t.Options)
	if c.Why != "" {
		return nil, "", fmt.Errorf("carrying %s to its model: %s", filepath.Base(t.Command), c.Why)
	}
	if t.routes, why = t.login(ctx, c.Routes); why != "" {
		return nil, why, nil
	}
	if t.way, err = t.Gateway.Open(t.routes, t.Left); err != nil {
		return nil, "", fmt.Errorf("opening the way to the agent's model: %w", err)
	}
	return func() { _ = t.way.Close() }, "", nil
}

// loggedOut makes a turn wait for its user, whose login has been refused: a key that is wrong stays wrong, but all that
// is needed here is to log in again.
func (t *turnInput) loggedOut(turn *loop.Turn) {
	if turn.Class != loop.Auth {
		return
	}
	where := ""
	if i := slices.IndexFunc(t.routes, func(r Route) bool { return r.Login != "" }); i >= 0 {
		where = t.routes[i].Login
	} else if rest, ok := strings.CutPrefix(credential(t.dialect, t.Options), "login in "); ok {
		where = rest
	}
	if where != "" {
		turn.Class, turn.Reason = loop.Waits, t.dialect.loginHint(where)
	}
}

// differs reports whether what an agent reported, if it did, is more than 5% away from what was seen.
func differs(told, seen float64) bool { return told > 0 && math.Abs(told-seen) > seen/20 }

// onTheWire takes a turn's tokens and its cost from the answers of its model, which no agent can tell otherwise.
func (t *turnInput) onTheWire(turn *loop.Turn) {
	if t.way == nil {
		return
	}
	_ = t.way.Close() // what is not counted yet is counted now
	if seen, asked := t.way.Usage(); asked {
		told := turn.Usage
		if seen.CostUSD == 0 {
			seen.CostUSD = told.CostUSD
		}
		if differs(told.CostUSD, seen.CostUSD) || differs(float64(told.Tokens()), float64(seen.Tokens())) {
			turn.AgentUsage = &told
		}
		turn.Usage = seen
	}
	if why := t.way.Refused(); why != "" && turn.Class != loop.OK {
		turn.Class, turn.Reason, turn.Ours = loop.Spent, why, true
	}
}

const (
	// renewBefore is how long before its end a login is renewed: claude does it from then on.
	renewBefore = 5 * time.Minute
	// renewLimit is how long that may take. In tests, the CLI took a second; it gives its provider four tries.
	renewLimit = time.Minute
)

// over reports whether a login ends within a time from now.
func (r Route) over(now time.Time, within time.Duration) bool {
	return !r.Ends.IsZero() && !now.Add(within).Before(r.Ends)
}

// login makes sure that the routes' logins count: one that is about to end is renewed. why says that one has ended; "":
// none has. Each route can be renewed later, too.
func (t *turnInput) login(ctx context.Context, routes []Route) (ready []Route, why string) {
	for _, r := range routes {
		if r.Login != "" && t.dialect.gateway.renew != nil {
			if r.over(t.now(), renewBefore) {
				if fresh, ok := t.renewed(ctx, r); ok {
					r = fresh
				}
			}
			if r.over(t.now(), 0) {
				return nil, t.dialect.loginHint(r.Login)
			}
			r.Renew = func(ctx context.Context, refused string) (string, bool) {
				used := r
				used.Value = refused
				fresh, ok := t.renewed(ctx, used)
				return fresh.Value, ok
			}
		}
		ready = append(ready, r)
	}
	return ready, ""
}

// renewed is a route with a login that has not been refused: the one that someone else has renewed by now, or else the
// one that the owner's CLI gets.
func (t *turnInput) renewed(ctx context.Context, refused Route) (Route, bool) {
	if r, ok := t.fresh(refused); ok {
		return r, true
	}
	t.renew(ctx)
	return t.fresh(refused)
}

// fresh is the login as it is in its file now, if it is another one.
func (t *turnInput) fresh(refused Route) (Route, bool) {
	routes, _ := t.dialect.gateway.routes(t.Options)
	for _, r := range routes {
		if r.Name == refused.Name && r.Login == refused.Login && r.Value != refused.Value && !r.over(t.now(), 0) {
			return r, true
		}
	}
	return refused, false
}

// renew has the owner's CLI renew its login, in no box, and so in an empty directory and without a task. A program that
// an agent could have put there does not run. A renewal finishes even if the turn is stopped: the old login is invalid
// by then.
func (t *turnInput) renew(ctx context.Context) {
	if !t.owners() {
		return
	}
	dir, remove, err := proc.TempDir("")
	if err != nil {
		return
	}
	defer remove()
	o := t.Options
	o.Gateway, o.Keys, o.Extra, o.Allow = nil, nil, nil, nil
	d := t.dialect
	d.pass = []string{d.login.dirFrom} // and no address of another provider
	said := proc.NewTail(0, 1<<10)
	_, _ = proc.Run(context.WithoutCancel(ctx), proc.Spec{ // what resulted from it is in the file
		Argv: append([]string{t.program}, t.dialect.gateway.renew...), Dir: dir,
		Env: environment(o, d), Stdout: said, Stderr: said, As: t.As, Timeout: renewLimit, Ending: proc.Ending{Grace: time.Second},
	})
}

// owners reports whether the agent's program was found by its bare name, outside of where the agent works.
func (t *turnInput) owners() bool {
	if filepath.Base(t.Command) != t.Command || !filepath.IsAbs(t.program) {
		return false
	}
	program, err := filepath.EvalSymlinks(t.program)
	if err != nil {
		return false
	}
	dir, err := filepath.EvalSymlinks(orHere(t.Dir))
	if err != nil {
		return false
	}
	for _, path := range []string{t.program, program} {
		if path == dir || strings.HasPrefix(path, dir+string(filepath.Separator)) {
			return false
		}
	}
	return true
}

// credential is where the agent's credential is; "" when none is seen. A file counts if it has any content.
func credential(d dialect, o Options) string {
	for _, name := range d.keys {
		if proc.Value(o.Parent, name) != "" || o.Keys[name] != "" {
			return "key in " + name
		}
	}
	file, home := d.login.path(o)
	if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Size() > 2 { // more than {}
		return "login in " + fromHome(file, home)
	}
	if d.name == "gemini" {
		if _, where := geminiSaved(o); where != "" {
			return "key in " + where
		}
		return geminiLogin(filepath.Join(filepath.Dir(file), "settings.json"), home)
	}
	return ""
}
