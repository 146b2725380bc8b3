package agent

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
)

// GatewaySupport says whether a gateway can carry the turns of an agent.
type GatewaySupport struct {
	Routes []Route
	Why    string // why it cannot; "": it can
	// Unsure says that nobody knows whether the agent uses the address that it is given.
	Unsure bool
	Known  bool // ralph knows the agent, and how it is carried
	// Credential is where the agent's credential is: "key in ANTHROPIC_API_KEY"; "" none is seen.
	Credential string
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
	if c.Routes, c.Why = d.gateway.routes(o); c.Why != "" || len(c.Routes) > 0 {
		if c.Why != "" && c.Credential == "" && d.name == "claude" && logins[d.name].lax {
			c.Credential = "login in the keychain, if there is one"
		}
		return c
	}
	if c.Why = "no key for " + d.name + " is in the environment"; strings.HasPrefix(c.Credential, "login") {
		c.Why = "the " + c.Credential + " is none that can be carried: " + logins[d.name].how
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

// differs reports whether what an agent told, if it told anything, is not what was seen, give or take a twentieth.
func differs(told, seen float64) bool { return told > 0 && math.Abs(told-seen) > seen/20 }

// onTheWire takes a turn's tokens and its cost from the answers of its model, which no agent can tell otherwise.
func (t *turnInput) onTheWire(turn *loop.Turn) {
	if t.way == nil {
		return
	}
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
