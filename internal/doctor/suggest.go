package doctor

import (
	"context"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/detect"
	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/session"
)

// Given is what the command line says instead of what is found.
type Given struct {
	Agent  string
	Checks []string
	Setup  *string // nil: nothing is said; "" none
}

// schemaURL is where an editor finds the schema.
const schemaURL = "https://raw.githubusercontent.com/ralph-loop/ralph/main/internal/config/settings.schema.json"

// written are the settings that init writes, in the order of the file.
type written struct {
	Schema              string             `json:"$schema"`
	MaximumIterations   int                `json:"maximumIterations,omitempty"` // when no one was asked, nothing
	CompletionResponse  string             `json:"completionResponse,omitempty"`
	OutputTruncateChars int                `json:"outputTruncateChars,omitempty"`
	StreamAgentOutput   bool               `json:"streamAgentOutput,omitempty"`
	Agent               config.Command     `json:"agent"`
	Guardrails          []config.Guardrail `json:"guardrails,omitempty"` // without any they are detected
	Setup               string             `json:"setup,omitempty"`
	SCM                 *config.SCM        `json:"scm,omitempty"`
}

// suggestion is what was found in a directory, and what the settings would be for it.
type suggestion struct {
	given  Given
	agents []agent.Found // that are installed
	agent  agent.Found   // the chosen one; its name can be ""
	found  detect.Result
	branch string // the clone's branch; "" without a commit or a clone
}

// lookAround finds out what there is. It starts no program but the agents, for their versions, and git.
func lookAround(ctx context.Context, dir string, parent []string, given Given) suggestion {
	s := suggestion{given: given, found: engine.Detected(dir)}
	look := agent.Options{Dir: dir, Host: agent.Host{Parent: parent, Keys: engine.AgentKeys(parent, nil)}}
	s.agents = slices.DeleteFunc(agent.LookForAll(ctx, look), func(f agent.Found) bool { return f.Path == "" })
	s.choose(func(name string) agent.Found {
		look.Command = name
		return agent.Look(ctx, look)
	})
	_, s.branch, _ = git.Stand(ctx, dir, parent)
	return s
}

// choose chooses the agent that was named, or the usable agent of the default settings, or the first usable one, or one
// that only lacks its login, in this order.
func (s *suggestion) choose(look func(name string) agent.Found) {
	if s.given.Agent != "" {
		s.agent = look(s.given.Agent)
		return
	}
	best := -1
	for _, f := range s.agents {
		rank := 0
		if f.Advice == "" {
			rank = 1
			if f.Name == config.Defaults().Agent.Command {
				rank = 2
			}
		}
		if rank > best {
			best, s.agent = rank, f
		}
	}
}

// nothing reports whether there is nothing to begin from.
func (s *suggestion) nothing() bool {
	return s.agent.Name == "" && len(s.found.Checks) == 0 && len(s.given.Checks) == 0
}

// enough reports whether settings can be written without a question.
func (s *suggestion) enough() bool {
	return s.agent.Name != "" && (len(s.found.Checks) > 0 || len(s.given.Checks) > 0)
}

// leaves reports whether the checks stay out of the settings: those that need an environment that only a detected setup
// makes, which a run of a prompt does not have.
func (s *suggestion) leaves() bool { return len(s.given.Checks) == 0 && !s.found.SetupIndependent() }

// guardrails are the checks as settings name them.
func (s *suggestion) guardrails() (out []config.Guardrail) {
	for _, command := range s.given.Checks {
		out = append(out, config.Guardrail{Command: command})
	}
	if len(out) > 0 || s.leaves() {
		return out
	}
	for _, c := range s.found.Checks {
		g := config.Guardrail{Command: c.Command}
		if c.Severity != config.Hard {
			g.Severity = c.Severity
		}
		out = append(out, g)
	}
	return out
}

// setup is what installs the dependencies, as settings name it.
func (s *suggestion) setup() string {
	switch {
	case s.given.Setup != nil:
		return *s.given.Setup
	case !s.found.SetupIndependent() || len(s.found.Checks) == 0 && len(s.given.Checks) == 0:
		return ""
	}
	return engine.SetupLine(s.found)
}

// settings are what would be written.
func (s *suggestion) settings() written {
	return written{Schema: schemaURL, Agent: config.Command{Command: s.agent.Name}, Guardrails: s.guardrails(),
		Setup: s.setup()}
}

// print prints what was found.
func (s *suggestion) print(d *session.Dialogue) {
	d.Say("Found here:")
	say := func(name string, lines ...string) {
		for _, line := range lines {
			d.Say(strings.TrimRight("  "+name+strings.Repeat(" ", 8-len(name))+line, " "))
			name = ""
		}
	}
	say("agent", s.agentLines()...)
	say("checks", s.checkLines()...)
	if line := engine.SetupLine(s.found); line != "" {
		say("setup", line, "runs before the checks of an issue, a task or a plan, never for a prompt")
	} else {
		say("setup", "nothing has to be installed")
	}
	if s.branch != "" {
		say("branch", s.branch+": a run of an issue, a task or a plan begins where the clone stands")
	} else {
		say("branch", "no commit yet: a run of an issue, a task or a plan needs one")
	}
}

func (s *suggestion) agentLines() (lines []string) {
	if s.agent.Name == "" {
		return []string{"none is installed that ralph knows: " + strings.Join(agent.Names(), ", ")}
	}
	told := s.agent.Name
	for _, more := range []string{s.agent.Version, s.agent.Credential, s.agent.Advice} {
		if more != "" {
			told += ", " + more
		}
	}
	lines = []string{told}
	for _, f := range s.agents {
		if f.Name != s.agent.Name {
			lines = append(lines, "also here: "+f.Name+" (--agent "+f.Name+")")
		}
	}
	return lines
}

func (s *suggestion) checkLines() (lines []string) {
	if len(s.found.Checks) == 0 {
		lines = []string{"none: no tests found at the top of the repository"}
		return append(lines, s.found.Notes...)
	}
	why := ""
	for _, c := range s.found.Checks {
		line := c.Command
		if c.Severity != config.Hard {
			line += "  only warns"
		}
		if c.Why != why {
			line += "  (" + c.Why + ")"
			why = c.Why
		}
		lines = append(lines, line)
	}
	return lines
}
