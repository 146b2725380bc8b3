package hook

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// Bounds of what is read of a command. No command that a person would read comes near them; they bound what a hostile one costs.
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

// script follows what a shell would run, without running it: every branch, both sides of && and ||, each body once. Values that are known
// from the text are put in where they are used; the rest stand for themselves as marks (see marks.go).
type script struct {
	world     *World
	steps     int
	handed    int
	level     int
	defaulted map[string]bool // the variables that have a default somewhere: ${x:-rm}
	found     *Finding
	err       error // why it cannot be followed
}

// scope is what a shell knows at one point.
type scope struct {
	vars    map[string]expand.Variable
	args    []string // $1…
	cwd     string
	funcs   map[string]*syntax.Stmt
	written map[string]string // what the script itself has written to files, by their absolute paths
}

func (c *scope) clone() *scope {
	return &scope{maps.Clone(c.vars), slices.Clone(c.args), c.cwd, maps.Clone(c.funcs), maps.Clone(c.written)}
}

// done reports whether nothing more needs to be followed.
func (s *script) done() bool { return s.found != nil || s.err != nil }

func (s *script) step() bool {
	if s.done() {
		return false
	}
	if s.steps--; s.steps < 0 {
		s.err = errTooLong
		return false
	}
	return true
}

// deeper follows something within, unless that is too deep.
func (s *script) deeper(f func()) {
	if s.level >= mostNesting {
		s.err = errTooDeep
		return
	}
	s.level++
	f()
	s.level--
}

// text follows a script. in is what it reads on standard input.
func (s *script) text(text string, in string, c *scope) {
	if s.done() {
		return
	}
	if len(text) > mostScript {
		s.err = errTooLong
		return
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		if strings.ContainsAny(text, marks) { // it is not the whole text
			return
		}
		s.err = errors.New("it cannot be read as shell")
		return
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if p, ok := n.(*syntax.ParamExp); ok && p.Exp != nil && p.Param != nil {
			switch p.Exp.Op {
			case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
				s.defaulted[p.Param.Value] = true
			}
		}
		return true
	})
	s.deeper(func() { s.stmts(file.Stmts, in, c) })
}

func (s *script) stmts(list []*syntax.Stmt, in string, c *scope) {
	for _, st := range list {
		s.stmt(st, in, c)
	}
}

func (s *script) stmt(st *syntax.Stmt, in string, c *scope) {
	if st == nil || !s.step() {
		return
	}
	var writes, reads []string
	for _, r := range st.Redirs {
		s.substitutions(r, in, c)
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			in = s.document(r.Hdoc, c)
		case syntax.WordHdoc:
			in = s.document(r.Word, c)
		case syntax.RdrIn, syntax.DplIn:
			from := s.word(r.Word, c)
			reads = append(reads, from)
			if in = unknown; foreign(from) {
				in = marked(from)
			}
		case syntax.DplOut: // >&2, or >&file
			if to := s.word(r.Word, c); strings.Trim(to, "0123456789-") != "" {
				writes = append(writes, to)
			}
		case syntax.RdrInOut:
			to := s.word(r.Word, c)
			writes, reads = append(writes, to), append(reads, to)
		default:
			writes = append(writes, s.word(r.Word, c))
		}
	}
	if len(writes)+len(reads) > 0 {
		s.judge(command{writes: writes, reads: reads, cwd: c.cwd, world: s.world})
	}
	if len(writes) > 0 {
		text := s.output(st, in, c.clone())
		for _, name := range writes {
			c.written[absolute(c.cwd, name)] = text
		}
	}
	if st.Background {
		c = c.clone()
	}
	s.cmd(st.Cmd, in, c)
}

func (s *script) cmd(cmd syntax.Command, in string, c *scope) {
	switch x := cmd.(type) {
	case *syntax.CallExpr:
		s.call(x, in, c)
	case *syntax.BinaryCmd:
		s.binary(x, in, c)
	case *syntax.Subshell:
		s.stmts(x.Stmts, in, c.clone())
	case *syntax.Block:
		s.stmts(x.Stmts, in, c)
	case *syntax.IfClause:
		s.ifs(x, in, c)
	case *syntax.WhileClause:
		s.whiles(x, in, c)
	case *syntax.ForClause:
		s.fors(x, in, c)
	case *syntax.CaseClause:
		s.substitutions(x.Word, in, c)
		for _, item := range x.Items {
			s.stmts(item.Stmts, in, c)
		}
	case *syntax.FuncDecl:
		s.function(x, in, c)
	case *syntax.TimeClause:
		s.stmt(x.Stmt, in, c)
	case *syntax.CoprocClause:
		s.stmt(x.Stmt, in, c.clone())
	case *syntax.DeclClause:
		s.substitutions(x, in, c)
		s.declare(x, c)
	case nil:
	default: // arithmetic and tests run nothing but what is substituted in them
		s.substitutions(x, in, c)
	}
}

func (s *script) binary(x *syntax.BinaryCmd, in string, c *scope) {
	switch x.Op {
	case syntax.Pipe, syntax.PipeAll:
		s.stmt(x.X, in, c.clone())
		if !s.done() {
			s.stmt(x.Y, s.output(x.X, in, c.clone()), c.clone())
		}
	default:
		s.stmt(x.X, in, c)
		s.stmt(x.Y, in, c)
	}
}

func (s *script) ifs(x *syntax.IfClause, in string, c *scope) {
	for ; x != nil; x = x.Else {
		s.stmts(x.Cond, in, c)
		s.stmts(x.Then, in, c)
	}
}

func (s *script) whiles(x *syntax.WhileClause, in string, c *scope) {
	if endless(x) {
		s.find("fork-bomb", "an endless loop starts processes in the background")
	}
	s.stmts(x.Cond, in, c)
	s.stmts(x.Do, in, c)
}

func (s *script) fors(x *syntax.ForClause, in string, c *scope) {
	loop, ok := x.Loop.(*syntax.WordIter)
	if !ok {
		s.substitutions(x.Loop, in, c)
		s.stmts(x.Do, in, c)
		return
	}
	for _, w := range loop.Items {
		s.substitutions(w, in, c)
	}
	values := s.words(loop.Items, c)
	if len(loop.Items) == 0 {
		values = []string{unknown} // "$@"
	}
	for _, value := range values {
		c.vars[loop.Name.Value] = text(value)
		s.stmts(x.Do, in, c)
	}
}

// function remembers a function, and follows its body as it stands: whoever calls it may do so out of sight.
func (s *script) function(x *syntax.FuncDecl, in string, c *scope) {
	if x.Name == nil {
		return
	}
	if multiplies(x) {
		s.find("fork-bomb", "the function "+x.Name.Value+" starts itself again and again")
	}
	c.funcs[x.Name.Value] = x.Body
	inner := c.clone()
	inner.args = []string{unknown}
	delete(inner.funcs, x.Name.Value)
	s.deeper(func() { s.stmt(x.Body, in, inner) })
}

// substitutions follows what is substituted in words: $(…), `…`, <(…), >(…).
func (s *script) substitutions(n syntax.Node, in string, c *scope) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch x := n.(type) {
		case *syntax.CmdSubst:
			s.deeper(func() { s.stmts(x.Stmts, in, c.clone()) })
			return false
		case *syntax.ProcSubst:
			s.deeper(func() { s.stmts(x.Stmts, in, c.clone()) })
			return false
		}
		return !s.done()
	})
}

// multiplies reports whether a function starts more of itself than one: beside each other, or in the background.
func multiplies(f *syntax.FuncDecl) bool {
	calls, background := 0, false
	syntax.Walk(f.Body, func(n syntax.Node) bool {
		switch x := n.(type) {
		case *syntax.CallExpr:
			if len(x.Args) > 0 && x.Args[0].Lit() == f.Name.Value {
				calls++
			}
		case *syntax.Stmt:
			background = background || x.Background
		}
		return true
	})
	piped := false
	syntax.Walk(f.Body, func(n syntax.Node) bool {
		if b, ok := n.(*syntax.BinaryCmd); ok && (b.Op == syntax.Pipe || b.Op == syntax.PipeAll) {
			piped = true
		}
		return true
	})
	return calls > 0 && background || calls > 1 && piped
}

// endless reports whether a loop without an end starts something in the background each time, and neither waits nor ends.
func endless(x *syntax.WhileClause) bool {
	if len(x.Cond) != 1 || x.Until {
		return false
	}
	call, ok := x.Cond[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || call.Args[0].Lit() != "true" && call.Args[0].Lit() != ":" {
		return false
	}
	background, rests := false, false
	for _, st := range x.Do {
		syntax.Walk(st, func(n syntax.Node) bool {
			switch y := n.(type) {
			case *syntax.Stmt:
				background = background || y.Background
			case *syntax.CallExpr:
				if len(y.Args) > 0 && slices.Contains([]string{"sleep", "wait", "break", "exit", "return", "read"}, y.Args[0].Lit()) {
					rests = true
				}
			}
			return true
		})
	}
	return background && !rests
}
