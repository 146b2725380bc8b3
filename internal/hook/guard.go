package hook

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/shell"
)

// otherTools are tools of Claude Code and Gemini CLI that neither run, write nor read a file of their caller's choice.
// Any other tool is judged by its input: a command, a patch, or the path of a file, which is written if the name of the
// tool says so and read otherwise.
var (
	otherTools = []string{"Grep", "Glob", "LS", "WebFetch", "WebSearch", "Task", "Agent", "TodoWrite", "glob",
		"search_file_content", "list_directory", "web_fetch", "google_web_search", "update_plan"}
	writes = lazy(`(?i)write|edit|create|insert|replace|delete|remove|move|rename`)
)

// Guard says why a tool must not be used like this; "" if it can. It is advisory: it compares the words of a command
// with a table, and cannot know what the programs do that the command starts.
func Guard(in Input, w Environment) string {
	if w.RalphDir == "" {
		w.RalphDir = "ralph"
	}
	if w.Home == "" {
		w.Home = "/home/user"
	}
	text := string(in.ToolInput.Command)
	path := shell.Absolute(w.Cwd, shell.Unmarked(in.ToolInput.FilePath))
	switch {
	case slices.Contains(otherTools, in.Tool):
		return ""
	case in.Tool == "apply_patch" || strings.HasPrefix(text, "*** Begin Patch"):
		return guardFiles(patched(text), &w)
	case text != "" && in.ToolInput.FilePath == "":
		return guardCommand(text, &w)
	case writes.MatchString(in.Tool):
		return guardFiles([]fileEffect{{path: in.ToolInput.FilePath}, {path: in.ToolInput.NotebookPath}}, &w)
	case secretFile(path, &w):
		return refusal(dangerCalled("credentials"), in.Tool+" reads "+path)
	}
	return ""
}

// refusal is what an agent gets.
func refusal(d *category, what string) string {
	what = strings.NewReplacer(shell.Unknown, "…", shell.Output, "…", shell.Secret, "…", shell.Foreign, "(downloaded)",
		"\n", " ").Replace(what)
	return "Refused (" + d.name + "): " + safetext.Shorten(what, 200) + ". " + d.why + " " + d.instead
}

func guardCommand(text string, w *Environment) string {
	script, err := shell.Read(text, w.Cwd, w.Home)
	if script.Endless != "" {
		return refusal(dangerCalled("fork-bomb"), script.Endless)
	}
	for _, c := range script.Calls {
		if d, what := judge(call{c, w}); d != nil {
			return refusal(d, what)
		}
	}
	if err != nil {
		return "Refused (unreadable): " + err.Error() + ", so this command cannot be checked. Write it plainer, in smaller " +
			"steps; put long texts into files with the tool for writing files."
	}
	return ""
}

// judge compares a call with every kind of danger; the first that fits counts.
func judge(c call) (d *category, what string) {
	touched := c.touched()
	for i := range dangers {
		d := &dangers[i]
		switch what := c.breaks(d); {
		case what != "":
			return d, what
		case d.file == nil:
			continue
		}
		for _, t := range touched {
			if d.file(t) {
				return d, cmp.Or(c.Name, "it") + " changes " + t.shown()
			}
		}
	}
	return nil, ""
}

func dangerCalled(name string) *category {
	return &dangers[slices.IndexFunc(dangers, func(d category) bool { return d.name == name })]
}

// guardFiles judges what tools write.
func guardFiles(touched []fileEffect, w *Environment) string {
	for _, t := range touched {
		if t.path == "" {
			continue
		}
		t.path, t.world = shell.Absolute(w.Cwd, shell.Unmarked(t.path)), w
		for i := range dangers {
			if d := &dangers[i]; d.file != nil && d.file(t) {
				return refusal(d, "it changes "+t.shown())
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
