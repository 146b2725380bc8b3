package hook

import (
	"encoding/base64"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// variables are those of a shell, as words see them. What the text does not assign stands for itself as a mark.
type variables struct {
	w  *walk
	sh *shell
}

var secretName = lazy(`(?i)(TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|CREDENTIALS?)$`)

func textVar(value string) expand.Variable {
	return expand.Variable{Set: true, Kind: expand.String, Str: value}
}

// Get implements expand.Environ.
func (v variables) Get(name string) expand.Variable {
	value := v.get(name)
	size := len(value.Str)
	for _, item := range value.List {
		size += len(item)
	}
	if v.w.handed -= size; v.w.handed < 0 {
		v.w.err = errTooLong
		return textVar(unknown)
	}
	return value
}

func (v variables) get(name string) expand.Variable {
	if value, ok := v.sh.vars[name]; ok {
		return value
	}
	args := v.sh.args
	switch name {
	case "@", "*":
		return expand.Variable{Set: true, Kind: expand.Indexed, List: args}
	case "HOME":
		return textVar(v.w.world.Home)
	case "PWD":
		return textVar(v.sh.cwd)
	case "TMPDIR":
		return textVar("/tmp")
	case "PPID":
		return textVar("$PPID")
	case "IFS":
		return expand.Variable{}
	}
	if n, err := strconv.Atoi(name); err == nil && n > 0 && !slices.Equal(args, []string{unknown}) {
		if n > len(args) {
			return expand.Variable{}
		}
		return textVar(args[n-1])
	}
	if user, ok := strings.CutPrefix(name, "HOME "); ok {
		return textVar("/home/" + user)
	}
	switch {
	case v.w.defaulted[name]:
		return expand.Variable{}
	case secretName.MatchString(name):
		return textVar(secret)
	}
	return textVar(unknown)
}

// Each implements expand.Environ.
func (v variables) Each(f func(string, expand.Variable) bool) {
	for name, value := range v.sh.vars {
		if !f(name, value) {
			return
		}
	}
}

// Set implements expand.WriteEnviron, for ${x:=value}.
func (v variables) Set(name string, value expand.Variable) error {
	v.sh.vars[name] = value
	return nil
}

func (w *walk) config(sh *shell) *expand.Config {
	return &expand.Config{
		Env: variables{w, sh},
		CmdSubst: func(to io.Writer, x *syntax.CmdSubst) error {
			_, err := io.WriteString(to, w.printed(x.Stmts, "", sh.clone()))
			return err
		},
		ProcSubst: func(p *syntax.ProcSubst) (string, error) {
			return "/dev/fd/" + marked(w.printed(p.Stmts, "", sh.clone())), nil
		},
	}
}

// words expands words as a shell does, into none, one or several each. One that cannot be expanded is unknown.
func (w *walk) words(list []*syntax.Word, sh *shell) []string {
	all := make([]string, 0, len(list))
	for _, word := range list {
		if lit := word.Lit(); lit != "" && !strings.ContainsAny(lit, `\~{`) {
			all = append(all, lit)
			continue
		}
		fields, err := expand.Fields(w.config(sh), word)
		if err != nil {
			fields = []string{unknown}
		}
		all = append(all, fields...)
	}
	return all
}

// word expands a word into one.
func (w *walk) word(word *syntax.Word, sh *shell) string {
	value, err := expand.Literal(w.config(sh), word)
	if err != nil {
		return unknown
	}
	return value
}

// document expands a here-document, or a word that takes the place of one.
func (w *walk) document(word *syntax.Word, sh *shell) string {
	if word == nil {
		return ""
	}
	value, err := expand.Document(w.config(sh), word)
	if err != nil {
		return unknown
	}
	return value
}

// assign takes an assignment up.
func (w *walk) assign(a *syntax.Assign, sh *shell) {
	if a.Name == nil || a.Naked {
		return
	}
	name := a.Name.Value
	switch {
	case a.Array != nil:
		var words []*syntax.Word
		for _, e := range a.Array.Elems {
			if e.Value != nil {
				words = append(words, e.Value)
			}
		}
		sh.vars[name] = expand.Variable{Set: true, Kind: expand.Indexed, List: w.words(words, sh)}
	case a.Index != nil:
		sh.vars[name] = textVar(unknown)
	default:
		value := w.word(a.Value, sh)
		if a.Append {
			value = sh.vars[name].Str + value
		}
		if len(value) > mostValue {
			value = marked(value)
		}
		sh.vars[name] = textVar(value)
	}
}

// printed is what statements print one after another.
func (w *walk) printed(list []*syntax.Stmt, in string, sh *shell) string {
	var b strings.Builder
	for _, st := range list {
		b.WriteString(w.prints(st, in, sh))
	}
	return b.String()
}

// prints is what a statement prints: the text if it is known, else a mark of what kind it is.
func (w *walk) prints(st *syntax.Stmt, in string, sh *shell) (text string) {
	if st == nil || !w.step() {
		return ""
	}
	w.deeper(func() {
		in = w.stdin(st, in, sh)
		switch x := st.Cmd.(type) {
		case *syntax.CallExpr:
			text = w.printedBy(w.words(x.Args, sh), in, sh)
		case *syntax.BinaryCmd:
			if x.Op == syntax.Pipe || x.Op == syntax.PipeAll {
				text = w.prints(x.Y, w.prints(x.X, in, sh), sh)
			} else {
				text = w.prints(x.X, in, sh) + w.prints(x.Y, in, sh)
			}
		case *syntax.Subshell:
			text = w.printed(x.Stmts, in, sh)
		case *syntax.Block:
			text = w.printed(x.Stmts, in, sh)
		case nil:
			text = in // $(<file)
		default:
			text = marked(in)
		}
	})
	if len(text) > mostScript {
		return marked(text)
	}
	return text
}

// printedBy is what a program prints.
func (w *walk) printedBy(args []string, in string, sh *shell) string {
	if len(args) == 0 {
		return ""
	}
	name := programs(args[0])
	c := call{args: args[1:], cwd: sh.cwd}
	if len(name) == 1 {
		c.name = name[0]
	}
	ops := c.operands()
	switch c.name {
	case "echo":
		return strings.Join(slices.DeleteFunc(ops, func(o string) bool { return o == "-" }), " ") + "\n"
	case "printf":
		return formatted(ops)
	case "cat", "tee":
		if len(ops) == 0 || c.name == "tee" {
			return in
		}
	case "pwd":
		return sh.cwd + "\n"
	case "dirname":
		if len(ops) == 1 {
			return path.Dir(ops[0]) + "\n"
		}
	case "mktemp":
		return "/tmp/" + output + "\n"
	case "uname", "nproc":
		return output + "\n"
	case "pgrep":
		return "pgrep:" + strings.Join(c.args, ",")
	case "find", "ls":
		var b strings.Builder
		for _, start := range findStart(c) {
			b.WriteString(start + "/" + output + "\n")
		}
		return b.String()
	case "git":
		if slices.Contains(ops, "--show-toplevel") || slices.Equal(c.args, []string{"rev-parse", "--show-toplevel"}) {
			return w.world.Root + "\n"
		}
	case "curl", "wget", "nc", "ncat", "netcat", "aria2c", "http", "https", "xh", "lynx", "w3m":
		return foreign
	case "base64", "base32", "xxd", "openssl", "uudecode":
		if c.name == "uudecode" || c.short("dDr") || slices.Contains(c.args, "--decode") {
			return decoded(c, ops, in)
		}
	default:
		if wr, ok := wrappers()[c.name]; ok {
			if rest, _ := wr.rest(c.args); len(rest) > 0 {
				return w.printedBy(rest, in, sh)
			}
		}
	}
	return marked(strings.Join(args, "") + in)
}

// formatted is what printf prints of a format that takes nothing but strings.
func formatted(ops []string) string {
	if len(ops) == 0 {
		return ""
	}
	text := ops[0]
	for _, arg := range ops[1:] {
		text = strings.Replace(text, "%s", arg, 1)
	}
	if strings.Contains(text, "%") {
		return marked(text)
	}
	return strings.ReplaceAll(text, `\n`, "\n")
}

// decoded is what base64 -d prints of a text that the command itself holds; of anything else nobody has read it.
func decoded(c call, ops []string, in string) string {
	text, err := base64.StdEncoding.DecodeString(strings.TrimSpace(in))
	if c.name != "base64" || len(ops) > 0 || in == "" || err != nil {
		return foreign
	}
	return string(text)
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

// wrapped follows the command that a wrapper runs.
func (w *walk) wrapped(wr wrapper, c call, sh *shell) {
	if c.name == "command" && c.short("vV") {
		return
	}
	for _, text := range c.values("-c", "--command", "-S", "--split-string", "--call") {
		w.script(text, c.in, sh.clone())
	}
	args, env := wr.rest(c.args)
	if len(args) == 0 {
		return
	}
	if wr.more {
		args = added(c, args)
	}
	if wr.line {
		w.script(strings.Join(args, " "), c.in, sh.clone())
		return
	}
	inner := sh.clone()
	delete(inner.funcs, args[0]) // a wrapper knows no functions
	w.deeper(func() { w.run(args, env, c.in, inner) })
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

// findExec follows the commands that find runs, with what it finds below where it starts in the place of {}.
func (w *walk) findExec(c call, sh *shell) {
	starts := []string{"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"}
	for i := 0; i < len(c.args); i++ {
		if !slices.Contains(starts, c.args[i]) {
			continue
		}
		var args []string
		for i++; i < len(c.args) && c.args[i] != ";" && c.args[i] != "+"; i++ {
			args = append(args, strings.ReplaceAll(c.args[i], "{}", findStart(c)[0]+"/"+output))
		}
		w.deeper(func() { w.run(args, nil, unknown, sh.clone()) })
	}
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

// gitAliases follows commands that git runs: git config alias.x '!rm -rf /'.
func (w *walk) gitAliases(c call, sh *shell) {
	globals, sub, rest := gitParts(c.args)
	ops := call{args: rest}.operands("-f", "--file")
	var texts []string
	for _, pair := range (call{args: globals}).values("-c") {
		if name, value, _ := strings.Cut(pair, "="); strings.HasPrefix(strings.ToLower(name), "alias.") {
			texts = append(texts, value)
		}
	}
	switch {
	case sub == "config" && len(ops) > 1 && strings.HasPrefix(strings.ToLower(ops[len(ops)-2]), "alias."):
		texts = append(texts, ops[len(ops)-1])
	case sub == "submodule" && len(ops) > 1 && ops[0] == "foreach", sub == "bisect" && len(ops) > 1 && ops[0] == "run":
		texts = append(texts, "!"+strings.Join(ops[1:], " "))
	case sub == "rebase":
		for _, text := range (call{args: rest}).values("-x", "--exec") {
			texts = append(texts, "!"+text)
		}
	}
	for _, text := range texts {
		run, ok := strings.CutPrefix(text, "!")
		if !ok {
			run = "git " + text
		}
		w.script(run, "", sh.clone())
	}
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
		case arg == "--message" || arg == "--file" || arg == "-F", len(arg) > 1 && arg[0] == '-' && arg[1] != '-' && strings.HasSuffix(arg, "m"):
			rest = append(rest, strings.TrimSuffix(arg, "m"))
			i++
		case !strings.HasPrefix(arg, "--message=") && !strings.HasPrefix(arg, "-m"):
			rest = append(rest, arg)
		}
	}
	return globals, sub, rest
}
