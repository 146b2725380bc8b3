package config

import (
	"path"
	"slices"
	"strings"

	shell "mvdan.cc/sh/v3/syntax"

	"github.com/ralph-loop/ralph/internal/regex"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// quiet are programs whose exit code nobody misses: they prepare something, tell something, or give data to what stands
// after them.
var quiet = strings.Fields(`cd pushd popd echo printf export set unset umask ulimit trap sleep mkdir rm rmdir touch true
	: test [ source . mktemp cp mv ln chmod cat ls pwd date head tail read shift kill wait exit return break continue which
	type hash local readonly declare alias shopt clear uname whoami id nvm find fd seq yes tee grep egrep fgrep rg sed awk
	sort uniq cut tr wc jq column fold nl tac rev paste comm curl wget tar gofmt goimports basename dirname realpath env
	printenv hostname tput stty false`)

// alwaysWell are programs that succeed whatever their arguments are.
var alwaysWell = []string{"true", ":", "echo", "printf"}

// prefixes run the command that follows.
var prefixes = []string{"env", "exec", "command", "builtin", "time", "nice", "nohup", "sudo", "stdbuf"}

// sources are commands of two words that give data.
var sources = []string{"go list", "go env", "go version", "npm ls", "cargo metadata"}

var (
	shellNames = regex.Lazy(`^(?:sh|bash|dash|zsh|ksh|ash)$`)
	anExit     = regex.Lazy(`\$\{?(?:\?|PIPESTATUS)`)
)

// exitCodeMatters reports whether the exit code of a command says something about the work.
func exitCodeMatters(s *shell.Stmt) bool {
	switch c := s.Cmd.(type) {
	case *shell.CallExpr:
		if len(c.Args) == 0 {
			return slices.ContainsFunc(c.Assigns, func(a *shell.Assign) bool {
				return a.Value != nil && holdsTelling(a.Value)
			})
		}
		return tellsName(wordsOf(c))
	case *shell.BinaryCmd:
		if c.Op == shell.AndStmt {
			return exitCodeMatters(c.X) || exitCodeMatters(c.Y)
		}
		return exitCodeMatters(c.Y)
	case *shell.Subshell:
		return len(c.Stmts) > 0 && exitCodeMatters(c.Stmts[len(c.Stmts)-1])
	case *shell.Block:
		return len(c.Stmts) > 0 && exitCodeMatters(c.Stmts[len(c.Stmts)-1])
	case *shell.TimeClause:
		return c.Stmt != nil && exitCodeMatters(c.Stmt)
	}
	return false
}

func tellsName(args []string) bool {
	for len(args) > 1 && slices.Contains(prefixes, args[0]) {
		if args[1] == "-v" || args[1] == "-V" { // command -v asks whether there is one
			return false
		}
		args = args[1:]
		for len(args) > 1 && (strings.HasPrefix(args[0], "-") || strings.Contains(args[0], "=")) {
			args = args[1:]
		}
	}
	if len(args) == 0 || args[0] == "" {
		return false
	}
	name := path.Base(args[0])
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

// holdsTelling reports whether a word takes the output of a command whose exit code tells.
func holdsTelling(w *shell.Word) bool {
	found := false
	shell.Walk(w, func(n shell.Node) bool {
		if c, ok := n.(*shell.CmdSubst); ok {
			found = found || len(c.Stmts) > 0 && exitCodeMatters(c.Stmts[len(c.Stmts)-1])
		}
		return !found
	})
	return found
}

// succeeds reports whether a command ends with 0, come what may.
func succeeds(s *shell.Stmt) bool {
	if s.Negated {
		return false
	}
	switch c := s.Cmd.(type) {
	case *shell.CallExpr:
		args := wordsOf(c)
		if len(args) == 2 && (args[0] == "exit" || args[0] == "return") {
			return args[1] == "0"
		}
		return len(args) > 0 && slices.Contains(alwaysWell, path.Base(args[0])) || len(args) == 1 && args[0] == "wait"
	case *shell.BinaryCmd:
		return succeeds(c.Y) && (c.Op != shell.AndStmt || succeeds(c.X))
	case *shell.Subshell:
		return endsWell(c.Stmts)
	case *shell.Block:
		return endsWell(c.Stmts)
	}
	return false
}

// endsWell reports whether commands in a row end with 0, come what may.
func endsWell(stmts []*shell.Stmt) bool {
	well := false
	for _, s := range stmts {
		args := wordsOf(s.Cmd)
		if len(args) > 0 && (args[0] == "exit" || args[0] == "return") {
			return len(args) == 1 && well || len(args) > 1 && args[1] == "0"
		}
		well = succeeds(s)
	}
	return well
}

// asks reports whether a command looks at the exit code of the one before it.
func asks(s *shell.Stmt) bool {
	args := wordsOf(s.Cmd)
	return anExit.MatchString(printed(s)) || len(args) == 1 && (args[0] == "exit" || args[0] == "return")
}

func asksPipe(s *shell.Stmt) bool { return strings.Contains(printed(s), "PIPESTATUS") }

// waits reports whether one of the commands waits for a process by its number: a bare wait succeeds.
func waits(rest []*shell.Stmt) bool {
	found := false
	for _, s := range rest {
		shell.Walk(s, func(n shell.Node) bool {
			if c, ok := n.(*shell.CallExpr); ok {
				args := wordsOf(c)
				found = found || len(args) > 1 && args[0] == "wait"
			}
			return !found
		})
	}
	return found
}

// words are the words of a simple command; what a word takes from elsewhere stands in it as "$".
func wordsOf(c shell.Command) []string {
	call, ok := c.(*shell.CallExpr)
	if !ok {
		return nil
	}
	list := make([]string, 0, len(call.Args))
	for _, w := range call.Args {
		list = append(list, literal(w.Parts))
	}
	return list
}

func literal(parts []shell.WordPart) string {
	var b strings.Builder
	for _, p := range parts {
		switch p := p.(type) {
		case *shell.Lit:
			b.WriteString(strings.ReplaceAll(p.Value, `\;`, ";"))
		case *shell.SglQuoted:
			b.WriteString(p.Value)
		case *shell.DblQuoted:
			b.WriteString(literal(p.Parts))
		default:
			b.WriteString("$")
		}
	}
	return b.String()
}

func printed(s *shell.Stmt) string {
	var b strings.Builder
	if err := shell.NewPrinter(shell.SingleLine(true)).Print(&b, s); err != nil {
		return ""
	}
	return b.String()
}

// shown is a command for people, in quotes.
func shown(s *shell.Stmt) string {
	text := strings.TrimSuffix(strings.TrimSpace(safetext.OneLine(printed(s))), " &")
	return `"` + safetext.Shorten(text, 60) + `"`
}
