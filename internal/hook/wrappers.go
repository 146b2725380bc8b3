package hook

import (
	"slices"
	"strings"
)

// wrapper is a program that runs the command that follows it.
type wrapper struct {
	valued []string // options that take the next word
	skip   int      // operands before the command
	env    bool     // NAME=value comes before the command
	sub    []string // it runs a command only after one of these words: uv run
	line   bool     // what follows is joined into a line for a shell: watch
	more   bool     // it adds arguments that it reads: xargs
	script []string // options whose value is a line for a shell
}

var wrappers = map[string]wrapper{
	"env":         {valued: []string{"-u", "--unset", "-C", "--chdir", "-P"}, env: true, script: []string{"-S", "--split-string"}},
	"sudo":        {valued: []string{"-u", "-g", "-h", "-p", "-C", "-r", "-t", "-T", "-U", "-D", "-R", "--user", "--group"}, env: true},
	"doas":        {valued: []string{"-u", "-C"}},
	"pkexec":      {valued: []string{"--user"}},
	"nohup":       {},
	"setsid":      {},
	"nice":        {valued: []string{"-n", "--adjustment"}},
	"ionice":      {valued: []string{"-c", "-n", "-p", "--class", "--classdata"}},
	"chrt":        {skip: 1},
	"taskset":     {skip: 1},
	"timeout":     {valued: []string{"-k", "-s", "--kill-after", "--signal"}, skip: 1},
	"gtimeout":    {valued: []string{"-k", "-s", "--kill-after", "--signal"}, skip: 1},
	"stdbuf":      {valued: []string{"-i", "-o", "-e", "--input", "--output", "--error"}},
	"time":        {valued: []string{"-f", "-o", "--format", "--output"}},
	"command":     {},
	"builtin":     {},
	"exec":        {valued: []string{"-a"}},
	"busybox":     {},
	"toybox":      {},
	"chroot":      {skip: 1},
	"unshare":     {valued: []string{"-S", "-G", "-R", "-w"}},
	"nsenter":     {valued: []string{"-t", "-S", "-G"}},
	"fakeroot":    {},
	"caffeinate":  {valued: []string{"-t", "-w"}},
	"chronic":     {},
	"unbuffer":    {},
	"strace":      {valued: []string{"-o", "-e", "-p", "-s", "-u", "-E"}},
	"ltrace":      {valued: []string{"-o", "-e", "-p", "-s", "-u"}},
	"proxychains": {valued: []string{"-f"}},
	"setpriv":     {},
	"systemd-run": {valued: []string{"-p", "-u", "--unit", "--property"}},
	"xvfb-run":    {valued: []string{"-n", "-s", "--server-args"}},
	"flock":       {valued: []string{"-w", "-E", "--timeout"}, skip: 1, script: []string{"-c", "--command"}},
	"script":      {valued: []string{"-I", "-O", "-B", "-T", "-m"}, skip: 1, script: []string{"-c", "--command"}},
	"su":          {valued: []string{"-s", "-g", "-G"}, skip: 1, script: []string{"-c", "--command"}},
	"runuser":     {valued: []string{"-s", "-g", "-G", "-u"}, skip: 1, script: []string{"-c", "--command"}},
	"watch":       {valued: []string{"-n", "--interval"}, line: true},
	"parallel":    {valued: []string{"-j", "--jobs", "-a", "--delay"}, line: true, more: true},
	"xargs":       {valued: []string{"-I", "-n", "-P", "-L", "-s", "-d", "-E", "-a", "--max-args", "--max-procs", "--delimiter", "--arg-file"}, more: true},
	"npx":         {valued: []string{"-p", "--package"}, script: []string{"-c", "--call"}},
	"bunx":        {},
	"pnpm":        {sub: []string{"exec", "dlx"}},
	"yarn":        {sub: []string{"exec", "dlx"}},
	"uv":          {sub: []string{"run"}, valued: []string{"--with", "--python", "-p"}},
	"poetry":      {sub: []string{"run"}},
	"pipenv":      {sub: []string{"run"}},
	"bundle":      {sub: []string{"exec"}},
	"mise":        {sub: []string{"exec", "x"}},
	"direnv":      {sub: []string{"exec"}, skip: 1},
}

// wrapped follows the command that a wrapper runs.
func (s *script) wrapped(w wrapper, cmd command, c *scope) {
	if cmd.name == "command" && cmd.short("vV") {
		return
	}
	for _, text := range cmd.values(w.script...) {
		s.nested(text, cmd.in, c.clone())
	}
	args := cmd.args
	if len(w.sub) > 0 {
		if len(args) == 0 || !slices.Contains(w.sub, args[0]) {
			return
		}
		args = args[1:]
	}
	args, env := w.rest(args)
	if len(args) == 0 {
		return
	}
	if w.more {
		args = s.added(cmd, args)
	}
	if w.line {
		s.nested(strings.Join(args, " "), cmd.in, c.clone())
		return
	}
	inner := c.clone()
	if cmd.name == "exec" {
		inner = c
	}
	delete(inner.funcs, args[0]) // a wrapper knows no functions
	s.deeper(func() { s.run(args, env, cmd.in, inner) })
}

// rest is the command after the wrapper's own options.
func (w wrapper) rest(args []string) (command, env []string) {
	skip := w.skip
	for i := 0; i < len(args); i++ {
		arg := args[i]
		name, _, assigns := strings.Cut(arg, "=")
		switch {
		case arg == "--":
			return args[min(len(args), i+1+skip):], env
		case slices.Contains(w.valued, arg) || slices.Contains(w.script, arg):
			i++
		case strings.HasPrefix(arg, "-") && len(arg) > 1:
		case w.env && assigns && !strings.ContainsAny(name, "/ "):
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
func (s *script) added(cmd command, args []string) []string {
	more := strings.Fields(cmd.in)
	if len(more) == 0 {
		more = []string{unknown}
	}
	if len(more) > 100 {
		more = more[:100]
	}
	for _, place := range append(cmd.values("-I", "--replace"), "{}") {
		if !slices.ContainsFunc(args, func(arg string) bool { return strings.Contains(arg, place) }) {
			continue
		}
		var list []string
		for _, arg := range args {
			if arg == place {
				list = append(list, more...)
			} else {
				list = append(list, strings.ReplaceAll(arg, place, more[0]))
			}
		}
		return list
	}
	return append(args[:len(args):len(args)], more...)
}

// executed are the commands that find runs, with what it finds below where it starts in the place of {}.
func executed(cmd command) [][]string {
	var all [][]string
	start := findStart(cmd)
	for i := 0; i < len(cmd.args); i++ {
		if !slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"}, cmd.args[i]) {
			continue
		}
		var one []string
		for i++; i < len(cmd.args) && cmd.args[i] != ";" && cmd.args[i] != "+"; i++ {
			one = append(one, strings.ReplaceAll(cmd.args[i], "{}", start[0]+"/"+output))
		}
		if len(one) > 0 {
			all = append(all, one)
		}
	}
	return all
}

// findStart are the directories in which find looks.
func findStart(cmd command) []string {
	var start []string
	for _, arg := range cmd.args {
		if strings.HasPrefix(arg, "-") || arg == "(" || arg == "!" {
			if arg == "-L" || arg == "-H" || arg == "-P" {
				continue
			}
			break
		}
		start = append(start, arg)
	}
	if len(start) == 0 || cmd.name != "find" {
		return []string{"."}
	}
	return start
}
