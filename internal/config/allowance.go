package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// Allowance is what a server allows the repositories of an installation. Empty lists and zero allow everything that
// leads to nothing of the server's machine; a list names everything allowed.
type Allowance struct {
	Agents []string `json:"agents,omitempty"` // "claude", or the path of a program; empty: those that ralph knows by name
	Models []string `json:"models,omitempty"` // the first one is used where a repository names none
	// Hosts and Writable are what sandboxNetwork and sandboxWritable may name, besides the registries of packages. "*" in
	// Hosts is every host.
	Hosts    []string `json:"hosts,omitempty"`
	Writable []string `json:"writable,omitempty"`
	// Launchers are OnServer and InWorkflow; the first one is used where a repository names none.
	Launchers []string `json:"launchers,omitempty"`
	// The most that a run, or all runs of an issue, may spend or take. A repository that asks for nothing gets them.
	MaxCostUSD         float64 `json:"maxCostUsd,omitempty"`
	MaxCostUSDPerIssue float64 `json:"maxCostUsdPerIssue,omitempty"`
	MaxTokens          int     `json:"maxTokens,omitempty"`
	MaxIterations      int     `json:"maximumIterations,omitempty"`
	MaxMinutes         int     `json:"timeoutMinutes,omitempty"`
	// GatewayThrough is what the server's own gateway passes on, as the setting of that name does.
	GatewayThrough []string `json:"gatewayThrough,omitempty"`
	// Sandbox Off lets a repository choose a sandbox in which not everything holds, or none. "": it cannot.
	Sandbox string `json:"sandbox,omitempty"`
}

// Where ralph serve has a run worked on.
const (
	OnServer   = "process"  // a process of the server's machine
	InWorkflow = "workflow" // a job of the repository's own workflow
)

// Allowances are those of a server: by the account's name in lower case, and "*" for every other account.
type Allowances map[string]Allowance

// ReadAllowances reads the server's file: {"acme": {"agents": ["claude"], "maxCostUsd": 20}, "*": {…}}. Comments and
// trailing commas are allowed. Its error names the file and what is wrong.
func ReadAllowances(name string, content []byte) (Allowances, error) {
	text, err := hujson.Standardize(bytes.Clone(content))
	if err != nil {
		return nil, &Error{[]string{fmt.Sprintf("%s is not JSON: %v.", name, err)}}
	}
	var read map[string]Allowance
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err = d.Decode(&read); err == nil && d.Decode(new(any)) != io.EOF {
		err = errors.New("something follows the object")
	}
	if err != nil {
		return nil, &Error{[]string{fmt.Sprintf("%s: it is no list of what accounts are allowed: %v", name, err)}}
	}
	all, problems := Allowances{}, []string(nil)
	for account, a := range read {
		key := strings.ToLower(account)
		if _, twice := all[key]; twice {
			problems = append(problems, name+": "+account+" is there twice.")
		}
		if a.MaxCostUSD < 0 || a.MaxCostUSDPerIssue < 0 || a.MaxTokens < 0 || a.MaxIterations < 0 || a.MaxMinutes < 0 {
			problems = append(problems, name+": "+account+": a limit is below 0.")
		}
		if a.Sandbox != "" && a.Sandbox != Off {
			problems = append(problems, name+": "+account+`: sandbox is `+show(a.Sandbox)+`; must be "off", or left out.`)
		}
		for _, l := range a.Launchers {
			if l != OnServer && l != InWorkflow {
				problems = append(problems, fmt.Sprintf("%s: %s: launchers has %s; must be %s or %s.", name, account,
					show(l), OnServer, InWorkflow))
			}
		}
		all[key] = a
	}
	slices.Sort(problems)
	return all, asError(problems)
}

// Of is what an account is allowed: its own row, or that of all others, or everything when there is neither.
func (a Allowances) Of(account string) Allowance {
	if own, ok := a[strings.ToLower(account)]; ok {
		return own
	}
	return a["*"]
}

// Allowed is the origin of a value that is the most that a server allows.
const Allowed = "allowed by this installation"

// Name reports whether someone's list names a launcher.
func (a Allowances) Name(launcher string) bool {
	for _, of := range a {
		if slices.Contains(of.Launchers, launcher) {
			return true
		}
	}
	return false
}

// Apply holds settings against what is allowed. An agent or a model outside of the allowance is an *Error with the
// value, its origin, and the allowed values. A budget above the allowed one becomes that one, with a sentence about it;
// what was changed comes from Allowed then. The settings that were handed over stay as they are.
func (a Allowance) Apply(e Explained) (Explained, []string, error) {
	e.From = maps.Clone(e.From)
	if e.From == nil {
		e.From = map[string]string{}
	}
	s := &e.Settings
	var problems []string
	if s.Dispatch != "" && !a.Allows(s.Dispatch) {
		problems = append(problems, a.refuses(e, "dispatch", s.Dispatch, strings.Join(a.Launchers, ", ")))
	}
	if s.Dispatch == "" {
		s.Dispatch = OnServer
		if len(a.Launchers) > 0 {
			s.Dispatch, e.From["dispatch"] = a.Launchers[0], Allowed
		}
	}
	problems = slices.Concat(a.command(&s.Agent, "agent", e), a.command(&s.Reviewer, "reviewer", e), problems)
	if a.restricts() && s.AgentSettings {
		problems = append(problems, a.refuses(e, "agentSettings", "true", "false: the repository's own settings of an agent "+
			"could name another model"))
	}
	if s.Dispatch != InWorkflow { // there nothing of the server's machine can be reached
		problems = append(problems, a.sandbox(s, e)...)
	}
	if err := asError(problems); err != nil {
		return Explained{}, nil, err
	}
	notes := a.lower(&e)
	return e, notes, nil
}

// sandbox judges what could lead out of the sandbox, and has one be required in which everything holds.
func (a Allowance) sandbox(s *Settings, e Explained) (problems []string) {
	for _, path := range s.SandboxWritable {
		if !slices.Contains(a.Writable, path) {
			problems = append(problems, a.refuses(e, "sandboxWritable", path, cmp.Or(strings.Join(a.Writable, ", "), "none")))
		}
	}
	for _, host := range s.SandboxNetwork {
		if !slices.Contains(a.Hosts, host) && !slices.Contains(a.Hosts, "*") && !slices.Contains(registries(), host) {
			problems = append(problems, a.refuses(e, "sandboxNetwork", host, strings.Join(append([]string{"the registries of " +
				"packages"}, a.Hosts...), ", ")))
		}
	}
	switch {
	case a.Sandbox == Off:
	case s.Sandbox == "auto":
		s.Sandbox, e.From["sandbox"] = "require", Allowed
	case s.Sandbox == Off || s.Sandbox == "landlock":
		problems = append(problems, a.refuses(e, "sandbox", s.Sandbox, "those in which everything holds"))
	}
	return problems
}

// Allows reports whether runs may be worked on there: OnServer, InWorkflow.
func (a Allowance) Allows(launcher string) bool {
	return len(a.Launchers) == 0 || slices.Contains(a.Launchers, launcher)
}

// lower lowers the budgets of settings, in place, and says which.
func (a Allowance) lower(e *Explained) []string {
	s, notes := &e.Settings, []string(nil)
	note := func(key, asked, given string) {
		if asked != "0" && e.origin(key) != Default {
			notes = append(notes, fmt.Sprintf("%s: %s is %s; this server allows %s.", e.origin(key), key, asked, given))
		}
		e.From[key] = Allowed
	}
	atMost(&s.MaxCostUSD, a.MaxCostUSD, "maxCostUsd", note)
	atMost(&s.MaxCostUSDPerIssue, a.MaxCostUSDPerIssue, "maxCostUsdPerIssue", note)
	atMost(&s.MaxTokens, a.MaxTokens, "maxTokens", note)
	atMost(&s.TimeoutMinutes, a.MaxMinutes, "timeoutMinutes", note)
	if s.MostIterations = a.MaxIterations; a.MaxIterations > 0 && s.MaximumIterations != nil {
		most := *s.MaximumIterations
		atMost(&most, a.MaxIterations, "maximumIterations", note)
		s.MaximumIterations = &most
	}
	if a.MaxCostUSD+a.MaxCostUSDPerIssue > 0 && len(s.Prices) > 0 { // otherwise a repository could call a model cheap
		note("prices", "set", "none: what a run costs is counted by the server's list")
		s.Prices = nil
	}
	return notes
}

// atMost lowers a limit, of which 0 means any amount, to the allowed one.
func atMost[N int | float64](asked *N, allowed N, key string, note func(key, asked, given string)) {
	if allowed == 0 || (*asked != 0 && *asked <= allowed) {
		return
	}
	note(key, fmt.Sprint(*asked), fmt.Sprint(allowed))
	*asked = allowed
}

func (a Allowance) restricts() bool { return len(a.Agents) > 0 || len(a.Models) > 0 }

// command judges one of the two agents. Flags could name another model or program, so that they are refused together
// with what is restricted.
func (a Allowance) command(c *Command, key string, e Explained) []string {
	var problems []string
	allowed := a.Agents
	if len(allowed) == 0 {
		allowed = knownAgents
	}
	if !slices.Contains(allowed, c.Command) && (a.restricts() || e.Settings.Dispatch != InWorkflow) {
		problems = append(problems, a.refuses(e, key+".command", c.Command, strings.Join(allowed, ", ")))
	}
	if a.restricts() && len(c.Flags) > 0 {
		problems = append(problems, a.refuses(e, key+".flags", strings.Join(c.Flags, " "), "none: they could name another "+
			"model"))
	}
	switch {
	case len(a.Models) == 0 || slices.Contains(a.Models, c.Model):
	case c.Model == "":
		c.Model, e.From[key+".model"] = a.Models[0], Allowed
	default:
		problems = append(problems, a.refuses(e, key+".model", c.Model, strings.Join(a.Models, ", ")))
	}
	return problems
}

func (a Allowance) refuses(e Explained, key, asked, allowed string) string {
	return fmt.Sprintf("%s: %s is %s; this server allows %s.", e.origin(key), key, show(asked), allowed)
}
