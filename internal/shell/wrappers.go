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
	line   bool   // what follows is joined into a line for a shell: watch
	more   bool   // it adds arguments that it reads: xargs
}

// wrapperOf is the wrapper of a name, made when it is asked: most starts of ralph need none.
func wrapperOf(name string) (wrapper, bool) {
	w, ok := map[string]wrapper{
		"env":      {valued: "-u --unset -C --chdir -P"},
		"sudo":     {valued: "-u -g -h -p -C -r -t -T -U -D -R --user --group"},
		"doas":     {valued: "-u -C"},
		"timeout":  {valued: "-k -s --kill-after --signal", skip: 1},
		"nice":     {valued: "-n --adjustment"},
		"ionice":   {valued: "-c -n -p --class --classdata"},
		"stdbuf":   {valued: "-i -o -e --input --output --error"},
		"time":     {valued: "-f -o --format --output"},
		"exec":     {valued: "-a"},
		"strace":   {valued: "-o -e -p -s -u -E"},
		"xargs":    {valued: "-I -n -P -L -s -d -E -a --max-args --max-procs --delimiter --arg-file", more: true},
		"parallel": {valued: "-j --jobs -a --delay", line: true, more: true},
		"watch":    {valued: "-n --interval", line: true},
		"npx":      {valued: "-p --package"},
		"pnpm":     {sub: "exec dlx"},
		"yarn":     {sub: "exec dlx"},
		"uv":       {sub: "run", valued: "--with --python -p"},
		"poetry":   {sub: "run"},
		"pipenv":   {sub: "run"},
		"bundle":   {sub: "exec"},
		"mise":     {sub: "exec x"},
		"su":       {valued: "-s -g -G", skip: 1},
		"runuser":  {valued: "-s -g -G -u", skip: 1},
		"script":   {valued: "-I -O -B -T -m", skip: 1},
		"flock":    {valued: "-w -E --timeout", skip: 1},
		"direnv":   {sub: "exec", skip: 1},
		"gtimeout": {valued: "-k -s", skip: 1},
		"taskset":  {skip: 1}, "chrt": {skip: 1}, "chroot": {skip: 1},
		"systemd-run": {valued: "-p -u --unit --property"}, "unshare": {valued: "-S -G -R -w"},
		"command": {}, "builtin": {}, "nohup": {}, "setsid": {}, "busybox": {}, "toybox": {}, "pkexec": {}, "fakeroot": {},
		"caffeinate": {}, "chronic": {}, "unbuffer": {}, "setpriv": {}, "xvfb-run": {}, "bunx": {},
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
		case slices.Contains(valued, arg) || arg == "-S" || arg == "--split-string":
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

// added are the arguments with those that the wrapper reads on its standard input.
func added(c Call, args []string) []string {
	more := strings.Fields(c.In)
	if len(more) == 0 {
		more = []string{Unknown}
	}
	args = slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return arg == "{}" })
	return append(args, more[:min(len(more), 100)]...)
}

// isShell reports whether a program reads the language of shells.
func isShell(name string) bool {
	return slices.Contains([]string{"sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "fish", "rbash"}, name)
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
		switch {
		case arg == "--":
			o.operands = args[i+1:]
			return
		case len(arg) < 2 || arg[0] != '-' && arg[0] != '+':
			o.operands = args[i:]
			return
		case strings.HasPrefix(arg, "--"):
			o.code = o.code || arg == "--command"
			if strings.HasSuffix(arg, "file") { // --rcfile FILE
				i++
			}
			continue
		}
		on := arg[0] == '-'
		o.code = o.code || strings.Contains(arg, "c")
		if strings.Contains(arg, "e") {
			o.errexit = on
		}
		if strings.ContainsAny(arg, "oO") && i+1 < len(args) { // -euo pipefail
			i++
			if args[i] == "pipefail" {
				o.pipefail = on
			}
			if args[i] == "errexit" {
				o.errexit = on
			}
		}
	}
}
