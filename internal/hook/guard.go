package hook

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// World is where a command would run.
type World struct {
	Root     string // the project's top directory, absolute
	Cwd      string // absolute
	Home     string // absolute; "" is not known
	RalphDir string // where a plan is, relative to Root; "" is "ralph"
	Run      bool   // ralph is at work here: it commits and pushes itself
}

// Danger is a kind of thing that the guard refuses.
type Danger struct {
	Name    string
	Why     string // one sentence
	Instead string // one sentence: what to do
	// finds says what of a command is of this kind; "" when nothing is.
	finds func(command) string
	// touches says the same of a file that is written, changed or deleted; nil when no file is of this kind.
	touches func(touch) string
}

// Finding is a danger in a command.
type Finding struct {
	Danger *Danger
	What   string // "rm -r deletes /"
}

// Reason is what an agent is told.
func (f Finding) Reason() string {
	return fmt.Sprintf("Refused (%s): %s. %s %s", f.Danger.Name, f.What, f.Danger.Why, f.Danger.Instead)
}

// shellTools and fileTools are the tools that the guard looks at, by the names of Claude Code, Codex and Gemini CLI.
var (
	shellTools = []string{"Bash", "run_shell_command", "shell", "local_shell", "exec_command", "unified_exec"}
	fileTools  = []string{"Write", "Edit", "MultiEdit", "NotebookEdit", "write_file", "replace"}
	readTools  = []string{"Read", "read_file"}
	patchTools = []string{"apply_patch"}
)

// Guard says why a tool may not be used like this; "" when nothing speaks against it. It is advisory: it reads what a command says, and
// what a program does that is started by it cannot be read there.
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
	switch {
	case slices.Contains(shellTools, in.Tool):
		return guardCommand(string(in.ToolInput.Command), &w)
	case slices.Contains(fileTools, in.Tool):
		return guardFiles([]touch{{path: in.ToolInput.FilePath}, {path: in.ToolInput.NotebookPath}}, &w)
	case slices.Contains(patchTools, in.Tool):
		return guardFiles(patched(string(in.ToolInput.Command)), &w)
	case slices.Contains(readTools, in.Tool):
		if what := credentialFile(absolute(w.Cwd, unmarked(in.ToolInput.FilePath)), &w); what != "" {
			return Finding{danger("credentials"), in.Tool + " reads " + what}.Reason()
		}
	}
	return ""
}

func unreadable(why string) string {
	return "Refused (unreadable): " + why + ", so nobody can say what this command would do. Write it plainer, in smaller steps; put long texts into files with the tool for writing files."
}

func guardCommand(text string, w *World) string {
	s := &script{world: w, steps: mostSteps, handed: mostHanded, defaulted: map[string]bool{}}
	s.text(unmarked(text), "", &scope{vars: map[string]expand.Variable{}, cwd: w.Cwd, funcs: map[string]*syntax.Stmt{}, written: map[string]string{}})
	switch {
	case s.found != nil:
		return s.found.Reason()
	case s.err != nil:
		return unreadable(s.err.Error())
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
		for i := range Dangers {
			if d := &Dangers[i]; d.touches != nil {
				if what := d.touches(t); what != "" {
					return Finding{d, what}.Reason()
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

// find notes a danger; the first one counts.
func (s *script) find(name, what string) {
	if s.found == nil {
		s.found = &Finding{danger(name), shown(what)}
	}
}

// judge holds a command against every kind of danger.
func (s *script) judge(c command) {
	touched := c.touched()
	for i := range Dangers {
		d := &Dangers[i]
		what := ""
		if d.finds != nil {
			what = d.finds(c)
		}
		for _, t := range touched {
			if what == "" && d.touches != nil {
				what = d.touches(t)
			}
		}
		if what != "" {
			s.find(d.Name, what)
			return
		}
	}
}

func danger(name string) *Danger {
	for i := range Dangers {
		if Dangers[i].Name == name {
			return &Dangers[i]
		}
	}
	panic("no danger is called " + name)
}

// shown is a sentence with names for the marks, and short.
func shown(text string) string {
	text = strings.NewReplacer(unknown, "…", output, "…", secret, "…", downloaded, "(downloaded)", decoded, "(decoded)", "\n", " ").Replace(text)
	if runes := []rune(text); len(runes) > 200 {
		text = string(runes[:200]) + "…"
	}
	return text
}

// touch is a file that a command or a tool writes, changes or deletes.
type touch struct {
	path  string // absolute, unless it is not known where it begins
	gone  bool   // deleted or moved away
	world *World
}

// touched are the files that a command writes, changes or deletes, as far as its arguments name them.
func (c command) touched() []touch {
	var all []touch
	add := func(gone bool, names ...string) {
		for _, name := range names {
			if name != "" {
				all = append(all, touch{absolute(c.cwd, name), gone, c.world})
			}
		}
	}
	add(false, c.writes...)
	ops := c.operands()
	switch c.name {
	case "tee", "touch", "truncate", "mkfifo", "sponge", "patch", "ed", "ex", "vi", "vim", "nano", "emacs":
		add(false, ops...)
	case "rm", "unlink", "rmdir", "shred", "rimraf", "trash":
		add(true, ops...)
	case "cp", "install", "ln", "mv", "rsync", "scp":
		c.copied(ops, add)
	case "chmod", "chown", "chgrp", "chattr", "setfacl":
		if slices.ContainsFunc(c.args, takesAway) { // chmod -x FILE
			add(false, ops...)
		} else if len(ops) > 0 {
			add(false, ops[1:]...)
		}
	case "dd":
		for _, arg := range c.args {
			if to, ok := strings.CutPrefix(arg, "of="); ok {
				add(false, to)
			}
		}
	case "sed", "gsed", "perl", "ruby", "yq", "awk", "gawk":
		if c.short("i") || c.has("--in-place", "--inplace", "inplace") {
			add(false, ops...)
		}
	case "curl":
		add(false, c.values("-o", "--output")...)
	case "wget":
		add(false, c.values("-O", "--output-document")...)
	case "sort", "openssl", "gcc", "xxd":
		add(false, c.values("-o", "--output")...)
	case "git":
		if sub, rest := c.git(); slices.Contains([]string{"rm", "mv"}, sub) {
			add(true, rest.operands()...)
		}
	case "find":
		if c.has("-delete") {
			for _, start := range findStart(c) {
				add(true, start)
			}
		}
	}
	return all
}

// takesAway reports whether an argument of chmod is a mode that looks like an option.
func takesAway(arg string) bool {
	return len(arg) > 1 && arg[0] == '-' && strings.Trim(arg[1:], "rwxXst") == ""
}

// copied are what cp, mv and their like write: the last operand, and in it the names of the others.
func (c command) copied(ops []string, add func(bool, ...string)) {
	to := c.values("-t", "--target-directory")
	if len(to) == 0 && len(ops) > 1 {
		to, ops = ops[len(ops)-1:], ops[:len(ops)-1]
	}
	if c.name == "mv" {
		add(true, ops...)
	}
	for _, dir := range to {
		add(false, dir)
		for _, from := range ops {
			add(false, path.Join(dir, path.Base(from)))
		}
	}
}
