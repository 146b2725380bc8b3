package config

import (
	"fmt"
	"path"
	"slices"
	"strings"

	shell "mvdan.cc/sh/v3/syntax"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// HidesExit says where a guardrail's command keeps an exit code from whoever runs it, in a few words; piped tells that
// it is a pipe, for which Bash is a way out. Both are empty where nothing does, as far as the line itself tells: what
// it calls is not followed.
func (g Guardrail) HidesExit() (says string, piped bool) {
	h := hider{pipefail: g.Shell == Bash, found: &hidden{}}
	h.line(g.Command)
	return h.found.says, h.found.piped
}

// Warnings are what people should know of settings that are valid, one sentence or two each.
func (s Settings) Warnings() (list []string) {
	for i, g := range s.Guardrails {
		says, piped := g.HidesExit()
		if says == "" {
			continue
		}
		out := "Let the command end with that exit code."
		if piped {
			out = `With "shell": "bash" it runs with pipefail and keeps the exit code.`
		}
		list = append(list, fmt.Sprintf("guardrails[%d] %q: %s, so a failure may look like a success. %s", i,
			safetext.Shorten(safetext.OneLine(g.Name), 60), says, out))
	}
	return list
}

// hidden is the first place that was found.
type hidden struct {
	says  string
	piped bool
}

// hider walks a line for the shell, with the options that hold at that place.
type hider struct {
	errexit, pipefail bool
	depth             int
	found             *hidden
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
	parsed, err := shell.NewParser().Parse(strings.NewReader(text), "")
	if err != nil || parsed == nil {
		return // the shell will say so
	}
	h.list(parsed.Stmts)
}

// list looks at commands that follow each other: of all but the last, the exit code is lost, if nobody asks for it.
func (h hider) list(stmts []*shell.Stmt) {
	for i, s := range stmts {
		rest := stmts[i+1:]
		if h.options(s) {
			continue
		}
		h.statement(s, rest)
		switch {
		case s.Background:
			if exitCodeMatters(s) && !waits(rest) {
				h.note(shown(s)+" runs in the background, and nothing waits for its exit code", false)
			}
		case len(rest) > 0 && !h.errexit && exitCodeMatters(s) && !asks(rest[0]):
			h.note("what follows "+shown(s)+" hides its exit code", false)
		}
	}
}

// options reads "set -e", "set -euo pipefail" and the like.
func (h *hider) options(s *shell.Stmt) bool {
	args := wordsOf(s.Cmd)
	if len(args) < 2 || args[0] != "set" {
		return false
	}
	for i, arg := range args[1:] {
		on := strings.HasPrefix(arg, "-")
		switch {
		case !on && !strings.HasPrefix(arg, "+"):
		case strings.HasSuffix(arg, "o") && i+2 < len(args) && args[i+2] == "pipefail":
			h.pipefail = on
		case strings.HasSuffix(arg, "o") && i+2 < len(args) && args[i+2] == "errexit":
			h.errexit = on
		}
		if (on || strings.HasPrefix(arg, "+")) && strings.Contains(arg[1:], "e") {
			h.errexit = on
		}
	}
	return true
}

// statement looks into one command; rest are those after it.
func (h hider) statement(s *shell.Stmt, rest []*shell.Stmt) {
	switch c := s.Cmd.(type) {
	case *shell.CallExpr:
		h.call(s, c)
	case *shell.DeclClause:
		for _, a := range c.Args {
			if a.Value != nil && holdsTelling(a.Value) {
				h.note(shown(s)+" hides the exit code of the command in it", false)
			}
		}
	case *shell.BinaryCmd:
		h.binary(c, rest)
	case *shell.Subshell:
		h.list(c.Stmts)
	case *shell.Block:
		h.list(c.Stmts)
	case *shell.TimeClause:
		if c.Stmt != nil {
			h.statement(c.Stmt, rest)
		}
	case *shell.FuncDecl:
		h.statement(c.Body, nil)
	case *shell.IfClause:
		h.choice(c)
	case *shell.WhileClause:
		h.loop(c.Do)
	case *shell.ForClause:
		h.loop(c.Do)
	case *shell.CaseClause:
		for _, item := range c.Items {
			h.list(item.Stmts)
		}
	}
}

func (h hider) binary(c *shell.BinaryCmd, rest []*shell.Stmt) {
	h.statement(c.X, append([]*shell.Stmt{c.Y}, rest...))
	h.statement(c.Y, rest)
	switch c.Op {
	case shell.OrStmt:
		if exitCodeMatters(c.X) && succeeds(c.Y) {
			h.note(`"|| `+shown(c.Y)[1:]+" hides the exit code of "+shown(c.X), false)
		}
	case shell.Pipe, shell.PipeAll:
		if !h.pipefail && exitCodeMatters(c.X) && !slices.ContainsFunc(rest, asksPipe) {
			h.note("the pipe into "+shown(c.Y)+" hides the exit code of "+shown(c.X), true)
		}
	}
}

// choice is an "if" whose condition does the work: what is done after a failure has to fail.
func (h hider) choice(c *shell.IfClause) {
	h.list(c.Then)
	for e := c.Else; e != nil; e = e.Else {
		h.list(e.Then)
	}
	if len(c.Cond) == 0 {
		return
	}
	last := c.Cond[len(c.Cond)-1]
	h.statement(last, nil)
	if !exitCodeMatters(last) || c.Else != nil && len(c.Else.Cond) > 0 {
		return
	}
	var failing []*shell.Stmt
	if last.Negated {
		failing = c.Then
	} else if c.Else != nil {
		failing = c.Else.Then
	}
	if len(failing) == 0 || endsWell(failing) {
		h.note(`the "if" hides the exit code of `+shown(last), false)
	}
}

// loop keeps the exit code of its last round only.
func (h hider) loop(body []*shell.Stmt) {
	h.list(body)
	if len(body) > 0 && !h.errexit && exitCodeMatters(body[len(body)-1]) {
		h.note("the loop keeps no exit code of "+shown(body[len(body)-1])+" but the last", false)
	}
}

func (h hider) call(s *shell.Stmt, c *shell.CallExpr) {
	args := wordsOf(c)
	if len(args) == 0 {
		return
	}
	name := path.Base(args[0])
	if slices.Contains(alwaysWell, name) {
		for _, w := range c.Args[1:] {
			if holdsTelling(w) {
				h.note(shown(s)+" hides the exit code of the command in it", false)
			}
		}
	}
	switch {
	case name == "eval":
		h.line(strings.Join(args[1:], " "))
	case name == "trap" && len(args) > 2 && strings.TrimSpace(args[1]) == "exit 0":
		h.note(shown(s)+" hides every exit code", false)
	case name == "find":
		h.finds(s, args)
	case name == "script" && slices.ContainsFunc(args[1:], isShellC) && !slices.ContainsFunc(args[1:], returnsExit):
		h.note(shown(s)+" hides the exit code of its command", false)
	case name == "make" || name == "gmake":
		if slices.ContainsFunc(args[1:], ignoresErrors) {
			h.note(shown(s)+" goes on after errors and hides their exit codes", false)
		}
	}
	for i, arg := range args {
		if shellNames.MatchString(path.Base(arg)) && (i == 0 || name != "find") {
			h.inner(args[i+1:])
			return
		}
	}
}

// finds looks at find -exec … \;, which passes a failure over; with + it does not.
func (h hider) finds(s *shell.Stmt, args []string) {
	for i, arg := range args {
		if arg != "-exec" && arg != "-execdir" {
			continue
		}
		end := slices.IndexFunc(args[i:], func(a string) bool { return a == ";" || a == "+" })
		if end > 1 && args[i+end] == ";" && tellsName(args[i+1:i+end]) {
			h.note(shown(s)+" hides the exit code of what it runs", false)
		}
	}
}

// shell follows sh -c, bash -euo pipefail -c and the like, whatever stands before it: env, timeout, docker run.
func (h hider) inner(args []string) {
	h.errexit, h.pipefail = false, false
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if !strings.HasPrefix(arg, "-") || strings.HasPrefix(arg, "--") {
			return
		}
		h.errexit = h.errexit || strings.Contains(arg, "e")
		if strings.HasSuffix(strings.TrimSuffix(arg, "c"), "o") && i+1 < len(args) {
			h.pipefail = h.pipefail || args[i+1] == "pipefail"
			if strings.HasSuffix(arg, "o") {
				i++
				continue
			}
		}
		if isShellC(arg) && i+1 < len(args) {
			text := args[i+1]
			if text == "pipefail" && i+2 < len(args) {
				text = args[i+2]
			}
			h.line(text)
			return
		}
	}
}

func isShellC(arg string) bool {
	return arg == "--command" || isShort(arg) && strings.Contains(arg, "c")
}

func returnsExit(arg string) bool {
	return arg == "--return" || isShort(arg) && strings.Contains(arg, "e")
}

func ignoresErrors(arg string) bool {
	return arg == "--ignore-errors" ||
		isShort(arg) && strings.Trim(arg, "-ikswBn") == "" && strings.Contains(arg, "i")
}

// isShort reports whether an argument is one or more options of one letter.
func isShort(arg string) bool { return strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") }
