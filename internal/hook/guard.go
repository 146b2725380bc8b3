package hook

import (
	"fmt"
	"slices"
	"strings"
)

// Environment is where a command would run.
type Environment struct {
	Root     string // the project's top directory, absolute
	Cwd      string // absolute
	Home     string // absolute; "" is not known
	RalphDir string // where a plan is, relative to Root; "" is "ralph"
	Run      bool   // ralph is at work here: it commits and pushes itself
}

// category is a kind of thing that the guard refuses.
type category struct {
	name    string
	why     string // one sentence
	instead string // one sentence: what to do
	rules   []rule
	// touches says what is wrong with writing, changing or deleting a file; nil when no file is of this kind.
	touches func(fileEffect) string
}

// finding is a danger in a command.
type finding struct {
	danger *category
	what   string // "rm deletes /"
}

// reason is what an agent is told.
func (f finding) reason() string {
	return fmt.Sprintf("Refused (%s): %s. %s %s", f.danger.name, shown(f.what), f.danger.why, f.danger.instead)
}

// otherTools are tools of Claude Code and Gemini CLI that neither run, write nor read a file of their caller's choice.
// Any other tool is judged by what its input holds: a command, a patch, or the path of a file that is written when the
// tool's name says so, else read.
var (
	otherTools = []string{"Grep", "Glob", "LS", "WebFetch", "WebSearch", "Task", "Agent", "TodoWrite", "glob",
		"search_file_content", "list_directory", "web_fetch", "google_web_search", "update_plan"}
	writes = lazy(`(?i)write|edit|create|insert|replace|delete|remove|move|rename`)
)

// Guard says why a tool may not be used like this; "" when nothing speaks against it. It is advisory: it reads what a
// command says, and cannot read there what a program does that the command starts.
func Guard(in Input, w Environment) (reason string) {
	defer func() {
		if r := recover(); r != nil {
			reason = unreadable("it cannot be followed")
		}
	}()
	if w.RalphDir == "" {
		w.RalphDir = "ralph"
	}
	if w.Home == "" {
		w.Home = "/home/user"
	}
	text := string(in.ToolInput.Command)
	switch {
	case slices.Contains(otherTools, in.Tool):
		return ""
	case in.Tool == "apply_patch" || strings.HasPrefix(text, "*** Begin Patch"):
		return guardFiles(patched(text), &w)
	case text != "" && in.ToolInput.FilePath == "":
		return guardCommand(text, &w)
	case writes.MatchString(in.Tool):
		return guardFiles([]fileEffect{{path: in.ToolInput.FilePath}, {path: in.ToolInput.NotebookPath}}, &w)
	}
	if what := credentialFile(absolute(w.Cwd, unmarked(in.ToolInput.FilePath)), &w); what != "" {
		return finding{dangerCalled("credentials"), in.Tool + " reads " + what}.reason()
	}
	return ""
}

func unreadable(why string) string {
	return "Refused (unreadable): " + why + ", so nobody can say what this command would do. " +
		"Write it plainer, in smaller steps; put long texts into files with the tool for writing files."
}

func guardCommand(text string, w *Environment) string {
	walk := newWalk(w)
	walk.script(unmarked(text), "", newShell(w.Cwd))
	switch {
	case walk.found != nil:
		return walk.found.reason()
	case walk.err != nil:
		return unreadable(walk.err.Error())
	}
	return ""
}

// guardFiles judges what tools write.
func guardFiles(touched []fileEffect, w *Environment) string {
	for _, t := range touched {
		if t.path == "" {
			continue
		}
		t.path, t.world = absolute(w.Cwd, unmarked(t.path)), w
		for i := range dangers {
			if d := &dangers[i]; d.touches != nil {
				if what := d.touches(t); what != "" {
					return finding{d, what}.reason()
				}
			}
		}
	}
	return ""
}

// patched are the files that a patch of Codex's names.
func patched(patch string) []fileEffect {
	var all []fileEffect
	for line := range strings.Lines(patch) {
		for _, head := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "} {
			if name, ok := strings.CutPrefix(line, head); ok {
				all = append(all, fileEffect{path: strings.TrimSpace(name), gone: strings.HasPrefix(head, "*** Delete")})
			}
		}
	}
	return all
}

// Marks stand in a word for what its text does not say. No alphabet uses them; a command that holds them loses them.
const (
	unknown = "\uE000" // a variable of the environment
	foreign = "\uE001" // what came over the network, or was decoded
	secret  = "\uE002" // a variable whose name says that it holds a secret
	output  = "\uE003" // what a program prints

	marks = unknown + foreign + secret + output
)
