package hook

import (
	"errors"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of what is read of a command. No command that a person would read comes near them; they bound what a hostile
// one costs.
const (
	mostScript  = 64 << 10 // bytes of a script: deeper nesting than that allows would exhaust the stack
	mostSteps   = 20_000   // commands that are followed
	mostNesting = 12       // scripts within scripts, calls within calls
	mostHanded  = 4 << 20  // bytes of variables that are put into words
	mostValue   = 4 << 10  // bytes of a variable
)

var (
	errTooLong = errors.New("it is too long to be read")
	errTooDeep = errors.New("it is nested too deeply to be read")
)

// refuse notes a danger; the first one counts.
func (w *walk) refuse(name, what string) {
	if w.found == nil {
		w.found = &finding{dangerCalled(name), what}
	}
}

func (w *walk) judge(c call) {
	if w.found == nil {
		w.found = judge(c)
	}
}

// script follows a script, which reads in on its standard input.
func (w *walk) script(text, in string, sh *shell) {
	switch {
	case strings.Contains(text, foreign):
		w.refuse("download-and-run", "a shell runs what was downloaded or decoded")
	case w.done() || strings.Trim(text, marks+" \t\n;") == "":
		return
	case len(text) > mostScript:
		w.err = errTooLong
		return
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		if !strings.ContainsAny(text, marks) { // else it is not the whole text
			w.err = errors.New("it cannot be read as shell")
		}
		return
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if p, ok := n.(*syntax.ParamExp); ok && p.Exp != nil && p.Param != nil &&
			strings.ContainsAny(p.Exp.Op.String(), "-=") {
			w.defaulted[p.Param.Value] = true
		}
		return true
	})
	w.deeper(func() { w.stmts(file.Stmts, in, sh) })
}

func (w *walk) stmts(list []*syntax.Stmt, in string, sh *shell) {
	for _, st := range list {
		w.visit(st, in, sh)
	}
}

// visit follows the calls below a node.
func (w *walk) visit(n syntax.Node, in string, sh *shell) {
	syntax.Walk(n, func(n syntax.Node) bool {
		if w.done() {
			return false
		}
		switch x := n.(type) {
		case *syntax.Stmt:
			w.stmt(x, in, sh)
		case *syntax.CallExpr:
			w.callExpr(x, in, sh)
		case *syntax.DeclClause:
			w.declare(x, in, sh)
		case *syntax.BinaryCmd:
			if x.Op != syntax.Pipe && x.Op != syntax.PipeAll {
				return true
			}
			w.visit(x.X, in, sh.clone())
			w.visit(x.Y, w.prints(x.X, in, sh.clone()), sh.clone())
		case *syntax.Subshell:
			w.stmts(x.Stmts, in, sh.clone())
		case *syntax.CmdSubst:
			w.deeper(func() { w.stmts(x.Stmts, in, sh.clone()) })
		case *syntax.ProcSubst:
			w.deeper(func() { w.stmts(x.Stmts, in, sh.clone()) })
		case *syntax.FuncDecl:
			w.function(x, in, sh)
		case *syntax.ForClause:
			return w.loop(x, in, sh)
		case *syntax.WhileClause:
			w.endless(x)
			return true
		default:
			return true
		}
		return false
	})
}

// stmt follows a statement: first where it reads and writes, then what it runs.
func (w *walk) stmt(st *syntax.Stmt, in string, sh *shell) {
	if !w.step() {
		return
	}
	c := call{cwd: sh.cwd, world: w.world}
	for _, r := range st.Redirs {
		for _, word := range []*syntax.Word{r.Word, r.Hdoc} {
			if word != nil {
				w.visit(word, in, sh)
			}
		}
		to := w.word(r.Word, sh)
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		case syntax.RdrIn, syntax.DplIn, syntax.RdrInOut:
			c.reads = append(c.reads, to)
			if r.Op == syntax.RdrInOut {
				c.writes = append(c.writes, to)
			}
		default:
			if r.Op != syntax.DplOut || strings.Trim(to, "0123456789-") != "" { // >&2
				c.writes = append(c.writes, to)
			}
		}
	}
	in = w.stdin(st, in, sh)
	if len(c.writes)+len(c.reads) > 0 {
		w.judge(c)
	}
	if len(c.writes) > 0 && !w.done() {
		text := w.prints(st, in, sh.clone())
		for _, name := range c.writes {
			sh.written[absolute(sh.cwd, name)] = text
		}
	}
	if st.Background {
		sh = sh.clone()
	}
	if st.Cmd != nil {
		w.visit(st.Cmd, in, sh)
	}
}

// callExpr follows a simple command.
func (w *walk) callExpr(x *syntax.CallExpr, in string, sh *shell) {
	if !w.step() {
		return
	}
	for _, a := range x.Assigns {
		w.visit(a, in, sh)
	}
	for _, word := range x.Args {
		w.visit(word, in, sh)
	}
	env, to := []string(nil), sh
	if len(x.Args) > 0 && len(x.Assigns) > 0 {
		to = sh.clone() // they hold for this command alone
	}
	for _, a := range x.Assigns {
		w.assign(a, to)
		if a.Name != nil {
			env = append(env, a.Name.Value+"="+to.vars[a.Name.Value].String())
		}
	}
	args := w.words(x.Args, sh)
	for _, word := range x.Args { // curl | tee >(sh)
		for _, p := range word.Parts {
			if p, ok := p.(*syntax.ProcSubst); ok && p.Op == syntax.CmdOut {
				w.stmts(p.Stmts, w.printedBy(args, in, sh), sh.clone())
			}
		}
	}
	w.run(args, env, in, sh)
}

// declare is export, local, readonly, declare.
func (w *walk) declare(x *syntax.DeclClause, in string, sh *shell) {
	args := []string{x.Variant.Value}
	for _, a := range x.Args {
		w.visit(a, in, sh)
		w.assign(a, sh)
		switch {
		case a.Name != nil && a.Naked:
			args = append(args, a.Name.Value)
		case a.Name != nil:
			args = append(args, a.Name.Value+"="+sh.vars[a.Name.Value].String())
		case a.Value != nil:
			args = append(args, w.word(a.Value, sh))
		}
	}
	w.run(args, nil, "", sh)
}

// loop follows the body of a for loop once a value.
func (w *walk) loop(x *syntax.ForClause, in string, sh *shell) bool {
	items, ok := x.Loop.(*syntax.WordIter)
	if !ok {
		return true
	}
	for _, word := range items.Items {
		w.visit(word, in, sh)
	}
	values := w.words(items.Items, sh)
	if len(items.Items) == 0 {
		values = []string{unknown} // "$@"
	}
	for _, value := range values {
		sh.vars[items.Name.Value] = textVar(value)
		w.stmts(x.Do, in, sh)
	}
	return false
}

// function remembers a function, and follows its body as it stands: whoever calls it may do so out of sight.
func (w *walk) function(x *syntax.FuncDecl, in string, sh *shell) {
	if x.Name == nil {
		return
	}
	if called, spawns := calledIn(x.Body); called[x.Name.Value] && spawns {
		w.refuse("fork-bomb", "the function "+x.Name.Value+" starts itself again and again")
	}
	sh.funcs[x.Name.Value] = x.Body
	inner := sh.clone()
	inner.args = []string{unknown}
	delete(inner.funcs, x.Name.Value)
	w.deeper(func() { w.visit(x.Body, in, inner) })
}

// endless refuses a loop without an end that starts something in the background each time, and neither waits nor ends.
func (w *walk) endless(x *syntax.WhileClause) {
	cond, _ := calledIn(&syntax.Block{Stmts: x.Cond})
	body := &syntax.Block{Stmts: x.Do}
	called, _ := calledIn(body)
	if x.Until || len(x.Cond) != 1 || !cond["true"] && !cond[":"] ||
		slices.ContainsFunc([]string{"sleep", "wait", "break", "exit", "return", "read"},
			func(name string) bool { return called[name] }) {
		return
	}
	syntax.Walk(body, func(n syntax.Node) bool {
		if st, ok := n.(*syntax.Stmt); ok && st.Background {
			w.refuse("fork-bomb", "an endless loop starts processes in the background")
		}
		return true
	})
}

// calledIn are the names of the calls below a node, and whether one runs beside another.
func calledIn(n syntax.Node) (names map[string]bool, spawns bool) {
	names = map[string]bool{}
	syntax.Walk(n, func(n syntax.Node) bool {
		switch x := n.(type) {
		case *syntax.CallExpr:
			if len(x.Args) > 0 {
				names[x.Args[0].Lit()] = true
			}
		case *syntax.Stmt:
			spawns = spawns || x.Background
		case *syntax.BinaryCmd:
			spawns = spawns || x.Op == syntax.Pipe || x.Op == syntax.PipeAll
		}
		return true
	})
	return names, spawns
}

// run follows a program with its arguments, and what that runs in turn.
func (w *walk) run(args, env []string, in string, sh *shell) {
	if !w.step() {
		return
	}
	c := call{env: env, in: in, cwd: sh.cwd, world: w.world}
	if len(args) == 0 {
		w.judge(c)
		return
	}
	for i, arg := range args { // as bash does with what looks like an assignment: dd of=~/x
		if name, rest, ok := strings.Cut(arg, "=~"); ok && name != "" && !strings.ContainsAny(name, "/ ") &&
			(rest == "" || rest[0] == '/') {
			args[i] = name + "=" + w.world.Home + rest
		}
	}
	c.word, c.args = args[0], args[1:]
	for _, c.name = range programs(args[0]) {
		w.judge(c)
		if w.done() {
			return
		}
		w.within(c, sh)
	}
}

// within follows what a call runs: functions, files that the script wrote, built-in commands, shells, wrappers.
func (w *walk) within(c call, sh *shell) {
	if body, ok := sh.funcs[c.word]; ok {
		inner := sh.clone()
		inner.args = c.args
		delete(inner.funcs, c.word) // once is enough
		w.deeper(func() { w.visit(body, c.in, inner) })
		return
	}
	if text, ok := sh.written[absolute(sh.cwd, c.word)]; ok && strings.Contains(c.word, "/") {
		first, _, _ := strings.Cut(text, "\n")
		if strings.Contains(text, foreign) || !strings.HasPrefix(first, "#!") || strings.HasSuffix(first, "sh") {
			w.script(text, "", sh.clone())
		}
		return
	}
	ops := c.operands()
	switch c.name {
	case "cd", "pushd":
		w.changeDir(c, ops, sh)
	case "set":
		if len(ops) > 0 {
			sh.args = ops
		}
	case "read":
		readVars(c, sh)
	case "eval":
		w.script(strings.Join(c.args, " "), c.in, sh)
	case "source", ".":
		if len(ops) > 0 {
			w.sourced(c, ops[0], sh)
		}
	case "trap":
		if len(ops) > 1 {
			w.script(ops[0], "", sh.clone())
		}
	case "alias":
		for _, arg := range c.args {
			_, text, _ := strings.Cut(arg, "=")
			w.script(text, "", sh.clone())
		}
	case "curl", "wget":
		for _, name := range c.values("-o", "-O", "--output", "--output-document") {
			sh.written[absolute(sh.cwd, name)] = foreign
		}
		for _, address := range ops {
			sh.written[absolute(sh.cwd, path.Base(address))] = foreign // curl -O URL
		}
	case "git":
		w.gitAliases(c, sh)
	case "find", "fd", "fdfind":
		w.findExec(c, sh)
	case "sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "fish", "rbash":
		w.shell(c, sh)
	default:
		if wr, ok := wrappers()[c.name]; ok {
			w.wrapped(wr, c, sh)
		}
	}
}

func (w *walk) changeDir(c call, ops []string, sh *shell) {
	switch {
	case len(ops) > 0 && ops[0] != "-":
		sh.cwd = absolute(sh.cwd, ops[0])
	case len(c.args) > 0:
		sh.cwd = unknown
	default:
		sh.cwd = w.world.Home
	}
}

// readVars takes up what is read from a text that is known.
func readVars(c call, sh *shell) {
	names := c.operands("-p", "-d", "-n", "-N", "-t", "-u", "-i")
	line, _, _ := strings.Cut(c.in, "\n")
	fields := strings.Fields(line)
	for i, name := range names {
		value := ""
		switch {
		case c.in == "" || strings.ContainsAny(line, marks):
			value = marked(c.in)
		case i == len(names)-1 && i < len(fields):
			value = strings.Join(fields[i:], " ")
		case i < len(fields):
			value = fields[i]
		}
		sh.vars[name] = textVar(value)
	}
}

// shell follows a shell: its -c, the file that it reads, or what it reads on standard input.
func (w *walk) shell(c call, sh *shell) {
	inner, code := sh.clone(), false
	var ops []string
	for i := 0; i < len(c.args); i++ {
		arg := c.args[i]
		switch option := len(ops) == 0 && len(arg) > 1 && (arg[0] == '-' || arg[0] == '+'); {
		case !option:
			ops = append(ops, arg)
		case strings.HasSuffix(arg, "file"), arg[1] != '-' && strings.ContainsAny(arg[len(arg)-1:], "oO"):
			i++ // --rcfile FILE, -euo pipefail
		case arg[1] != '-' && strings.Contains(arg, "c"):
			code = true
		}
	}
	switch {
	case code && len(ops) > 0:
		inner.args = ops[min(2, len(ops)):]
		w.script(ops[0], c.in, inner)
	case len(ops) == 0 || c.short("s"):
		w.script(c.in, "", inner)
	default:
		w.sourced(c, ops[0], inner)
	}
}

// sourced looks at a file that is run as shell.
func (w *walk) sourced(c call, name string, sh *shell) {
	switch text, ok := sh.written[absolute(sh.cwd, name)]; {
	case strings.Contains(name, foreign):
		w.refuse("download-and-run", c.word+" runs what was downloaded or decoded")
	case ok:
		w.script(text, "", sh)
	case name == "/dev/stdin" || name == "/dev/fd/0" || name == "/proc/self/fd/0" || name == "-":
		w.script(c.in, "", sh)
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
