package hook

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// command is one program as a shell would start it, or the redirections of any other command.
type command struct {
	name   string   // of the program, without its directory, in small letters
	word   string   // the program as it is written
	args   []string // without the program
	env    []string // NAME=value before it
	writes []string // what redirections write
	reads  []string
	in     string // standard input
	cwd    string
	world  *World
}

// call follows a simple command.
func (s *script) call(x *syntax.CallExpr, in string, c *scope) {
	if !s.step() {
		return
	}
	for _, a := range x.Assigns {
		s.substitutions(a, in, c)
	}
	for _, w := range x.Args {
		s.substitutions(w, in, c)
	}
	env, to := []string(nil), c
	if len(x.Args) > 0 {
		to = c.clone() // they hold for this command alone
	}
	for _, a := range x.Assigns {
		s.assign(a, to)
		if a.Name != nil {
			env = append(env, a.Name.Value+"="+to.vars[a.Name.Value].String())
		}
	}
	args := s.words(x.Args, c)
	for _, w := range x.Args { // curl | tee >(sh)
		s.fed(w, args, in, c)
	}
	s.run(args, env, in, c)
}

// fed follows the processes that a word gives a command to write to: they read what it prints, or what it passes on.
func (s *script) fed(w *syntax.Word, args []string, in string, c *scope) {
	for _, p := range w.Parts {
		if p, ok := p.(*syntax.ProcSubst); ok && p.Op == syntax.CmdOut {
			s.stmts(p.Stmts, s.prints(args, in, c), c.clone())
		}
	}
}

// run follows a program with its arguments, and what that runs in turn.
func (s *script) run(args, env []string, in string, c *scope) {
	if !s.step() {
		return
	}
	if len(args) == 0 {
		if len(env) > 0 {
			s.judge(command{env: env, cwd: c.cwd, world: s.world})
		}
		return
	}
	for i, arg := range args { // as bash does with what looks like an assignment: dd of=~/x
		if name, rest, ok := strings.Cut(arg, "=~"); ok && name != "" && !strings.ContainsAny(name, "/ ") && (rest == "" || rest[0] == '/') {
			args[i] = name + "=" + s.world.Home + rest
		}
	}
	names := []string{programName(args[0])}
	if strings.ContainsAny(names[0], "*?[") { // /bin/r?
		names = globbed(names[0])
	}
	for _, name := range names {
		cmd := command{name: name, word: args[0], args: args[1:], env: env, in: in, cwd: c.cwd, world: s.world}
		s.judge(cmd)
		if s.done() {
			return
		}
		s.within(cmd, c)
	}
}

func programName(word string) string {
	return strings.TrimSuffix(strings.ToLower(path.Base(strings.TrimPrefix(word, `\`))), ".exe")
}

// within follows what a command runs: built-in commands, functions, wrappers, shells.
func (s *script) within(cmd command, c *scope) {
	if body, ok := c.funcs[cmd.word]; ok {
		inner := c.clone()
		inner.args = cmd.args
		delete(inner.funcs, cmd.word) // once is enough
		s.deeper(func() { s.stmt(body, cmd.in, inner) })
		return
	}
	if text, ok := c.written[absolute(c.cwd, cmd.word)]; ok && strings.Contains(cmd.word, "/") {
		if line, _, _ := strings.Cut(text, "\n"); foreign(text) || !strings.HasPrefix(line, "#!") || strings.HasSuffix(line, "sh") {
			s.own(cmd.word, text, c)
		}
		return
	}
	if builtin, ok := builtins[cmd.name]; ok {
		builtin(s, cmd, c)
		return
	}
	if slices.Contains(downloaders, cmd.name) {
		for _, name := range saved(cmd) {
			c.written[absolute(c.cwd, name)] = downloaded
		}
		return
	}
	if cmd.name == "git" {
		s.gitAliases(cmd, c)
		return
	}
	if shells[cmd.name] {
		s.shell(cmd, c)
		return
	}
	if cmd.name == "find" || cmd.name == "fd" || cmd.name == "fdfind" {
		for _, args := range executed(cmd) {
			s.deeper(func() { s.run(args, nil, unknown, c) })
		}
		return
	}
	if w, ok := wrappers[cmd.name]; ok {
		s.wrapped(w, cmd, c)
	}
}

// shell follows a shell: its -c, the file that it reads, or what it reads on standard input.
func (s *script) shell(cmd command, c *scope) {
	inner := c.clone()
	for i := 0; i < len(cmd.args); i++ {
		arg := cmd.args[i]
		switch {
		case arg == "--" || arg == "-":
		case strings.HasPrefix(arg, "--"):
			if arg == "--rcfile" || arg == "--init-file" {
				i++
			}
		case arg == "-s":
		case strings.HasPrefix(arg, "-") && strings.Contains(arg, "c"):
			if i++; i < len(cmd.args) && (cmd.args[i] == "-o" || strings.HasPrefix(cmd.args[i], "-")) {
				for i < len(cmd.args) && strings.HasPrefix(cmd.args[i], "-") {
					if strings.HasSuffix(cmd.args[i], "o") {
						i++
					}
					i++
				}
			}
			if i < len(cmd.args) {
				if rest := cmd.args[i+1:]; len(rest) > 0 {
					inner.args = rest[1:]
				}
				s.nested(cmd.args[i], cmd.in, inner)
			}
			return
		case strings.HasPrefix(arg, "-") || strings.HasPrefix(arg, "+"):
			if strings.HasSuffix(arg, "o") || strings.HasSuffix(arg, "O") {
				i++
			}
		default:
			s.sourced(cmd, arg, c)
			return
		}
	}
	s.nested(cmd.in, "", inner)
}

// sourced looks at a file that is run as shell.
func (s *script) sourced(cmd command, name string, c *scope) {
	switch {
	case foreign(name):
		s.find("download-and-run", cmd.word+" runs what was downloaded or decoded")
	case c.written[absolute(c.cwd, name)] != "":
		s.own(name, c.written[absolute(c.cwd, name)], c)
	case name == "/dev/stdin" || name == "/dev/fd/0" || name == "/proc/self/fd/0":
		s.nested(cmd.in, "", c.clone())
	}
}

// own follows a file that the script itself has written, and now runs.
func (s *script) own(name, text string, c *scope) {
	if foreign(text) {
		s.find("download-and-run", name+" was downloaded or decoded by the same command")
		return
	}
	s.nested(text, "", c.clone())
}

// nested follows a script within the script.
func (s *script) nested(script, in string, c *scope) {
	if foreign(script) {
		s.find("download-and-run", "a shell runs what was downloaded or decoded")
		return
	}
	if strings.Trim(script, marks+" \t\n;") != "" {
		s.deeper(func() { s.text(script, in, c) })
	}
}

// saved are the files to which a command downloads.
func saved(cmd command) []string {
	names := cmd.values("-o", "-O", "--output", "--output-document")
	for _, address := range cmd.operands("-o", "--output", "-H", "--header") {
		if strings.Contains(address, "/") {
			names = append(names, path.Base(address)) // curl -O URL, wget URL
		}
	}
	return names
}

// globbed are the programs of which a pattern may name one.
func globbed(pattern string) []string {
	var names []string
	for _, name := range knownPrograms() {
		if ok, err := path.Match(pattern, name); ok && err == nil {
			names = append(names, name)
		}
	}
	return names
}

// short reports whether a command has a one-letter option, alone or among others: rm -fr.
func (c command) short(letters string) bool {
	for _, arg := range c.args {
		if arg == "--" {
			return false
		}
		if len(arg) > 1 && arg[0] == '-' && arg[1] != '-' && strings.ContainsAny(arg[1:], letters) {
			return true
		}
	}
	return false
}

// has reports whether one of the words is an argument, or the beginning of one that goes on with "=".
func (c command) has(options ...string) bool {
	for _, arg := range c.args {
		name, _, _ := strings.Cut(arg, "=")
		if slices.Contains(options, arg) || strings.HasPrefix(arg, "--") && slices.Contains(options, name) {
			return true
		}
	}
	return false
}

// operands are the arguments that are no options. An option's value is among them, unless it is of one that is named.
func (c command) operands(valued ...string) []string {
	var list []string
	for i := 0; i < len(c.args); i++ {
		arg := c.args[i]
		switch {
		case arg == "--":
			return append(list, c.args[i+1:]...)
		case slices.Contains(valued, arg):
			i++
		case strings.HasPrefix(arg, "-") && len(arg) > 1:
		default:
			list = append(list, arg)
		}
	}
	return list
}

// values are those of an option, as in -o x, -ox, --output x and --output=x.
func (c command) values(options ...string) []string {
	var list []string
	for i, arg := range c.args {
		for _, o := range options {
			switch rest, ok := strings.CutPrefix(arg, o); {
			case !ok:
			case rest == "" && i+1 < len(c.args):
				list = append(list, c.args[i+1])
			case strings.HasPrefix(o, "--") && strings.HasPrefix(rest, "="):
				list = append(list, rest[1:])
			case !strings.HasPrefix(o, "--") && rest != "":
				list = append(list, rest)
			}
		}
	}
	return list
}

// first is the first operand, and the rest.
func (c command) first() (string, []string) {
	ops := c.operands()
	if len(ops) == 0 {
		return "", nil
	}
	return ops[0], ops[1:]
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
