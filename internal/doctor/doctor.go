// Package doctor looks whether a run could begin, here and on GitHub, and sets up what it needs.
package doctor

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/detect"
	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/session"
)

// Doctor finds out whether a run could begin here, and how. It spends nothing and writes nothing.
type Doctor struct {
	session.Session
	Marks bool // ✓ ✗ –, otherwise words
	Width int  // columns that lines are wrapped to; 0: a line each
}

// Diagnosis is what a doctor found out. There are no secrets in it.
type Diagnosis struct {
	Ready      bool           `json:"ready"`          // the agent can run, and the settings are valid
	Todo       string         `json:"todo,omitempty"` // what to do first when not
	Git        Part           `json:"git"`
	Repository string         `json:"repository,omitempty"` // its top; "": we are in none
	Settings   []string       `json:"settings"`             // the files that were read
	Problems   []string       `json:"problems"`             // of the settings
	Agents     []agent.Found  `json:"agents"`
	Agent      agent.Found    `json:"agent"`              // the one that the settings name
	Reviewer   *agent.Found   `json:"reviewer,omitempty"` // when it is another
	Sandbox    SandboxState   `json:"sandbox"`            // what agents and checks would be kept in
	Gateway    []GatewayState `json:"gateway"`            // whether each agent that is here would have its key
	RunChecks
	Kept StoredData `json:"kept"` // for clones, outside of them
	// Command and Review are the command lines that a turn and a review run, quoted as for a shell.
	Command string `json:"command_line,omitempty"`
	Review  string `json:"reviewer_command_line,omitempty"`
}

// RunChecks are what judges a run here.
type RunChecks struct {
	Checks   []string `json:"checks"`             // the commands that settings name
	Warnings []string `json:"warnings,omitempty"` // of settings that are valid
	Detected []string `json:"detected"`           // those that a run of an issue takes when settings name none
	Setup    string   `json:"setup,omitempty"`    // what a run of an issue installs before the checks; "" nothing
}

// Part is something that a run needs.
type Part struct {
	Version string `json:"version,omitempty"`
	Advice  string `json:"advice,omitempty"` // what to do about it; "" nothing
}

// SandboxState is what a sandbox would be.
type SandboxState struct {
	Mode   string `json:"mode,omitempty"` // "bwrap", "off"; "" none can be had
	Says   string `json:"says,omitempty"` // what holds in it, and what does not
	Advice string `json:"advice,omitempty"`
}

// GatewayState is whether an agent would have its key.
type GatewayState struct {
	Name string `json:"name"`
	Kept bool   `json:"kept"` // its key stays with ralph
	Why  string `json:"why,omitempty"`
}

// led finds that out for the agents that are here.
func led(found []agent.Found, look agent.Options) (out []GatewayState) {
	for _, f := range found {
		if f.Path == "" {
			continue
		}
		look.Command = f.Name
		c := agent.CheckGateway(look)
		out = append(out, GatewayState{f.Name, c.Why == "", c.Why})
	}
	return out
}

// Examine finds out everything.
func (d *Doctor) Examine(ctx context.Context) Diagnosis {
	d.Begin()
	out := Diagnosis{Settings: []string{}, Gateway: []GatewayState{}, Problems: []string{},
		RunChecks: RunChecks{Checks: []string{}, Detected: []string{}}}
	version, err := git.Version(ctx, d.Parent)
	if out.Git = (Part{Version: version}); err != nil {
		out.Git.Advice = err.Error()
	}
	dir := d.Dir
	if found, _, err := git.Stand(ctx, d.Dir, d.Parent); err == nil {
		out.Repository, dir = found, found
	}
	settings, err := d.load(dir, &out)
	if err != nil {
		out.Problems = problems(err)
	}
	look := agent.Options{Dir: dir, Host: agent.Host{Parent: d.Parent, Keys: d.AgentKeys()}}
	out.Agents = agent.LookForAll(ctx, look)
	out.Gateway = led(out.Agents, look)
	if err == nil {
		d.plan(ctx, dir, settings, look, &out)
	}
	out.Kept = keptFor(runtime.GOOS, d.Parent)
	out.Todo = out.todo()
	out.Ready = out.Todo == ""
	out.redact(d.Redact)
	return out
}

func (d *Doctor) load(dir string, out *Diagnosis) (config.Settings, error) {
	layers, err := session.SettingsFiles(dir, d.Parent)
	if err != nil {
		return config.Settings{}, err
	}
	out.Settings = safetext.Map(layers, func(l config.Layer) string { return l.Name })
	return config.Load(append(layers, d.Flags)...)
}

// plan is what a run would execute.
func (d *Doctor) plan(ctx context.Context, dir string, settings config.Settings, look agent.Options, out *Diagnosis) {
	look.Command = settings.Agent.Command
	out.Agent = out.known(ctx, look)
	if look.Command = settings.Reviewer.Command; settings.Review && look.Command != settings.Agent.Command {
		reviewer := out.known(ctx, look)
		out.Reviewer = &reviewer
	}
	out.Checks = engine.CommandLines(settings.Guardrails)
	out.Warnings = settings.Warnings()
	out.Setup = settings.Setup
	if settings.GuardrailsFrom == "" {
		found := engine.Detected(filepath.Join(dir, filepath.FromSlash(settings.WorkingDirectory)))
		out.Detected = safetext.Map(found.Checks, func(c detect.Check) string { return c.Command })
		if out.Setup == "" && len(found.Checks) > 0 {
			out.Setup = engine.SetupLine(found)
		}
	}
	run := &engine.Run{Spec: &engine.Spec{
		Work: engine.Work{OfPrompt: true}, Rules: engine.Rules{Settings: settings},
		Place:    engine.Place{Workspace: engine.Directory(dir), Logs: filepath.Join(dir, ".ralph")},
		Identity: engine.Identity{Parent: d.Parent, Keys: look.Keys}, Output: d.Output(),
	}}
	out.Sandbox = held(ctx, run)
	c, reviewer, err := run.Agents()
	if err != nil {
		return // the agent's advice says the same
	}
	if out.Command, err = engine.CommandLine(c); err == nil && reviewer != nil {
		out.Review, _ = engine.CommandLine(engine.Coder{Options: *reviewer})
	}
}

// held is the sandbox that a run would have.
func held(ctx context.Context, run *engine.Run) SandboxState {
	mode, says, err := run.TrySandbox(ctx)
	if err != nil {
		return SandboxState{Advice: err.Error()}
	}
	return SandboxState{Mode: mode, Says: strings.TrimPrefix(says, "sandbox: ")}
}

// StoredData is what ralph keeps for clones in directories of the user, which are not deleted with them.
type StoredData struct {
	Dirs   []string `json:"dirs"`
	Clones int      `json:"clones"`
	Bytes  int64    `json:"bytes"`
}

// keptFor adds up what is kept for clones: for the system, by the environment.
func keptFor(system string, env []string) StoredData {
	roots, data := []string{engine.CacheDir(system, env)}, StoredData{Dirs: []string{}}
	if state, err := session.StateDir(system, env); err == nil && state != roots[0] {
		roots = append(roots, state)
	}
	for _, root := range roots {
		dir := filepath.Join(root, "ralph", "clones")
		entries, _ := os.ReadDir(dir)
		if root == "" || len(entries) == 0 {
			continue
		}
		data.Dirs = append(data.Dirs, dir)
		data.Clones = max(data.Clones, len(entries)) // a clone has the same name in each
		data.Bytes += files.SizeOf(dir)
	}
	return data
}

// known is what was found out about an agent already, or is now.
func (d *Diagnosis) known(ctx context.Context, o agent.Options) agent.Found {
	if i := slices.IndexFunc(d.Agents, func(f agent.Found) bool { return f.Name == o.Command }); i >= 0 {
		return d.Agents[i]
	}
	return agent.Look(ctx, o)
}

// todo is what to do before a run can begin; "" nothing.
func (d *Diagnosis) todo() string {
	switch {
	case len(d.Problems) > 0:
		return "fix the settings: " + d.Problems[0]
	case d.Reviewer != nil && d.Reviewer.Advice != "" && d.Agent.Advice+d.Sandbox.Advice == "":
		return "the reviewer: " + d.Reviewer.Advice
	}
	return cmp.Or(d.Agent.Advice, d.Sandbox.Advice)
}

func problems(err error) []string {
	var conf *config.Error
	if errors.As(err, &conf) {
		return conf.Problems
	}
	return []string{err.Error()}
}

// redact removes secrets, terminal sequences and workflow commands from everything that came from files or programs.
func (d *Diagnosis) redact(redact func(string) string) {
	clean(reflect.ValueOf(d).Elem(), func(s string) string { return safetext.Inert(redact(strings.ReplaceAll(s, "\n", " "))) })
}

// clean replaces every string of a value.
func clean(v reflect.Value, with func(string) string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(with(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			clean(v.Elem(), with)
		}
	case reflect.Slice:
		for i := range v.Len() {
			clean(v.Index(i), with)
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			clean(field, with)
		}
	}
}
