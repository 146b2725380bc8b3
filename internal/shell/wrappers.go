package shell

import (
	"slices"
	"strings"
)

// wrapper is a program that runs the command that follows it.
type wrapper struct {
	valued string // options that take the next word
	skip   int    // operands before the command
	sub    string // it runs a command only after one of these words: uv run
	more   bool   // it adds arguments that it reads: xargs
}

// wrapperOf is the wrapper of a name, made when it is asked: most starts of ralph need none.
func wrapperOf(name string) (wrapper, bool) {
	w, ok := map[string]wrapper{
		"env":      {valued: "-u --unset -C --chdir"},
		"sudo":     {valued: "-u -g -h -p -C -D --user --group"},
		"timeout":  {valued: "-k -s --kill-after --signal", skip: 1},
		"nice":     {valued: "-n --adjustment"},
		"stdbuf":   {valued: "-i -o -e --input --output --error"},
		"time":     {valued: "-f -o --format --output"},
		"exec":     {valued: "-a"},
		"strace":   {valued: "-o -e -p -s -u -E"},
		"xargs":    {valued: "-I -n -P -L -s -d -E -a --max-args --max-procs --delimiter --arg-file", more: true},
		"parallel": {valued: "-j --jobs -a --delay", more: true},
		"watch":    {valued: "-n --interval"},
		"npx":      {valued: "-p --package"},
		"pnpm":     {sub: "exec dlx"},
		"yarn":     {sub: "exec dlx"},
		"uv":       {sub: "run", valued: "--with --python -p"},
		"poetry":   {sub: "run"},
		"pipenv":   {sub: "run"},
		"bundle":   {sub: "exec"},
		"flock":    {valued: "-w -E --timeout", skip: 1},
		"command":  {}, "builtin": {}, "nohup": {}, "setsid": {}, "busybox": {}, "xvfb-run": {}, "bunx": {},
	}[name]
	return w, ok
}

// Wraps reports whether a program runs the command that follows it.
func Wraps(name string) bool {
	_, ok := wrapperOf(name)
	return ok
}

// rest is the command after the wrapper's own options, and the environment that is set for it.
func (wr wrapper) rest(args []string) (command, env []string) {
	if wr.sub != "" {
		if len(args) == 0 || !slices.Contains(strings.Fields(wr.sub), args[0]) {
			return nil, nil
		}
		args = args[1:]
	}
	valued, skip := strings.Fields(wr.valued), wr.skip
	for i := 0; i < len(args); i++ {
		name, _, assigns := strings.Cut(args[i], "=")
		switch arg := args[i]; {
		case arg == "--":
			return args[min(len(args), i+1+skip):], env
		case slices.Contains(valued, arg):
			i++
		case strings.HasPrefix(arg, "-") && len(arg) > 1:
		case assigns && !strings.ContainsAny(name, "/ "):
			env = append(env, arg)
		case skip > 0:
			skip--
		default:
			return args[i:], env
		}
	}
	return nil, env
}

// isShell reports whether a program reads the language of shells.
func isShell(name string) bool {
	return slices.Contains([]string{"sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "fish"}, name)
}

// options are those of a shell: sh -euo pipefail -c TEXT.
type options struct {
	errexit, pipefail bool
	code              bool     // -c: the first operand is a text
	operands          []string // a text or a file, and its arguments
}

// optionsOf reads the arguments of a shell.
func optionsOf(args []string) (o options) {
	o.read(args)
	return o
}

func (o *options) read(args []string) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			o.operands = args[i+1:]
			return
		}
		if len(arg) < 2 || arg[0] != '-' && arg[0] != '+' {
			o.operands = args[i:]
			return
		}
		if strings.HasPrefix(arg, "--") {
			continue
		}
		on := arg[0] == '-'
		o.code = o.code || strings.Contains(arg, "c")
		if strings.Contains(arg, "e") {
			o.errexit = on
		}
		if strings.ContainsAny(arg, "oO") && i+1 < len(args) { // -euo pipefail
			i++
			o.pipefail = o.pipefail && args[i] != "pipefail" || on && args[i] == "pipefail"
			o.errexit = o.errexit && args[i] != "errexit" || on && args[i] == "errexit"
		}
	}
}
