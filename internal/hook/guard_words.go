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

// stdin is what a statement reads, by its redirections.
func (w *walk) stdin(st *syntax.Stmt, in string, sh *shell) string {
	for _, r := range st.Redirs {
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			in = w.document(r.Hdoc, sh)
		case syntax.WordHdoc:
			in = w.document(r.Word, sh) + "\n"
		case syntax.RdrIn, syntax.DplIn:
			in = marked(w.word(r.Word, sh))
		}
	}
	return in
}

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
