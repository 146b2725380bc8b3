package hook

import (
	"encoding/base64"
	"encoding/hex"
	"io"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// cmdSubst is what $(…) becomes in a word.
func (s *script) cmdSubst(c *scope) func(io.Writer, *syntax.CmdSubst) error {
	return func(w io.Writer, x *syntax.CmdSubst) error {
		_, err := io.WriteString(w, s.outputs(x.Stmts, "", c.clone()))
		return err
	}
}

// outputs is what commands print one after another, as far as their text says.
func (s *script) outputs(list []*syntax.Stmt, in string, c *scope) string {
	var b strings.Builder
	for _, st := range list {
		b.WriteString(s.output(st, in, c))
	}
	return b.String()
}

// output is what a command prints: the text if it is known, else a mark of what kind it is.
func (s *script) output(st *syntax.Stmt, in string, c *scope) string {
	if st == nil || !s.step() {
		return ""
	}
	text := ""
	s.deeper(func() {
		for _, r := range st.Redirs {
			switch r.Op {
			case syntax.Hdoc, syntax.DashHdoc:
				in = s.document(r.Hdoc, c)
			case syntax.WordHdoc:
				in = s.document(r.Word, c) + "\n"
			case syntax.RdrIn:
				in = output
			}
		}
		text = s.commandOutput(st.Cmd, in, c)
	})
	if len(text) > mostScript {
		return marked(text)
	}
	return text
}

func (s *script) commandOutput(cmd syntax.Command, in string, c *scope) string {
	switch x := cmd.(type) {
	case *syntax.CallExpr:
		for _, a := range x.Assigns {
			if len(x.Args) == 0 {
				s.assign(a, c)
			}
		}
		return s.prints(s.words(x.Args, c), in, c)
	case *syntax.BinaryCmd:
		if x.Op == syntax.Pipe || x.Op == syntax.PipeAll {
			return s.output(x.Y, s.output(x.X, in, c.clone()), c.clone())
		}
		return s.output(x.X, in, c) + s.output(x.Y, in, c)
	case *syntax.Subshell:
		return s.outputs(x.Stmts, in, c.clone())
	case *syntax.Block:
		return s.outputs(x.Stmts, in, c)
	case *syntax.TimeClause:
		return s.output(x.Stmt, in, c)
	case *syntax.IfClause:
		return s.outputs(x.Then, in, c)
	case *syntax.ForClause:
		return marked(s.outputs(x.Do, in, c))
	case *syntax.WhileClause:
		return marked(s.outputs(x.Do, in, c))
	case nil:
		return in // $(<file)
	}
	return output
}

// prints is what a program prints.
func (s *script) prints(args []string, in string, c *scope) string {
	if len(args) == 0 {
		return in
	}
	cmd := command{name: programName(args[0]), word: args[0], args: args[1:], in: in, cwd: c.cwd, world: s.world}
	ops := cmd.operands()
	if body, ok := c.funcs[cmd.word]; ok {
		inner := c.clone()
		inner.args = cmd.args
		delete(inner.funcs, cmd.word)
		return s.output(body, in, inner)
	}
	switch {
	case slices.Contains(downloaders, cmd.name):
		return downloaded
	case decodes(cmd):
		return decode(cmd)
	case slices.Contains(filters, cmd.name):
		return marked(in)
	case shells[cmd.name]:
		if foreign(in) {
			return downloaded
		}
	}
	if w, ok := wrappers[cmd.name]; ok && (cmd.name != "command" || !cmd.short("vV")) {
		if rest, _ := w.rest(cmd.args); len(rest) > 0 && len(w.sub) == 0 {
			if w.more {
				rest = s.added(cmd, rest)
			}
			text := output
			s.deeper(func() { text = s.prints(rest, in, c) })
			return text
		}
	}
	switch cmd.name {
	case "cd":
		changeDir(s, cmd, c)
		return ""
	case "echo":
		return echoed(cmd.args)
	case "printf":
		return printed(cmd.args)
	case "cat", "tac", "tee":
		if len(ops) == 0 || cmd.name == "tee" {
			return in
		}
	case "rev":
		return reversed(in)
	case "which", "command", "type":
		if len(ops) == 1 {
			return ops[0] + "\n"
		}
	case "pwd":
		return c.cwd + "\n"
	case "mktemp":
		return "/tmp/" + output + "\n"
	case "uname":
		return "Linux\n"
	case "basename", "dirname", "realpath", "readlink":
		if len(ops) == 1 {
			return named(cmd.name, ops[0], c) + "\n"
		}
	case "git":
		if slices.Contains(cmd.args, "--show-toplevel") {
			return s.world.Root + "\n"
		}
	case "find":
		var b strings.Builder
		for _, start := range findStart(cmd) {
			b.WriteString(start + "/" + output + "\n")
		}
		return b.String()
	case "ls":
		if len(ops) == 1 && path.IsAbs(ops[0]) {
			return ops[0] + "/" + output + "\n"
		}
	case "pgrep", "pidof":
		return output + "pgrep:" + strings.Join(ops, "_")
	}
	return output
}

func named(program, name string, c *scope) string {
	switch program {
	case "basename":
		return path.Base(name)
	case "dirname":
		return path.Dir(name)
	}
	return absolute(c.cwd, name)
}

var (
	downloaders = []string{"curl", "wget", "fetch", "http", "https", "xh", "aria2c", "lynx", "w3m", "links", "nc", "ncat", "netcat", "telnet", "ftp", "dig", "nslookup", "ssh", "gsutil"}
	filters     = []string{"sed", "grep", "egrep", "fgrep", "rg", "awk", "gawk", "mawk", "head", "tail", "sort", "uniq", "tr", "cut", "jq", "yq", "iconv", "dos2unix", "envsubst", "nl", "paste", "fold", "sponge", "pv", "strings"}
)

// decodes reports whether a command turns what it reads into something else that nobody could read before.
func decodes(cmd command) bool {
	switch cmd.name {
	case "base64", "base32", "gbase64":
		return cmd.short("dD") || cmd.has("--decode")
	case "xxd":
		return cmd.short("r")
	case "openssl":
		return cmd.short("d") || cmd.has("-d")
	case "gunzip", "zcat", "bunzip2", "bzcat", "unxz", "xzcat", "uudecode", "gpg", "unzstd", "zstdcat":
		return true
	case "gzip", "bzip2", "xz", "zstd":
		return cmd.short("d") || cmd.has("--decompress")
	}
	return false
}

// decode decodes what can be decoded here.
func decode(cmd command) string {
	in := strings.Join(strings.Fields(cmd.in), "")
	if in == "" || strings.ContainsAny(in, marks) || len(cmd.operands()) > 0 {
		if foreign(cmd.in) {
			return marked(cmd.in)
		}
		return decoded
	}
	switch cmd.name {
	case "base64", "gbase64":
		if text, err := base64.StdEncoding.DecodeString(in); err == nil {
			return string(text)
		}
		if text, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(in, "=")); err == nil {
			return string(text)
		}
	case "xxd":
		if text, err := hex.DecodeString(in); err == nil {
			return string(text)
		}
	}
	return decoded
}

// echoed is what echo prints. Escapes are followed with -e; a shell whose echo always follows them is not followed.
func echoed(args []string) string {
	escapes, end := false, "\n"
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.Trim(args[0][1:], "neE") == "" {
		escapes = escapes || strings.Contains(args[0], "e")
		if strings.Contains(args[0], "n") {
			end = ""
		}
		args = args[1:]
	}
	text := strings.Join(args, " ")
	if escapes {
		if out, _, err := expand.Format(nil, strings.ReplaceAll(text, "%", "%%"), nil); err == nil {
			text = out
		}
	}
	return text + end
}

// printed is what printf prints.
func printed(args []string) string {
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return ""
	}
	format, args := args[0], args[1:]
	var b strings.Builder
	for range 100 {
		out, used, err := expand.Format(nil, format, args)
		if err != nil {
			return unknown
		}
		b.WriteString(out)
		if args = args[min(used, len(args)):]; used == 0 || len(args) == 0 {
			break
		}
	}
	return b.String()
}

func reversed(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		runes := []rune(line)
		slices.Reverse(runes)
		lines[i] = string(runes)
	}
	return strings.Join(lines, "\n")
}
