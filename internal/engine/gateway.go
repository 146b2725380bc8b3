package engine

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/gateway"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/proc/sandbox"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// modelGateway carries turns to their models. The keys are in this process alone.
type modelGateway struct {
	log  func(format string, args ...any)
	set  config.Settings
	once *sync.Map // what the log has said
}

// pricesOf are those of the settings, before the list that ralph brings along.
func pricesOf(set config.Settings) gateway.Prices {
	own := map[string]gateway.Price{}
	for _, p := range set.Prices {
		own[p.Model] = gateway.Price{Input: p.Input, Output: p.Output, CacheRead: *cmp.Or(p.Cached, &p.Input),
			CacheWrite: *cmp.Or(p.CacheWrite, &p.Input), Long: p.Long}
	}
	return gateway.Prices{Own: own}
}

// Prices implements agent.Gateway.
func (g modelGateway) Prices(model string) bool {
	if model == "" {
		return true
	}
	_, ok := pricesOf(g.set).Of(model)
	return ok
}

// Open implements agent.Gateway.
func (g modelGateway) Open(routes []agent.Route, left loop.Left) (agent.TurnGateway, error) {
	o := gateway.Options{Upstreams: map[string]gateway.Upstream{}, Log: g.log, Prices: pricesOf(g.set),
		Through: g.set.GatewayThrough, Told: g.once,
		Limit: gateway.Limit{Dollars: left.CostUSD, Tokens: left.Tokens, Setting: left.Setting()}}
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
		up.Protocols = safetext.Map(r.Formats, func(format string) gateway.Protocol { return gateway.Protocol(format) })
		o.Upstreams[r.Name] = up
	}
	return gateway.Open(o)
}

// withGateway lets a gateway carry an agent's turns, as far as the setting gateway says so and the agent can be led
// there. Another agent gets its key if the setting is off or the setting environment names it. The error is a mistake
// in the settings. says is for the log; empty: no line.
func (spec *Spec) withGateway(o agent.Options, once *sync.Map) (out agent.Options, says string, err error) {
	c, name := agent.CheckGateway(o), filepath.Base(o.Command)
	if c.Unnamed != "" {
		o.Keys = nil
		return o, "", invalid.Errorf("%s", c.Unnamed)
	}
	mode := spec.Settings.Gateway
	if mode == config.Off || mode == "" {
		return o, "", nil
	}
	asked := mode == config.GatewayRequire
	if c.Why == "" && (asked || !c.Unsure) {
		o.Gateway = modelGateway{spec.Log, spec.Settings, once}
		return o, "", nil
	}
	if c.Unsure && c.Credential == "" { // there is nothing to be kept
		return o, "", nil
	}
	held := maps.Clone(o.Keys)
	maps.DeleteFunc(held, func(key, _ string) bool {
		return proc.Value(proc.Environment([]string{key + "=x"}, o.Allow), key) != ""
	})
	switch {
	case asked:
		err = invalid.Errorf("the setting gateway is require, and the turns of %s cannot be carried: %s", name, c.Why)
	case !c.Known && !c.Unsure && spec.Settings.Sandbox == sandbox.Require:
		err = invalid.Errorf("the setting sandbox is require, and %s, so it would have its key; take another agent, or set "+
			"gateway to off", c.Why)
	case c.Unsure && len(held) > 0:
		o.Keys = maps.Clone(o.Keys)
		maps.DeleteFunc(o.Keys, func(key, _ string) bool { return held[key] != "" })
		return o, name + " does not get the " + c.Credential + ", because ralph does not know this agent; use gateway: require, " +
			"or name the variable in the setting environment", nil
	case !c.Known && held["AMP_API_KEY"] != "":
		err = invalid.Errorf("%s needs its key itself (AMP_API_KEY), because no gateway can carry it: name AMP_API_KEY in the "+
			"setting environment, or set gateway to off", name)
	case spec.InJob && c.Known && (strings.HasPrefix(c.Credential, "key") || strings.HasPrefix(c.Credential, "login")):
		err = invalid.Errorf("%s cannot be kept from its %s: %s; change that, or set gateway to off", name, c.Credential,
			c.Why)
	case c.Credential != "":
		says = fmt.Sprintf("%s has its credential itself (%s): %s", name, c.Credential, cmp.Or(c.Why, "the setting environment names it"))
	}
	if err != nil {
		o.Keys = nil // for a caller that continues in spite of the error
	}
	return o, says, err
}

// logGateway says once of each agent that it has its credential, or does not get it.
func (run *Run) logGateway(agents ...agent.Options) {
	logged := map[string]bool{}
	for _, o := range agents {
		o.Keys = run.Keys // also those that it was not given
		if _, says, _ := run.withGateway(o, &run.logged); says != "" && !logged[says] {
			logged[says] = true
			run.Log("gateway: %s", says)
		}
	}
}
