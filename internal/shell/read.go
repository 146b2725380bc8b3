// Package shell reads commands for a shell without running them: the programs that they call, with their words, and where
// they hide an exit code. It only reads the text, not the programs and scripts that are called.
package shell

import (
	"errors"
	"io"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/ralph-loop/ralph/internal/regex"
)

// Bounds of what is read of a command. No command that a person would read comes near them; they bound what a hostile
// one costs.
const (
	MostText    = 64 << 10 // bytes of a script: deeper nesting than that allows would exhaust the stack
	mostSteps   = 20_000   // calls that are followed, and outputs that are read
	mostNesting = 12       // scripts within scripts, calls within calls
)

// Why a text cannot be followed.
var (
	errTooLong    = errors.New("it is too long to be read")
	errTooDeep    = errors.New("it is nested too deeply to be read")
	errUnreadable = errors.New("it cannot be read as shell")
)

// Script is a reading of a text.
type Script struct {
	Calls   []Call // in the order of the text: each branch, both sides of && and ||, each body once
	Endless string // a function or loop that starts processes without an end
}

// reader reads one text.
type reader struct {
	Script
	home, dir string
	depth     int
	steps     int
	err       error
}

// Read reads a text that runs in dir, of a user whose home is known; err is why it cannot be followed to its end.
func Read(text, dir, home string) (Script, error) {
	r := &reader{home: home, dir: dir}
	r.script(Unmarked(text), "")
	return r.Script, r.err
}

// apart follows something that changes the directory only for itself.
func (r *reader) apart(f func()) {
	dir := r.dir
	f()
	r.dir = dir
}

// deeper follows something within, unless that is too deep.
func (r *reader) deeper(f func()) {
	if r.depth++; r.depth > mostNesting {
		r.err = errTooDeep
	}
	if r.err == nil {
		f()
	}
	r.depth--
}

// step counts what is done, up to a bound.
func (r *reader) step() {
	if r.steps++; r.steps > mostSteps {
		r.err = errTooLong
	}
}

// script follows a text that is run as shell, which reads in on its standard input.
func (r *reader) script(text, in string) {
	switch {
	case strings.Contains(text, Foreign):
		r.call(Call{Word: Foreign})
		return
	case len(text) > MostText:
		r.err = errTooLong
		return
	case strings.Trim(text, Marks+" \t\n;") == "":
		return
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	switch {
	case err == nil:
		r.deeper(func() { r.visit(file, in) })
	case !strings.ContainsAny(text, Marks): // otherwise it is not the whole text
		r.err = errUnreadable
	}
}

// call adds a call.
func (r *reader) call(c Call) {
	r.step()
	c.Dir = r.dir
	r.Calls = append(r.Calls, c)
}

// visit follows the calls below a node.
func (r *reader) visit(n syntax.Node, in string) {
	syntax.Walk(n, func(n syntax.Node) bool {
		if r.err != nil {
			return false
		}
		switch x := n.(type) {
		case *syntax.Stmt:
			r.stmt(x, in)
		case *syntax.CallExpr:
			r.callExpr(x, in)
		case *syntax.DeclClause:
			r.declare(x, in)
		case *syntax.BinaryCmd:
			if x.Op != syntax.Pipe && x.Op != syntax.PipeAll {
				return true
			}
			r.apart(func() { r.visit(x.X, in) })
			r.apart(func() { r.visit(x.Y, r.prints([]*syntax.Stmt{x.X}, in)) })
		case *syntax.Subshell:
			r.inner(x.Stmts, in)
		case *syntax.CmdSubst:
			r.inner(x.Stmts, in)
		case *syntax.ProcSubst:
			r.inner(x.Stmts, in)
		case *syntax.FuncDecl:
			r.function(x)
			return true
		case *syntax.WhileClause:
			r.endless(x)
			return true
		default:
			return true
		}
		return false
	})
}

func (r *reader) inner(list []*syntax.Stmt, in string) {
	r.deeper(func() { r.apart(func() { r.visit(&syntax.Block{Stmts: list}, in) }) })
}

// stmt follows a statement: first where it reads and writes, then what it runs.
func (r *reader) stmt(st *syntax.Stmt, in string) {
	var c Call
	for _, d := range st.Redirs {
		for _, word := range []*syntax.Word{d.Word, d.Hdoc} {
			if word != nil {
				r.visit(word, in)
			}
		}
		to := r.word(d.Word)
		switch d.Op {
		case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		case syntax.RdrInOut:
			c.Reads, c.Writes = append(c.Reads, to), append(c.Writes, to)
		case syntax.RdrIn, syntax.DplIn:
			c.Reads = append(c.Reads, to)
		default:
			if d.Op != syntax.DplOut || strings.Trim(to, "0123456789-") != "" { // >&2
				c.Writes = append(c.Writes, to)
			}
		}
	}
	in = r.stdin(st, in)
	if len(c.Writes)+len(c.Reads) > 0 {
		r.call(c)
	}
	if st.Cmd != nil {
		r.visit(st.Cmd, in)
	}
}

// stdin is what a statement reads, by its redirections.
func (r *reader) stdin(st *syntax.Stmt, in string) string {
	for _, d := range st.Redirs {
		switch d.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			in = r.document(d.Hdoc)
		case syntax.WordHdoc:
			in = r.document(d.Word) + "\n"
		case syntax.RdrIn, syntax.DplIn:
			in = marked(r.word(d.Word))
		}
	}
	return in
}

// callExpr follows a simple command.
func (r *reader) callExpr(x *syntax.CallExpr, in string) {
	var env []string
	for _, a := range x.Assigns {
		r.visit(a, in)
		env = append(env, r.assigned(a))
	}
	for _, word := range x.Args {
		r.visit(word, in)
	}
	r.run(r.words(x.Args), env, in)
}

// assigned is an assignment as a word; of an array only its name is known.
func (r *reader) assigned(a *syntax.Assign) string {
	switch {
	case a.Name == nil:
		return r.word(a.Value)
	case a.Naked:
		return a.Name.Value
	case a.Array != nil || a.Index != nil:
		return a.Name.Value + "=" + Unknown
	}
	return a.Name.Value + "=" + r.word(a.Value)
}

// declare is export, local, readonly, declare.
func (r *reader) declare(x *syntax.DeclClause, in string) {
	args := []string{x.Variant.Value}
	for _, a := range x.Args {
		r.visit(a, in)
		args = append(args, r.assigned(a))
	}
	r.run(args, nil, "")
}

// run follows a program with its arguments, and what that runs in turn.
func (r *reader) run(args, env []string, in string) {
	c := Call{Env: env, In: in}
	if len(args) == 0 {
		r.call(c)
		return
	}
	for i, arg := range args { // as bash does with what looks like an assignment: dd of=~/x
		if name, rest, ok := strings.Cut(arg, "=~"); ok && name != "" && !strings.ContainsAny(name, "/ ") &&
			(rest == "" || rest[0] == '/') {
			args[i] = name + "=" + r.home + rest
		}
	}
	c.Name, c.Word, c.Args, c.Dir = program(args[0]), args[0], args[1:], r.dir
	r.call(c)
	r.within(c)
}

// within follows what a call runs: texts for a shell, and the commands of wrappers.
func (r *reader) within(c Call) {
	ops := c.Operands()
	switch c.Name {
	case "cd", "pushd":
		switch {
		case len(ops) > 0 && ops[0] != "-":
			r.dir = c.Path(ops[0])
		case len(c.Args) > 0:
			r.dir = Unknown
		default:
			r.dir = r.home
		}
	case "eval":
		r.script(strings.Join(c.Args, " "), c.In)
	case "trap":
		if len(ops) > 1 {
			r.script(ops[0], "")
		}
	case "alias":
		for _, arg := range c.Args {
			_, text, _ := strings.Cut(arg, "=")
			r.script(text, "")
		}
	case "find", "fd", "fdfind":
		r.findExec(c)
	default:
		if isShell(c.Name) || c.Name == "source" || c.Name == "." {
			r.shell(c)
		} else if wr, ok := wrapperOf(c.Name); ok {
			r.wrapped(wr, c)
		}
	}
}

// shell follows a shell: its -c, the file that it reads, or what it reads on standard input.
func (r *reader) shell(c Call) {
	switch o := optionsOf(c.Args); {
	case o.code && len(o.operands) > 0:
		r.apart(func() { r.script(o.operands[0], c.In) })
	case len(o.operands) == 0 || o.operands[0] == "-" || c.Short("s"):
		r.apart(func() { r.script(c.In, "") })
	case strings.Contains(o.operands[0], Foreign): // bash <(curl …)
		r.call(Call{Word: Foreign})
	}
}

// wrapped follows the command that a wrapper runs.
func (r *reader) wrapped(wr wrapper, c Call) {
	if c.Name == "command" && c.Short("vV") {
		return
	}
	for _, text := range c.Values("-c", "--command", "-S", "--split-string", "--call") {
		r.script(text, c.In)
	}
	args, env := wr.rest(c.Args)
	if len(args) == 0 {
		return
	}
	if wr.more {
		args = added(c, args)
	}
	if wr.line {
		r.script(strings.Join(args, " "), c.In)
		return
	}
	r.deeper(func() { r.run(args, env, c.In) })
}

// findExec follows the commands that find runs, with what it finds below where it starts in the place of {}.
func (r *reader) findExec(c Call) {
	starts := []string{"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"}
	for i := 0; i < len(c.Args); i++ {
		if !slices.Contains(starts, c.Args[i]) {
			continue
		}
		var args []string
		for i++; i < len(c.Args) && c.Args[i] != ";" && c.Args[i] != "+"; i++ {
			args = append(args, strings.ReplaceAll(c.Args[i], "{}", c.Starts()[0]+"/"+Output))
		}
		r.deeper(func() { r.run(args, nil, Unknown) })
	}
}

// function looks for one that starts itself again and again.
func (r *reader) function(x *syntax.FuncDecl) {
	if x.Name == nil {
		return
	}
	if called, spawns := calledIn(x.Body); called[x.Name.Value] && spawns {
		r.Endless = "the function " + x.Name.Value + " starts itself again and again"
	}
}

// endless looks for a loop without an end that starts something in the background each time, and neither waits nor ends.
func (r *reader) endless(x *syntax.WhileClause) {
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
			r.Endless = "an endless loop starts processes in the background"
		}
		return true
	})
}

// calledIn are the names of the calls below a node, and whether one runs concurrently with another.
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

var secretName = regex.Lazy(`(?i)(TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|CREDENTIALS?)$`)

// Get implements expand.Environ. A variable has a mark as its value, except for those that name directories.
func (r *reader) Get(name string) expand.Variable {
	value := ""
	switch {
	case name == "HOME":
		value = r.home
	case name == "PWD":
		value = r.dir
	case name == "TMPDIR":
		value = "/tmp"
	case name == "PPID":
		value = "$PPID"
	case name == "IFS":
		return expand.Variable{}
	case strings.HasPrefix(name, "HOME "): // ~alice
		value = "/home/" + strings.TrimPrefix(name, "HOME ")
	case secretName.MatchString(name):
		value = Secret
	default:
		value = Unknown
	}
	return expand.Variable{Set: true, Kind: expand.String, Str: value}
}

// Each implements expand.Environ.
func (*reader) Each(func(string, expand.Variable) bool) {}

func (r *reader) config() *expand.Config {
	return &expand.Config{
		Env: r,
		CmdSubst: func(to io.Writer, x *syntax.CmdSubst) error {
			_, err := io.WriteString(to, r.prints(x.Stmts, ""))
			return err
		},
		ProcSubst: func(p *syntax.ProcSubst) (string, error) { return "/dev/fd/" + marked(r.prints(p.Stmts, "")), nil },
	}
}

// words expands words as a shell does, into none, one or several each. One that cannot be expanded is Unknown.
func (r *reader) words(list []*syntax.Word) []string {
	all := make([]string, 0, len(list))
	for _, word := range list {
		if lit := word.Lit(); lit != "" && !strings.ContainsAny(lit, `\~{`) {
			all = append(all, lit)
			continue
		}
		fields, err := expand.Fields(r.config(), word)
		if err != nil {
			fields = []string{Unknown}
		}
		all = append(all, fields...)
	}
	return all
}

// word expands a word into one.
func (r *reader) word(word *syntax.Word) string {
	value, err := expand.Literal(r.config(), word)
	if err != nil {
		return Unknown
	}
	return value
}

// document expands a here-document, or a word that takes the place of one.
func (r *reader) document(word *syntax.Word) string {
	value, err := expand.Document(r.config(), word)
	if err != nil {
		return Unknown
	}
	return value
}

// prints is what statements print: the text where it is known, otherwise marks.
func (r *reader) prints(list []*syntax.Stmt, in string) string {
	if len(list) == 1 {
		in = r.stdin(list[0], in)
		switch c := list[0].Cmd.(type) {
		case nil:
			return in // $(<file)
		case *syntax.CallExpr:
			return r.printed(r.words(c.Args), in)
		}
	}
	text := in
	syntax.Walk(&syntax.Block{Stmts: list}, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok {
			text += r.printed(r.words(c.Args), "")
			return false
		}
		return r.err == nil
	})
	return marked(text)
}

// printed is what a program prints.
func (r *reader) printed(args []string, in string) string {
	if r.step(); len(args) == 0 || r.err != nil {
		return ""
	}
	c := Call{Name: program(args[0]), Args: args[1:]}
	ops := c.Operands()
	switch c.Name {
	case "echo", "printf":
		return strings.Join(ops, " ") + "\n"
	case "cat", "tee":
		if len(ops) == 0 || c.Name == "tee" {
			return in
		}
	case "pwd":
		return r.dir + "\n"
	case "pgrep":
		return "pgrep:" + strings.Join(c.Args, ",")
	case "find", "ls":
		return strings.Join(c.Starts(), "/"+Output+"\n") + "/" + Output + "\n"
	case "curl", "wget", "nc", "ncat", "netcat", "aria2c", "http", "https", "xh", "lynx", "w3m", "uudecode":
		return Foreign
	case "base64", "base32", "xxd", "openssl":
		if c.Short("dDr") || slices.Contains(c.Args, "--decode") {
			return Foreign
		}
	default:
		if wr, ok := wrapperOf(c.Name); ok {
			if rest, _ := wr.rest(c.Args); len(rest) > 0 {
				return r.printed(rest, in)
			}
		}
	}
	return marked(strings.Join(args, "") + in)
}
