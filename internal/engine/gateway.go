package engine

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/gateway"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc/sandbox"
)

// modelGateway carries turns to their models. The keys are in this process alone.
type modelGateway struct {
	log func(format string, args ...any)
}

// Open implements agent.Gateway.
func (g modelGateway) Open(routes []agent.Route, allow func(loop.Usage) error) (agent.Carrier, error) {
	o := gateway.Options{Upstreams: map[string]gateway.Upstream{}, Log: g.log,
		Allow: func(spent []gateway.Usage) error { u, _ := total(spent); return allow(u) }}
	for _, r := range routes {
		base, err := url.Parse(r.Base)
		if err != nil {
			return nil, fmt.Errorf("reading the address of the model: %w", err)
		}
		up := gateway.Upstream{Base: base, Credentials: []gateway.Credential{{Header: r.Header, Value: r.Value}},
			Extra: http.Header{}}
		if r.Renew != nil {
			up.Renew = func(ctx context.Context, refused []gateway.Credential) ([]gateway.Credential, bool) {
				value, ok := r.Renew(ctx, refused[0].Value)
				return []gateway.Credential{{Header: r.Header, Value: value}}, ok
			}
		}
		for _, line := range r.Extra {
			name, value, _ := strings.Cut(line, ":")
			up.Extra.Add(strings.TrimSpace(name), strings.TrimSpace(value))
		}
		for _, format := range r.Formats {
			up.Protocols = append(up.Protocols, gateway.Protocol(format))
		}
		o.Upstreams[r.Name] = up
	}
	t, err := gateway.Open(o)
	if err != nil {
		return nil, err
	}
	return carrier{t}, nil
}

// carrier is one turn at the gateway.
type carrier struct{ *gateway.Turn }

// Usage implements agent.Carrier.
func (c carrier) Usage() (loop.Usage, bool) {
	used := c.Turn.Usage()
	u, priced := total(used)
	if !priced {
		u.CostUSD = 0
	}
	return u, len(used) > 0
}

// total adds up what the models took, and tells whether all their prices are known.
func total(used []gateway.Usage) (sum loop.Usage, priced bool) {
	priced = true
	for _, u := range used {
		sum = sum.Plus(loop.Usage{CostUSD: u.Dollars, Input: u.Input, Output: u.Output, CacheRead: u.CacheRead,
			CacheWrite: u.CacheWrite})
		priced = priced && u.Priced
	}
	return sum, priced
}

// carried lets a gateway carry an agent's turns, as far as the setting gateway says so and the agent can be led there.
// The error is a mistake of whoever asked for that. says is for the log: that the agent has its credential; empty:
// nothing is to be said.
func (spec *Spec) carried(o agent.Options) (out agent.Options, says string, err error) {
	mode := spec.Settings.Gateway
	if mode == config.Off || mode == "" {
		return o, "", nil
	}
	c, name := agent.Carries(o), filepath.Base(o.Command)
	asked := mode == config.GatewayRequire
	switch {
	case c.Why == "" && (asked || !c.Unsure):
		o.Gateway = modelGateway{spec.Log}
		return o, "", nil
	case c.Unsure && c.Credential == "": // there is nothing to be kept
		return o, "", nil
	case c.Why == "":
		return o, name + " is no agent that ralph knows, so it gets the " + c.Credential + "; with the setting gateway: " +
			"require it gets an address and a bearer instead", nil
	case asked:
		err = invalid.Errorf("the setting gateway is require, and the turns of %s cannot be carried: %s", name, c.Why)
	case !c.Known && !c.Unsure && spec.Settings.Sandbox == sandbox.Require:
		err = invalid.Errorf("the setting sandbox is require, and %s, so it would have its key; take another agent, or set "+
			"gateway to off", c.Why)
	case spec.InJob && c.Known && (strings.HasPrefix(c.Credential, "key") || strings.HasPrefix(c.Credential, "login")):
		err = invalid.Errorf("%s cannot be kept from its %s: %s; change that, or set gateway to off", name, c.Credential,
			c.Why)
	case c.Credential != "":
		says = fmt.Sprintf("%s has its credential itself (%s): %s", name, c.Credential, c.Why)
	}
	if err != nil {
		o.Keys = nil // whoever goes on all the same
	}
	return o, says, err
}

// tellGateway says once of each agent that it has its credential.
func (run *Run) tellGateway(agents ...agent.Options) {
	told := map[string]bool{}
	for _, o := range agents {
		if _, says, _ := run.carried(o); says != "" && !told[says] {
			told[says] = true
			run.Log("gateway: %s", says)
		}
	}
}
