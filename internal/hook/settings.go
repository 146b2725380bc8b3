package hook

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
)

// The hooks, by the words of the command line.
const (
	ContextMonitor = "context-monitor"
	StopReminder   = "stop"
	Guarding       = "guard"
	SessionStart   = "session-start"
)

// Kinds are all of them, in the order in which settings list them.
var Kinds = []string{SessionStart, Guarding, ContextMonitor, StopReminder}

// wiring is how one agent is configured to call hooks.
type wiring struct {
	file   string            // of a project, from its top
	local  string            // of a project and one person; "" if the agent has no such file
	events map[string]string // kind → the agent's name of the event
	tools  map[string]string // kind → the tools that it is called for
	second int               // what a second is in its timeouts
}

var wirings = map[string]wiring{
	"claude": {
		file: ".claude/settings.json", local: ".claude/settings.local.json", second: 1,
		events: map[string]string{SessionStart: "SessionStart", Guarding: "PreToolUse", ContextMonitor: "PostToolUse",
			StopReminder: "Stop"},
		tools: map[string]string{Guarding: "Bash|Write|Edit|MultiEdit|NotebookEdit|Read", ContextMonitor: ".*"},
	},
	"codex": {
		file: ".codex/hooks.json", second: 1,
		events: map[string]string{SessionStart: "SessionStart", Guarding: "PreToolUse", ContextMonitor: "PostToolUse",
			StopReminder: "Stop"},
		tools: map[string]string{Guarding: "Bash|apply_patch|Edit|Write", ContextMonitor: ".*"},
	},
	"gemini": {
		file: ".gemini/settings.json", second: 1000,
		events: map[string]string{SessionStart: "SessionStart", Guarding: "BeforeTool", ContextMonitor: "AfterTool",
			StopReminder: "AfterAgent"},
		tools: map[string]string{Guarding: "run_shell_command|write_file|replace|read_file", ContextMonitor: ".*"},
	},
}

// Agents are those whose hooks can be set.
var Agents = []string{"claude", "gemini", "codex"}

// File is where an agent's settings of a project are, from its top; local are those that are not shared, which only
// claude has.
func File(agent string, local bool) (string, error) {
	w, ok := wirings[agent]
	switch {
	case !ok:
		return "", fmt.Errorf("the agent is %q; hooks can be set for %s", agent, strings.Join(Agents, ", "))
	case local && w.local == "":
		return "", fmt.Errorf("%s has one settings file for a project, %s; --local is only for claude", agent, w.file)
	case local:
		return w.local, nil
	}
	return w.file, nil
}

// seconds are how long a hook may take before the agent continues without it.
var seconds = map[string]int{SessionStart: 10, Guarding: 10, ContextMonitor: 10, StopReminder: 60}

type matcher struct {
	Matcher string  `json:"matcher,omitempty"`
	Hooks   []entry `json:"hooks"`
}

type entry struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"`
}

// Command is the line that an agent runs for a hook. With run, the guard knows that ralph is running, whatever is in
// the directory.
func Command(program, kind string, run bool) string {
	line := Quote(program) + " hook " + kind
	if run && kind == Guarding {
		line += " --run"
	}
	return line
}

func (w wiring) matcher(program, kind string, run bool) matcher {
	return matcher{w.tools[kind], []entry{{"command", Command(program, kind, run), seconds[kind] * w.second}}}
}

// Settings is the JSON object that makes an agent call program for the hooks of some kinds, all when none is named:
// what claude takes with --settings, what gemini reads in settings.json, what codex reads in hooks.json. run says that
// it is for a run of ralph's own.
func Settings(agent, program string, run bool, kinds ...string) ([]byte, error) {
	w, ok := wirings[agent]
	if !ok {
		_, err := File(agent, false)
		return nil, err
	}
	if len(kinds) == 0 {
		kinds = Kinds
	}
	hooks := map[string][]matcher{}
	for _, kind := range kinds {
		if !slices.Contains(Kinds, kind) {
			return nil, fmt.Errorf("no hook is called %q; there are %s", kind, strings.Join(Kinds, ", "))
		}
		hooks[w.events[kind]] = append(hooks[w.events[kind]], w.matcher(program, kind, run))
	}
	return encoded(map[string]any{"hooks": hooks}, "", "")
}

// The files of the messages that a session got, and of how often it was kept from stopping. They are in the directory
// for temporary files; the session's id follows.
const (
	alertsName = "claude-context-alerts-"
	blocksName = "ralph-stop-blocks-"
)

// AlertsFile names the file of the highest threshold with a message in a session.
func AlertsFile(session string) string { return alertsName + fileID(session) }

// BlocksFile names the file that counts how often a session was kept from stopping.
func BlocksFile(session string) string { return blocksName + fileID(session) }

var plainID = lazy(`^[A-Za-z0-9._-]{1,128}\z`)

// fileID is a session's id as a part of a file's name: as it is, if it consists of letters, digits, dots, underscores and
// hyphens, and a hash of it otherwise. A session without an id is "unknown".
func fileID(session string) string {
	if session == "" || plainID.MatchString(session) {
		return cmp.Or(session, "unknown")
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(session))
	return fmt.Sprintf("%016x", hash.Sum64())
}

// MostBlocks is how often in a row a session is kept from stopping. Then it may: an agent that knows no bound of its
// own would continue forever, and the harness judges what it leaves anyhow.
const MostBlocks = 8

// ReadNumber reads what a file of a session holds; 0 for anything but a number.
func ReadNumber(content []byte) int {
	n, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// Number is what ReadNumber reads.
func Number(n int) []byte { return []byte(strconv.Itoa(n) + "\n") }
