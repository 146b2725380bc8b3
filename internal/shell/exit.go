package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ralph-loop/ralph/internal/regex"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// HidesExit reports where a text keeps an exit code from its caller, in a few words; piped is true for a pipe, for
// which pipefail is a way out. Both are empty where nothing does, as far as the text itself shows: what it calls is not
// followed.
func HidesExit(text string, pipefail bool) (says string, piped bool) {
	h := hider{options: options{pipefail: pipefail}, found: &hidden{}}
	h.line(text)
	return h.found.says, h.found.piped
}

// hidden is the first place that was found.
type hidden struct {
	says  string
	piped bool
}

// hider walks a text with the options that apply at that place.
type hider struct {
	options

	depth int
	found *hidden
}

func (h hider) note(says string, piped bool) {
	if h.found.says == "" {
		h.found.says, h.found.piped = says, piped
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

// list checks commands that follow each other: of all but the last, the exit code is lost if no command asks for it.
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
		case s.Background && !waits(rest):
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
		h.call(s, c)
	case *syntax.DeclClause:
		if takes(c) {
			h.note(shown(s)+" hides the exit code of the command in it", false)
		}
	case *syntax.BinaryCmd:
		h.binary(c, rest)
	case *syntax.Subshell:
		h.list(c.Stmts)
	case *syntax.Block:
		h.list(c.Stmts)
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
	}
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

// choice is an "if" whose condition does the work: what is done after a failure has to fail.
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

// loop keeps the exit code of its last round only.
func (h hider) loop(body []*syntax.Stmt) {
	h.list(body)
	if len(body) > 0 && !h.errexit && matters(body[len(body)-1]) {
		h.note("the loop keeps no exit code of "+shown(body[len(body)-1])+" but the last", false)
	}
}

func (h hider) call(s *syntax.Stmt, c *syntax.CallExpr) {
	args := wordsOf(c)
	if len(args) == 0 {
		return
	}
	one := Call{Name: program(args[0]), Args: args[1:]}
	switch {
	case slices.Contains(alwaysWell, one.Name) && takes(c):
		h.note(shown(s)+" hides the exit code of the command in it", false)
	case one.Name == "eval":
		h.line(strings.Join(one.Args, " "))
	case one.Name == "trap" && len(args) > 2 && strings.TrimSpace(args[1]) == "exit 0":
		h.note(shown(s)+" hides every exit code", false)
	case one.Name == "find":
		// -exec … \; passes a failure over, -exec … + does not
		if i := slices.IndexFunc(args, func(a string) bool { return a == "-exec" || a == "-execdir" }); i > 0 {
			if end := slices.Index(args[i:], ";"); end > 1 && tells(args[i+1:i+end]) {
				h.note(shown(s)+" hides the exit code of what it runs", false)
			}
		}
		return
	case one.Name == "script" && one.Short("c") && !one.Short("e") && !slices.Contains(args, "--return"):
		h.note(shown(s)+" hides the exit code of its command", false)
	case (one.Name == "make" || one.Name == "gmake") && slices.ContainsFunc(one.Args, ignoresErrors):
		h.note(shown(s)+" continues after errors and hides their exit codes", false)
	}
	for i, arg := range args { // whatever comes before it: env, timeout, docker run
		if !isShell(path.Base(arg)) {
			continue
		}
		if h.options = optionsOf(args[i+1:]); h.code && len(h.operands) > 0 {
			h.line(h.operands[0])
		}
		return
	}
}

func ignoresErrors(arg string) bool {
	return arg == "--ignore-errors" || isShort(arg) && strings.Trim(arg, "-ikswBn") == "" && strings.Contains(arg, "i")
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

// matters reports whether the exit code of a command says something about the work.
func matters(s *syntax.Stmt) bool {
	var inner []*syntax.Stmt
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return len(c.Args) == 0 && takes(c) || tells(wordsOf(c))
	case *syntax.BinaryCmd:
		return c.Op == syntax.AndStmt && matters(c.X) || matters(c.Y)
	case *syntax.Subshell:
		inner = c.Stmts
	case *syntax.Block:
		inner = c.Stmts
	case *syntax.TimeClause:
		return c.Stmt != nil && matters(c.Stmt)
	}
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

// takes reports whether a command takes the output of another whose exit code matters.
func takes(c syntax.Command) bool {
	found := false
	syntax.Walk(c, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CmdSubst); ok {
			found = found || len(c.Stmts) > 0 && matters(c.Stmts[len(c.Stmts)-1])
		}
		return !found
	})
	return found
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
		case *syntax.Subshell:
			well = endsWell(c.Stmts...)
		case *syntax.Block:
			well = endsWell(c.Stmts...)
		default:
			well = false
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

// waits reports whether one of the commands waits for a process by its number: a bare wait succeeds.
func waits(rest []*syntax.Stmt) (found bool) {
	syntax.Walk(&syntax.Block{Stmts: rest}, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok {
			args := wordsOf(c)
			found = found || len(args) > 1 && args[0] == "wait"
		}
		return !found
	})
	return found
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
