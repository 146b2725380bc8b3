package hook

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/shell"
)

// Environment is where a command would run.
type Environment struct {
	Root     string // the project's top directory, absolute
	Cwd      string // absolute
	Home     string // absolute; "" is not known
	RalphDir string // where a plan is, relative to Root; "" is "ralph"
	Run      bool   // ralph is running here: it commits and pushes itself
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
func Guard(in Input, w Environment) string {
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
	if what := credentialFile(shell.Absolute(w.Cwd, shell.Unmarked(in.ToolInput.FilePath)), &w); what != "" {
		return finding{dangerCalled("credentials"), in.Tool + " reads " + what}.reason()
	}
	return ""
}

func unreadable(why string) string {
	return "Refused (unreadable): " + why + ", so this command cannot be checked. Write it plainer, in smaller steps; put long texts into files with the tool for writing files."
}

func guardCommand(text string, w *Environment) string {
	script, err := shell.Read(text, w.Cwd, w.Home)
	if script.Endless != "" {
		return finding{dangerCalled("fork-bomb"), script.Endless}.reason()
	}
	for _, c := range script.Calls {
		if f := judge(call{c, w}); f != nil {
			return f.reason()
		}
	}
	if err != nil {
		return unreadable(err.Error())
	}
	return ""
}

// call is one of a command, and where it would run.
type call struct {
	shell.Call

	world *Environment
}

// judge holds a call against every kind of danger; the first that fits counts.
func judge(c call) *finding {
	touched, rules := c.touched(), rulesFor(c)
	for i := range dangers {
		d := &dangers[i]
		for _, r := range rules[d.name] {
			if what := r.finds(c); what != "" {
				return &finding{d, what}
			}
		}
		for _, t := range touched {
			if d.touches == nil {
				break
			}
			if what := d.touches(t); what != "" {
				return &finding{d, what}
			}
		}
	}
	return nil
}

func dangerCalled(name string) *category {
	return &dangers[slices.IndexFunc(dangers, func(d category) bool { return d.name == name })]
}

// shown is a sentence without marks, and short.
func shown(text string) string {
	text = strings.NewReplacer(shell.Unknown, "…", shell.Output, "…", shell.Secret, "…", shell.Foreign, "(downloaded)", "\n", " ").Replace(text)
	if runes := []rune(text); len(runes) > 200 {
		text = string(runes[:200]) + "…"
	}
	return text
}

// guardFiles judges what tools write.
func guardFiles(touched []fileEffect, w *Environment) string {
	for _, t := range touched {
		if t.path == "" {
			continue
		}
		t.path, t.world = shell.Absolute(w.Cwd, shell.Unmarked(t.path)), w
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
