package hook

import (
	"path"
	"slices"
	"strings"
)

// agentFiles are the settings of agents, which say among other things which hooks they call. They are the same below the project and the home.
var agentFiles = []string{".claude/settings.json", ".claude/settings.local.json", ".claude/hooks", ".codex/hooks.json", ".codex/config.toml", ".codex/hooks", ".gemini/settings.json", ".gemini/hooks"}

// planFiles are files of a plan that nobody writes while it is run; the agent's are tasks.json and progress.txt. Before, an agent may have
// been asked to write the plan.
var planFiles = []string{"prd.md", "prompt.md"}

func harnessFile(t touch) string {
	if strings.HasPrefix(t.path, "/tmp/"+alertsName) || strings.HasPrefix(t.path, "/tmp/"+blocksName) {
		return "it changes what hooks remember"
	}
	if what := protected(t.project(), t.gone, agentFiles); what != "" {
		return what
	}
	if what := protected(t.home(), t.gone, agentFiles); what != "" {
		return what
	}
	rel := t.project()
	if rel == "" {
		return ""
	}
	own := []string{".ralph", ActiveFile, ".ralph.lock", ".ralph_state.md"}
	if !t.world.Run {
		return protected(rel, t.gone, own)
	}
	for _, name := range planFiles {
		own = append(own, path.Join(t.world.RalphDir, name))
	}
	if t.gone {
		own = append(own, path.Join(t.world.RalphDir, "tasks.json"), path.Join(t.world.RalphDir, "progress.txt"))
	}
	return protected(rel, t.gone, own)
}

// protected says which of some files a path is, or lies in; of what is gone also whether they lay in it.
func protected(rel string, gone bool, files []string) string {
	if rel == "" {
		return ""
	}
	dir, _ := reach(rel)
	for _, name := range files {
		if rel == name || strings.HasPrefix(rel, name+"/") || gone && dir != "." && dir != "" && (strings.HasPrefix(name, dir+"/") || dir == name) {
			return "it changes " + rel
		}
		if dir == rel {
			continue
		}
		if ok, err := path.Match(rel, name); ok && err == nil {
			return "it changes " + name
		}
	}
	return ""
}

// own are ralph's commands that an agent may use: those that show something.
var ownCommands = []string{"status", "bus", "signature", "prompt", "settings", "replay", "doctor", "completion", "task", "help", "report", "hook", "plan"}

func harnessCommand(c command) string {
	for _, pair := range c.env {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "RALPH_") {
			return name + " is set"
		}
	}
	switch c.name {
	case "unset", "export", "declare", "typeset", "readonly":
		for _, arg := range c.operands() {
			name, _, assigned := strings.Cut(arg, "=")
			if strings.HasPrefix(name, "RALPH_") && (assigned || c.name == "unset" || c.short("n")) {
				return c.name + " " + name
			}
		}
	case "env":
		for _, name := range append(c.values("-u", "--unset"), c.args...) {
			if strings.HasPrefix(name, "RALPH_") {
				return "env changes " + name
			}
		}
	case "ralph":
		return ralphCommand(c)
	}
	return ""
}

func ralphCommand(c command) string {
	sub, rest := c.first()
	second := ""
	if len(rest) > 0 {
		second = rest[0]
	}
	switch {
	case c.has("--help", "--version") || len(c.args) == 1 && c.short("hv"):
		return ""
	case sub == "hook" && second == "install", sub == "cancel":
		return "ralph " + sub
	case !c.world.Run: // somebody may have asked for it
	case sub == "plan" && !slices.Contains([]string{"status", "validate", "skill"}, second):
		return "ralph " + sub + " " + second
	case !slices.Contains(ownCommands, sub):
		return strings.TrimSpace("ralph " + sub)
	}
	return ""
}
