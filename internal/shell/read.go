// Package shell reads commands for a shell without running them: the programs that they call, with their literal words,
// and where they hide an exit code. It only reads the text, not the programs and scripts that are called.
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
	MostText    = 64 << 10 // bytes of a script
	mostNesting = 200      // statements within statements, scripts within scripts
)

// Why a text cannot be read.
var (
	errTooLong    = errors.New("it is too long to be read")
	errTooDeep    = errors.New("it is nested too deeply to be read")
	errUnreadable = errors.New("it cannot be read as shell")
)

// Script is a reading of a text.
type Script struct {
	Calls   []Call // in the order of the text: each branch, both sides of && and ||, each body once
	Endless string // a function that starts itself without an end
}

// reader reads one text.
type reader struct {
	Script

	home, dir string
	depth     int
	err       error
}

// Read reads a text that runs in dir, of a user whose home is known. The error says why the text cannot be read to its
// end.
func Read(text, dir, home string) (Script, error) {
	r := &reader{home: home, dir: dir}
	r.script(Unmarked(text), "")
	return r.Script, r.err
}

// script reads a text that runs as shell and gets in on its standard input.
func (r *reader) script(text, in string) {
	if strings.Contains(text, Foreign) {
		r.Calls = append(r.Calls, Call{Name: Foreign})
		return
	}
	if len(text) > MostText {
		r.err = errTooLong
		return
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	switch {
	case err == nil:
		r.visit(file, in)
	case !strings.ContainsAny(text, Marks): // otherwise it is not the whole text
		r.err = errUnreadable
	}
}

// visit reads the calls below a node.
func (r *reader) visit(n syntax.Node, in string) {
	if r.depth++; r.depth > mostNesting {
		r.err = errTooDeep
	}
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
			args := []string{x.Variant.Value}
			for _, a := range x.Args {
				args = append(args, r.assigned(a))
			}
			r.run(args, nil, "")
		case *syntax.BinaryCmd:
			if x.Op != syntax.Pipe && x.Op != syntax.PipeAll {
				return true
			}
			r.inner(x.X, in)
			r.inner(x.Y, output(x.X))
		case *syntax.Subshell:
			r.inner(&syntax.Block{Stmts: x.Stmts}, in)
		case *syntax.CmdSubst:
			r.inner(&syntax.Block{Stmts: x.Stmts}, in)
		case *syntax.ProcSubst:
			r.inner(&syntax.Block{Stmts: x.Stmts}, in)
		case *syntax.FuncDecl:
			if x.Name != nil && startsItself(x.Name.Value, x.Body) {
				r.Endless = "the function " + x.Name.Value + " starts itself again and again"
			}
			return true
		default:
			return true
		}
		return false
	})
	r.depth--
}

// inner reads something that changes the directory only for itself.
func (r *reader) inner(n syntax.Node, in string) {
	dir := r.dir
	r.visit(n, in)
	r.dir = dir
}

// stmt reads a statement: first where it reads and writes, then what it runs.
func (r *reader) stmt(st *syntax.Stmt, in string) {
	c := Call{Dir: r.dir}
	for _, d := range st.Redirs {
		for _, word := range []*syntax.Word{d.Word, d.Hdoc} {
			if word != nil {
				r.visit(word, in)
			}
		}
		to := r.word(d.Word)
		switch d.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			in = r.word(d.Hdoc)
		case syntax.WordHdoc:
			in = to
		case syntax.RdrInOut:
			c.Reads, c.Writes = append(c.Reads, to), append(c.Writes, to)
		case syntax.RdrIn, syntax.DplIn:
			in, c.Reads = marked(to), append(c.Reads, to)
		default:
			if d.Op != syntax.DplOut || strings.Trim(to, "0123456789-") != "" { // >&2
				c.Writes = append(c.Writes, to)
			}
		}
	}
	if len(c.Writes)+len(c.Reads) > 0 {
		r.Calls = append(r.Calls, c)
	}
	if st.Cmd != nil {
		r.visit(st.Cmd, in)
	}
}

// callExpr reads a simple command.
func (r *reader) callExpr(x *syntax.CallExpr, in string) {
	var env []string
	for _, a := range x.Assigns {
		env = append(env, r.assigned(a))
	}
	for _, word := range x.Args {
		r.visit(word, in)
	}
	r.run(r.words(x.Args), env, in)
}

// assigned is an assignment as a word.
func (r *reader) assigned(a *syntax.Assign) string {
	r.visit(a, "")
	switch {
	case a.Name == nil:
		return r.word(a.Value)
	case a.Naked:
		return a.Name.Value
	}
	return a.Name.Value + "=" + r.word(a.Value)
}

// run notes a program with its arguments, and reads what that runs in turn: texts for a shell, and the commands of
// wrappers.
func (r *reader) run(args, env []string, in string) {
	c := Call{Env: env, In: in, Dir: r.dir}
	if len(args) > 0 {
		c.Name, c.Args = program(args[0]), args[1:]
	}
	r.Calls = append(r.Calls, c)
	ops := c.Operands()
	switch c.Name {
	case "cd", "pushd":
		r.dir = r.home
		if len(ops) > 0 {
			r.dir = c.Path(ops[0])
		}
	case "eval":
		r.script(strings.Join(c.Args, " "), in)
	case "trap":
		if len(ops) > 1 {
			r.script(ops[0], "")
		}
	case "find":
		r.findExec(c)
	default:
		if wr, ok := wrapperOf(c.Name); ok {
			r.wrapped(wr, c)
		} else if isShell(c.Name) || c.Name == "source" || c.Name == "." {
			r.shell(c)
		}
	}
}

// shell reads what a shell runs: its -c, the file that it reads, or its standard input.
func (r *reader) shell(c Call) {
	dir := r.dir
	switch o := optionsOf(c.Args); {
	case o.code && len(o.operands) > 0:
		r.script(o.operands[0], c.In)
	case len(o.operands) == 0 || o.operands[0] == "-" || c.Short("s"):
		r.script(c.In, "")
	case strings.Contains(o.operands[0], Foreign): // bash <(curl …)
		r.Calls = append(r.Calls, Call{Name: Foreign})
	}
	r.dir = dir
}

// wrapped reads the command that a wrapper runs.
func (r *reader) wrapped(wr wrapper, c Call) {
	if args, env := wr.rest(c.Args); len(args) > 0 && (c.Name != "command" || !c.Short("vV")) {
		if wr.more {
			args = append(strings.Split(strings.ReplaceAll(strings.Join(args, "\x00"), "{}", marked(c.In)), "\x00"), marked(c.In))
		}
		r.deeper(func() { r.run(args, env, c.In) })
	}
}

func (r *reader) deeper(f func()) {
	if r.depth++; r.depth > mostNesting {
		r.err = errTooDeep
	}
	if r.err == nil {
		f()
	}
	r.depth--
}

// findExec reads the commands that find runs, with what it finds below its first start in the place of {}.
func (r *reader) findExec(c Call) {
	for i, arg := range c.Args {
		if arg != "-exec" && arg != "-execdir" && arg != "-ok" {
			continue
		}
		args := slices.Clone(c.Args[i+1:])
		if end := slices.IndexFunc(args, func(arg string) bool { return arg == ";" || arg == "+" }); end >= 0 {
			args = args[:end]
		}
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "{}", c.Starts()[0]+"/"+Output)
		}
		r.deeper(func() { r.run(args, nil, "") })
	}
}

// startsItself reports whether the body of a function calls it, and runs something concurrently.
func startsItself(name string, body syntax.Node) bool {
	called, spawns := false, false
	syntax.Walk(body, func(n syntax.Node) bool {
		switch x := n.(type) {
		case *syntax.CallExpr:
			called = called || len(x.Args) > 0 && x.Args[0].Lit() == name
		case *syntax.Stmt:
			spawns = spawns || x.Background
		case *syntax.BinaryCmd:
			spawns = spawns || x.Op == syntax.Pipe || x.Op == syntax.PipeAll
		}
		return true
	})
	return called && spawns
}

var (
	downloads = strings.Fields("curl wget nc ncat netcat aria2c http https xh lynx w3m uudecode")
	decodes   = strings.Fields("base64 base32 xxd openssl")
)

// output is the mark of what the calls below a node print.
func output(n syntax.Node) string {
	mark := Output
	syntax.Walk(n, func(n syntax.Node) bool {
		x, ok := n.(*syntax.CallExpr)
		if !ok || len(x.Args) == 0 {
			return true
		}
		name := program(x.Args[0].Lit())
		decoding := func(arg *syntax.Word) bool {
			return slices.Contains([]string{"-d", "-D", "-r", "--decode"}, arg.Lit())
		}
		if slices.Contains(downloads, name) || slices.Contains(decodes, name) && slices.ContainsFunc(x.Args, decoding) {
			mark = Foreign
		}
		return true
	})
	return mark
}

var secretName = regex.Lazy(`(?i)(TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|CREDENTIALS?)$`)

// Get implements expand.Environ. A variable has a mark as its value, except for those that name directories.
func (r *reader) Get(name string) expand.Variable {
	value := Unknown
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
	}
	return expand.Variable{Set: true, Kind: expand.String, Str: value}
}

// Each implements expand.Environ.
func (*reader) Each(func(string, expand.Variable) bool) {}

func (r *reader) config() *expand.Config {
	return &expand.Config{
		Env: r,
		CmdSubst: func(to io.Writer, x *syntax.CmdSubst) error {
			_, err := io.WriteString(to, output(x))
			return err
		},
		ProcSubst: func(x *syntax.ProcSubst) (string, error) { return "/dev/fd/" + output(x), nil },
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
