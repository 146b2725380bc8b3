package agent

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/proc"
)

// dialects are the agents whose output we understand, by the base name of their program. Any other is a plain command.
var dialects = map[string]dialect{
	"amp":      amp,
	"claude":   claude,
	"codex":    codex,
	"gemini":   gemini,
	"opencode": opencode,
}

// dialectOf is the dialect of a command, and whether ralph knows the agent.
func dialectOf(name string) (d dialect, known bool) {
	if d, known = dialects[strings.TrimSuffix(filepath.Base(name), ".exe")]; !known {
		d = command
	}
	return d, known
}

// UnknownError says that a command is neither an agent that ralph knows nor a program that can be run.
type UnknownError struct {
	Command string
	cause   error
}

func (e *UnknownError) Error() string {
	known := strings.Join(Names(), ", ")
	switch {
	case e.Command == "":
		return "no agent is named: name one of " + known +
			", or the path of an executable that reads a prompt on standard input"
	case errors.Is(e.cause, proc.ErrNotExecutable):
		return fmt.Sprintf("the agent %q is not executable: make it so (chmod +x), or name one of %s", e.Command, known)
	case slices.Contains(Names(), filepath.Base(e.Command)):
		return fmt.Sprintf("the agent %q is not installed or not on PATH: install it, or name the path of its executable",
			e.Command)
	}
	return fmt.Sprintf("the agent %q is neither a known agent (%s) nor an executable: install it, or name the path of "+
		"an executable", e.Command, known)
}

// Unwrap gives proc.ErrNotFound or proc.ErrNotExecutable.
func (e *UnknownError) Unwrap() error { return e.cause }

// Invalid says that an agent no one knows is a mistake in the settings.
func (e *UnknownError) Invalid() bool { return true }

// Names lists the agents that ralph knows.
func Names() []string { return slices.Sorted(maps.Keys(dialects)) }

// KeyNames are the environment names of the credentials that the agents ralph knows take, sorted.
func KeyNames() []string {
	var names []string
	for _, d := range dialects {
		names = append(names, d.keys...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Keys are the environment names of the credentials that an agent takes, the first before the others; known is false
// for a program that ralph does not know.
func Keys(command string) (names []string, known bool) {
	d, known := dialectOf(command)
	return d.keys, known
}

// CheapModel is the model to ask a small question of an agent, empty where its own choice is as good as any.
func CheapModel(command string) string {
	d, _ := dialectOf(command)
	return d.cheap
}

// ReportsUsage reports whether the agent or its gateway reports the cost of a turn and its tokens. Without that, no
// limit on them can be enforced.
func (o Options) ReportsUsage() (cost, tokens bool) {
	d, _ := dialectOf(o.Command)
	cost, tokens = d.prices && !o.Text, d.counts && !o.Text
	if o.Gateway != nil {
		cost, tokens = cost || o.Gateway.Prices(o.Model), true
	}
	return cost, tokens
}

func resolve(o Options, env []string) (string, error) {
	switch {
	case o.Command == "":
		return "", proc.ErrNotFound
	case filepath.Base(o.Command) != o.Command && !filepath.IsAbs(o.Command):
		return proc.LookPath(filepath.Join(orHere(o.Dir), o.Command), env)
	}
	return proc.LookPath(o.Command, env)
}

// environment is the agent's whole environment.
func environment(o Options, d dialect) []string {
	extra := []string{}
	for _, entry := range d.environment(o) {
		name, _, _ := strings.Cut(entry, "=")
		if !slices.Contains(d.pass, name) || proc.Value(o.Parent, name) == "" {
			extra = append(extra, entry)
		}
	}
	if o.Home != "" {
		extra = append(extra, "HOME="+o.Home)
	}
	for _, name := range slices.Sorted(maps.Keys(o.Keys)) {
		if o.Keys[name] != "" && (slices.Contains(d.keys, name) || slices.Contains(d.keys, "*")) {
			extra = append(extra, name+"="+o.Keys[name])
		}
	}
	env := proc.Environment(o.Parent, slices.Concat(proc.Allowed, d.pass, o.Allow), append(extra, o.Extra...)...)
	if o.Gateway != nil {
		return carriedEnvironment(o, env, KeyNames())
	}
	return env
}

// loopback are the hosts that need no proxy.
const loopback = "127.0.0.1,localhost"

// withheld are variables that an agent which is carried does not get: they hold credentials or lead past the gateway.
var withheld = []string{"ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS", "OPENAI_BASE_URL", "GOOGLE_GEMINI_BASE_URL",
	"GOOGLE_VERTEX_BASE_URL", "GEMINI_CLI_CUSTOM_HEADERS", "NO_PROXY", "no_proxy"}

// shortestKey is how long a value is at least that is taken for a key wherever it stands.
const shortestKey = 8

// carriedEnvironment is an environment without the agents' keys, by name and by value, and what else is withheld. A
// proxy is not asked for the gateway.
func carriedEnvironment(o Options, env, keys []string) []string {
	out, values := []string{}, slices.Collect(maps.Values(o.Keys))
	names := slices.Concat(withheld, keys, slices.Collect(maps.Keys(o.Keys)))
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		if !slices.Contains(names, name) && (len(value) < shortestKey || !slices.Contains(values, value)) {
			out = append(out, entry)
		}
	}
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		if had := proc.Value(env, name); had != "" {
			out = append(out, name+"="+had+","+loopback)
		} else {
			out = append(out, name+"="+loopback)
		}
	}
	return out
}
