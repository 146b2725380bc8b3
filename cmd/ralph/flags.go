package main

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
)

// A flag with the tag setting overrides the setting of that key.

// agentFlags are the coding agent.
type agentFlags struct {
	Agent        *string        `placeholder:"NAME" setting:"agent.command" help:"The coding agent: {agent_command}"`
	Model        *string        `placeholder:"NAME" setting:"agent.model" help:"{agent_model} Default: the agent's own."`
	AgentTimeout *time.Duration `placeholder:"TIME" setting:"agent.timeout" help:"{agent_timeout} Default: 20m."`
}

// fromHere makes a program above the current directory one of that directory: another tree, such as a reviewer's, would
// look for it somewhere else. Other commands stay as they are: a path below is searched for in each tree.
func (f *agentFlags) fromHere(p process) {
	if f.Agent != nil && strings.HasPrefix(filepath.ToSlash(filepath.Clean(*f.Agent)), "../") {
		path := p.path(*f.Agent)
		f.Agent = &path
	}
}

// runFlags are those of every run.
type runFlags struct {
	MaximumIterations *int `name:"max-iterations" short:"m" aliases:"maximum-iterations" placeholder:"N" setting:"maximumIterations" help:"{maximumIterations} Default: 10 for a prompt, 5 for an issue, 15 for a plan. 0 needs --timeout."`
	N                 *int `short:"n" hidden:"" placeholder:"N" setting:"maximumIterations" help:"The same as --max-iterations."`
	agentFlags
	Timeout    *minutes `placeholder:"TIME" setting:"timeoutMinutes" help:"How long the whole run may take, in whole minutes: 90m. Default: no limit for a prompt, 60m for an issue or a plan."`
	MaxCostUSD *finite  `name:"max-cost-usd" placeholder:"AMOUNT" setting:"maxCostUsd" help:"{maxCostUsd}"`
	MaxTokens  *int64   `name:"max-tokens" placeholder:"N" setting:"maxTokens" help:"{maxTokens}"`
	SkipReview bool     `help:"Accept the work without a reviewer."`
	Resume     bool     `xor:"again" help:"Continue the last run, even when it has ended."`
	Fresh      bool     `xor:"again" help:"Start over, even when there is a run to continue. A branch of that run is kept under wip/archive."`
	Answer     string   `placeholder:"TEXT" help:"Answer the agent's question, or describe what is missing."`
	Accept     []string `placeholder:"NAME" sep:"none" help:"Accept a finding about the change by its name, or that a path which the checks share with the clone was changed during the run; all accepts every one. Repeatable; together with --resume. With a prompt: clone-credentials lets agents read the git credentials of the clone in a job whose sandbox cannot hide them."`
	Verbose    bool     `short:"V" xor:"loud" help:"Verbose logging on standard error."`
	Quiet      bool     `short:"q" xor:"loud" help:"Print nothing but warnings and how the run ends."`
	JSON       bool     `name:"json" help:"Print the outcome as JSON on standard output, and everything else on standard error."`
}

// minutes is a duration in whole minutes, as a number of them.
type minutes int

// UnmarshalText reads "90m".
func (m *minutes) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	if *m = minutes(d / time.Minute); err != nil || d <= 0 || d%time.Minute != 0 {
		return errors.New(strconv.Quote(string(text)) + ": must be whole minutes, such as 90m")
	}
	return nil
}

// finite is a number that JSON can hold.
type finite float64

// UnmarshalText reads "0.5".
func (f *finite) UnmarshalText(text []byte) error {
	n, err := strconv.ParseFloat(string(text), 64)
	if *f = finite(n); err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return errors.New(strconv.Quote(string(text)) + ": must be a number")
	}
	return nil
}

// setBy is the settings that flags make, and others in the same form. They are validated like every other layer.
func setBy(flags any, others map[string]any) config.Layer {
	object := map[string]any{}
	settings(reflect.Indirect(reflect.ValueOf(flags)), object)
	maps.Copy(object, others)
	text, err := json.Marshal(object)
	if err != nil { // strings, finite numbers and booleans
		panic(err)
	}
	return config.Layer{Name: "flags", JSON: text}
}

// settings puts what flags were given into an object, under the keys of their settings. An empty value counts for a
// pointer: that is an error to report, not a flag to ignore.
func settings(flags reflect.Value, object map[string]any) {
	for field, value := range flags.Fields() {
		key := field.Tag.Get("setting")
		switch {
		case field.Anonymous:
			settings(value, object)
			continue
		case key == "" || value.IsZero():
			continue
		}
		into := object
		if above, below, ok := strings.Cut(key, "."); ok {
			if into, ok = object[above].(map[string]any); !ok {
				into = map[string]any{}
				object[above] = into
			}
			key = below
		}
		if d, ok := value.Interface().(*time.Duration); ok {
			into[key] = d.String()
		} else {
			into[key] = value.Interface()
		}
	}
}
