package hook

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// World is where a command would run.
type World struct {
	Root     string // the project's top directory, absolute
	Cwd      string // absolute
	Home     string // absolute; "" is not known
	RalphDir string // where a plan is, relative to Root; "" is "ralph"
	Run      bool   // ralph is at work here: it commits and pushes itself
}

// danger is a kind of thing that the guard refuses.
type danger struct {
	name    string
	why     string // one sentence
	instead string // one sentence: what to do
	rules   []rule
	// touches says what is wrong with writing, changing or deleting a file; nil when no file is of this kind.
	touches func(touch) string
}

// finding is a danger in a command.
type finding struct {
	danger *danger
	what   string // "rm deletes /"
}

// reason is what an agent is told.
func (f finding) reason() string {
	return fmt.Sprintf("Refused (%s): %s. %s %s", f.danger.name, shown(f.what), f.danger.why, f.danger.instead)
}

// otherTools are tools of Claude Code and Gemini CLI that neither run, write nor read a file of their caller's choice. Any other tool is
// judged by what its input holds: a command, a patch, or the path of a file that is written when the tool's name says so, else read.
var (
	otherTools = []string{"Grep", "Glob", "LS", "WebFetch", "WebSearch", "Task", "Agent", "TodoWrite", "glob",
		"search_file_content", "list_directory", "web_fetch", "google_web_search", "update_plan"}
	writes = lazy(`(?i)write|edit|create|insert|replace|delete|remove|move|rename`)
)

// Guard says why a tool may not be used like this; "" when nothing speaks against it. It is advisory: it reads what a command says, and
// cannot read there what a program does that the command starts.
func Guard(in Input, w World) (reason string) {
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
		return guardFiles([]touch{{path: in.ToolInput.FilePath}, {path: in.ToolInput.NotebookPath}}, &w)
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

func guardCommand(text string, w *World) string {
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
func guardFiles(touched []touch, w *World) string {
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
func patched(patch string) []touch {
	var all []touch
	for line := range strings.Lines(patch) {
		for _, head := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "} {
			if name, ok := strings.CutPrefix(line, head); ok {
				all = append(all, touch{path: strings.TrimSpace(name), gone: strings.HasPrefix(head, "*** Delete")})
			}
		}
	}
	return all
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

func dangerCalled(name string) *danger {
	return &dangers[slices.IndexFunc(dangers, func(d danger) bool { return d.name == name })]
}

// Marks stand in a word for what its text does not say. No alphabet uses them; a command that holds them loses them.
const (
	unknown = "\uE000" // a variable of the environment
	foreign = "\uE001" // what came over the network, or was decoded
	secret  = "\uE002" // a variable whose name says that it holds a secret
	output  = "\uE003" // what a program prints

	marks = unknown + foreign + secret + output
)

// unmarked takes the marks out of what comes from outside.
func unmarked(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(marks, r) {
			return '?'
		}
		return r
	}, text)
}

// marked are the marks of a text, or output when it has none.
func marked(text string) string {
	var b strings.Builder
	for _, mark := range marks {
		if strings.ContainsRune(text, mark) {
			b.WriteRune(mark)
		}
	}
	if b.Len() == 0 {
		return output
	}
	return b.String()
}

// shown is a sentence without marks, and short.
func shown(text string) string {
	text = strings.NewReplacer(unknown, "…", output, "…", secret, "…", foreign, "(downloaded)", "\n", " ").Replace(text)
	if runes := []rune(text); len(runes) > 200 {
		text = string(runes[:200]) + "…"
	}
	return text
}

// call is one program as a shell would start it, or the redirections of any other command.
type call struct {
	name   string   // of the program, without its directory, in small letters
	word   string   // the program as it is written
	args   []string // without the program
	env    []string // NAME=value before it
	writes []string // what redirections write
	reads  []string
	in     string // standard input: its text, or marks; "" is none
	cwd    string
	world  *World
}

// short reports whether a call has a one-letter option, alone or among others: rm -fr.
func (c call) short(letters string) bool {
	return slices.ContainsFunc(c.args, func(arg string) bool {
		return len(arg) > 1 && arg[0] == '-' && arg[1] != '-' && strings.ContainsAny(arg[1:], letters)
	})
}

// operands are the arguments that are no options. An option's value is among them, unless it is of one that is named.
func (c call) operands(valued ...string) []string {
	var list []string
	for i := 0; i < len(c.args); i++ {
		switch arg := c.args[i]; {
		case arg == "--":
			return append(list, c.args[i+1:]...)
		case slices.Contains(valued, arg):
			i++
		case len(arg) < 2 || arg[0] != '-':
			list = append(list, arg)
		}
	}
	return list
}

// values are those of an option, as in -o x, -ox, --output x and --output=x.
func (c call) values(options ...string) []string {
	var list []string
	for i, arg := range c.args {
		for _, o := range options {
			long := strings.HasPrefix(o, "--")
			switch rest, ok := strings.CutPrefix(arg, o); {
			case !ok:
			case rest == "" && i+1 < len(c.args):
				list = append(list, c.args[i+1])
			case long && strings.HasPrefix(rest, "="):
				list = append(list, rest[1:])
			case !long && rest != "":
				list = append(list, rest)
			}
		}
	}
	return list
}

// absolute is a path from the root; one that begins with what is not known stays as it is.
func absolute(cwd, name string) string {
	switch {
	case name == "" || strings.ContainsAny(name[:min(len(name), 3)], marks):
		return name
	case path.IsAbs(name):
		return path.Clean(name)
	case cwd == "" || strings.ContainsAny(cwd, marks):
		return unknown + "/" + name
	}
	return path.Join(cwd, name)
}
