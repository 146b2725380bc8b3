package hook

import (
	"path"
	"slices"
	"strings"
)

// programs are the names of a program that the rules know it by: of a pattern (/bin/r?) all that fit.
func programs(word string) []string {
	name := strings.TrimSuffix(strings.ToLower(path.Base(strings.TrimPrefix(word, `\`))), ".exe")
	if strings.HasPrefix(name, "mkfs.") {
		name = "mkfs"
	}
	if plain := strings.TrimRight(name, "0123456789."); plain == "python" || plain == "pypy" || plain == "pip" {
		name = plain
	}
	if !strings.ContainsAny(name, "*?[") {
		return []string{name}
	}
	var names []string
	for known := range ruleIndex() {
		if ok, err := path.Match(name, known); ok && err == nil && !strings.Contains(known, " ") {
			names = append(names, known)
		}
	}
	slices.Sort(names)
	return names
}

// wrapper is a program that runs the command that follows it.
type wrapper struct {
	valued string // options that take the next word
	skip   int    // operands before the command
	sub    string // it runs a command only after one of these words: uv run
	line   bool   // what follows is joined into a line for a shell: watch
	more   bool   // it adds arguments that it reads: xargs
}

// wrappers are made when they are asked: most starts of ralph need none.
func wrappers() map[string]wrapper {
	return map[string]wrapper{
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
	}
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
func added(c call, args []string) []string {
	more := strings.Fields(c.in)
	if len(more) == 0 {
		more = []string{unknown}
	}
	more = more[:min(len(more), 100)]
	for _, place := range append(c.values("-I", "--replace"), "{}") {
		var list []string
		for _, arg := range args {
			if arg == place {
				list = append(list, more...)
			} else {
				list = append(list, strings.ReplaceAll(arg, place, more[0]))
			}
		}
		if !slices.Equal(list, args) {
			return list
		}
	}
	return append(slices.Clone(args), more...)
}

// findStart are the directories in which find looks.
func findStart(c call) []string {
	var start []string
	for _, arg := range c.args {
		if arg == "-L" || arg == "-H" || arg == "-P" || c.name == "ls" && strings.HasPrefix(arg, "-") {
			continue
		}
		if strings.HasPrefix(arg, "-") || arg == "(" || arg == "!" {
			break
		}
		start = append(start, arg)
	}
	if len(start) == 0 || c.name != "find" && c.name != "ls" {
		return []string{"."}
	}
	return start
}

// gitParts are git's own options, its subcommand, and the arguments of that without what -m says: words, not options.
func gitParts(args []string) (globals []string, sub string, rest []string) {
	valued := []string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"}
	i := 0
	for ; i < len(args) && strings.HasPrefix(args[i], "-"); i++ {
		if slices.Contains(valued, args[i]) {
			i++
		}
	}
	if i >= len(args) {
		return args, "", nil
	}
	globals, sub, args = args[:i], args[i], args[i+1:]
	if !slices.Contains([]string{"commit", "tag", "merge", "stash", "notes"}, sub) {
		return globals, sub, args
	}
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "--message" || arg == "--file" || arg == "-F",
			len(arg) > 1 && arg[0] == '-' && arg[1] != '-' && strings.HasSuffix(arg, "m"):
			rest = append(rest, strings.TrimSuffix(arg, "m"))
			i++
		case !strings.HasPrefix(arg, "--message=") && !strings.HasPrefix(arg, "-m"):
			rest = append(rest, arg)
		}
	}
	return globals, sub, rest
}
