package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ralph-loop/ralph/internal/regex"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// HidesExit names the first place where a text hides an exit code from its caller, in a few words. piped is true for a
// pipe, which pipefail would fix. Both are empty if the text hides none; programs and scripts that it calls are not
// read.
func HidesExit(text string, pipefail bool) (place string, piped bool) {
	h := hider{options: options{pipefail: pipefail}, place: &place, piped: &piped}
	h.line(text)
	return place, piped
}

// hider walks a text with the options that apply at that place.
type hider struct {
	options

	depth int
	place *string
	piped *bool
}

func (h hider) note(place string, piped bool) {
	if *h.place == "" {
		*h.place, *h.piped = place, piped
	}
}

func (h hider) line(text string) {
	if h.depth++; h.depth > 4 {
		return
	}
	parsed, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil || parsed == nil {
		return // the shell will report it
	}
	h.list(parsed.Stmts)
}

// list checks commands that follow each other: the exit codes of all but the last are lost if no command asks for them.
func (h hider) list(stmts []*syntax.Stmt) {
	for i, s := range stmts {
		rest := stmts[i+1:]
		if args := wordsOf(s.Cmd); len(args) > 1 && args[0] == "set" {
			h.read(args[1:])
			continue
		}
		h.statement(s, rest)
		switch {
		case !matters(s):
		case s.Background && !slices.ContainsFunc(rest, waits):
			h.note(shown(s)+" runs in the background, and nothing waits for its exit code", false)
		case !s.Background && len(rest) > 0 && !h.errexit && !asks(rest[0]):
			h.note("what follows "+shown(s)+" hides its exit code", false)
		}
	}
}

// statement looks into one command; rest are those after it.
func (h hider) statement(s *syntax.Stmt, rest []*syntax.Stmt) {
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		h.call(wordsOf(c))
	case *syntax.BinaryCmd:
		h.binary(c, rest)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			h.statement(c.Stmt, rest)
		}
	case *syntax.FuncDecl:
		h.statement(c.Body, nil)
	case *syntax.IfClause:
		h.choice(c)
	case *syntax.WhileClause:
		h.loop(c.Do)
	case *syntax.ForClause:
		h.loop(c.Do)
	case *syntax.CaseClause:
		for _, item := range c.Items {
			h.list(item.Stmts)
		}
	default:
		h.list(grouped(c))
	}
}

// grouped are the commands in parentheses or braces.
func grouped(c syntax.Command) []*syntax.Stmt {
	switch c := c.(type) {
	case *syntax.Subshell:
		return c.Stmts
	case *syntax.Block:
		return c.Stmts
	}
	return nil
}

func (h hider) binary(c *syntax.BinaryCmd, rest []*syntax.Stmt) {
	h.statement(c.X, append([]*syntax.Stmt{c.Y}, rest...))
	h.statement(c.Y, rest)
	asksPipe := func(s *syntax.Stmt) bool { return strings.Contains(printed(s), "PIPESTATUS") }
	switch {
	case !matters(c.X):
	case c.Op == syntax.OrStmt && endsWell(c.Y):
		h.note(`"|| `+shown(c.Y)[1:]+" hides the exit code of "+shown(c.X), false)
	case (c.Op == syntax.Pipe || c.Op == syntax.PipeAll) && !h.pipefail && !slices.ContainsFunc(rest, asksPipe):
		h.note("the pipe into "+shown(c.Y)+" hides the exit code of "+shown(c.X), true)
	}
}

// choice is an "if" whose condition does the work: the branch of a failure must fail.
func (h hider) choice(c *syntax.IfClause) {
	h.list(c.Then)
	for e := c.Else; e != nil; e = e.Else {
		h.list(e.Then)
	}
	if len(c.Cond) == 0 {
		return
	}
	last := c.Cond[len(c.Cond)-1]
	h.statement(last, nil)
	if !matters(last) || c.Else != nil && len(c.Else.Cond) > 0 {
		return
	}
	var failing []*syntax.Stmt
	if last.Negated {
		failing = c.Then
	} else if c.Else != nil {
		failing = c.Else.Then
	}
	if len(failing) == 0 || endsWell(failing...) {
		h.note(`the "if" hides the exit code of `+shown(last), false)
	}
}

// loop ends with the exit code of its last iteration.
func (h hider) loop(body []*syntax.Stmt) {
	h.list(body)
	if len(body) > 0 && !h.errexit && matters(body[len(body)-1]) {
		h.note("the loop hides every exit code of "+shown(body[len(body)-1])+" but the last", false)
	}
}

// call looks into the text that a call gives to a shell, whatever comes before it: env, timeout, docker run.
func (h hider) call(args []string) {
	if len(args) > 0 && args[0] == "eval" {
		h.line(strings.Join(args[1:], " "))
	}
	for i, arg := range args {
		if isShell(path.Base(arg)) {
			if h.options = optionsOf(args[i+1:]); h.code && len(h.operands) > 0 {
				h.line(h.operands[0])
			}
			return
		}
	}
}

// quiet are programs whose exit code no one misses: they prepare something, print something, or give data to what comes
// after them.
var quiet = strings.Fields(`cd pushd popd echo printf export set unset umask ulimit trap sleep mkdir rm rmdir touch true
	: test [ source . mktemp cp mv ln chmod cat ls pwd date head tail read shift kill wait exit return break continue which
	type hash local readonly declare alias shopt clear uname whoami id nvm find fd seq yes tee grep egrep fgrep rg sed awk
	sort uniq cut tr wc jq column fold nl tac rev paste comm curl wget tar gofmt goimports basename dirname realpath env
	printenv hostname tput stty false`)

// alwaysWell are programs that succeed whatever their arguments are.
var alwaysWell = []string{"true", ":", "echo", "printf"}

// sources are commands of two words that give data.
var sources = []string{"go list", "go env", "go version", "npm ls", "cargo metadata"}

var anExit = regex.Lazy(`\$\{?(?:\?|PIPESTATUS)`)

// matters reports whether the exit code of a command is a result of the work.
func matters(s *syntax.Stmt) bool {
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return tells(wordsOf(c))
	case *syntax.BinaryCmd:
		return c.Op == syntax.AndStmt && matters(c.X) || matters(c.Y)
	case *syntax.TimeClause:
		return c.Stmt != nil && matters(c.Stmt)
	}
	inner := grouped(s.Cmd)
	return len(inner) > 0 && matters(inner[len(inner)-1])
}

// tells reports whether the exit code of a program says something about the work.
func tells(args []string) bool {
	if len(args) == 0 || args[0] == "" {
		return false
	}
	name := program(args[0])
	if wr, ok := wrapperOf(name); ok && len(args) > 1 {
		rest, _ := wr.rest(args[1:])
		asked := args[1] == "-v" || args[1] == "-V" // command -v asks whether there is one
		return !asked && (len(rest) == 0 || tells(rest))
	}
	switch {
	case name == "git":
		return slices.Contains(args, "--exit-code") || slices.Contains(args, "--check")
	case len(args) > 1 && slices.Contains(sources, name+" "+args[1]):
		return false
	case name == "find":
		return slices.Contains(args, "+")
	}
	return !slices.Contains(quiet, name)
}

// endsWell reports whether commands in a row end with 0 in any case.
func endsWell(stmts ...*syntax.Stmt) (well bool) {
	for _, s := range stmts {
		args := wordsOf(s.Cmd)
		if len(args) > 0 && (args[0] == "exit" || args[0] == "return") {
			return len(args) == 1 && well || len(args) > 1 && args[1] == "0"
		}
		switch c := s.Cmd.(type) {
		case *syntax.CallExpr:
			well = len(args) > 0 && slices.Contains(alwaysWell, path.Base(args[0])) || len(args) == 1 && args[0] == "wait"
		case *syntax.BinaryCmd:
			well = endsWell(c.Y) && (c.Op != syntax.AndStmt || endsWell(c.X))
		default:
			well = endsWell(grouped(c)...)
		}
		well = well && !s.Negated
	}
	return well
}

// asks reports whether a command looks at the exit code of the one before it.
func asks(s *syntax.Stmt) bool {
	args := wordsOf(s.Cmd)
	return anExit.MatchString(printed(s)) || len(args) == 1 && (args[0] == "exit" || args[0] == "return")
}

// waits reports whether a command waits for a process by its number: a bare wait succeeds.
func waits(s *syntax.Stmt) bool {
	args := wordsOf(s.Cmd)
	return len(args) > 1 && args[0] == "wait"
}

// wordsOf are the words of a simple command.
func wordsOf(c syntax.Command) []string {
	call, ok := c.(*syntax.CallExpr)
	if !ok {
		return nil
	}
	return new(reader).words(call.Args)
}

func printed(s *syntax.Stmt) string {
	var b strings.Builder
	if err := syntax.NewPrinter(syntax.SingleLine(true)).Print(&b, s); err != nil {
		return ""
	}
	return b.String()
}

// shown is a command for people, in quotes.
func shown(s *syntax.Stmt) string {
	text := strings.TrimSuffix(strings.TrimSpace(safetext.OneLine(printed(s))), " &")
	return `"` + safetext.Shorten(text, 60) + `"`
}
