package diffscan

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// line follows what a line for the shell, or a whole script, runs. dirs are where it may stand when it does.
func (r *tracer) line(text string, dirs []string, step int) {
	if step > maxSteps || !r.first("line", text, strings.Join(dirs, ":")) {
		return
	}
	parsed, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil || parsed == nil {
		return // the shell will not run it either; or it is none for ours
	}
	dirs = slices.Clone(dirs)
	syntax.Walk(parsed, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok {
			return true
		}
		var args []string
		for _, w := range call.Args {
			args = append(args, literal(w))
		}
		if len(args) == 2 && args[0] == "cd" {
			for _, dir := range dirs {
				if to, ok := inTree(dir, args[1]); ok && len(dirs) < maxDirs && !slices.Contains(dirs, to) {
					dirs = append(dirs, to)
				}
			}
			return true
		}
		r.command(args, dirs, step)
		return true
	})
}

var (
	interpreter = lazy(
		`^(?:sh|bash|dash|zsh|ksh|ash|python[\d.]*|pypy[\d.]*|node|nodejs|ruby|perl|php|deno|bun|tsx|ts-node|Rscript|pwsh|powershell|lua|groovy|source|\.)$`)
	shells     = lazy(`^(?:sh|bash|dash|zsh|ksh|ash)$`)
	commands   = lazy(`^-[a-z]*c$`)    // sh -c, bash -euc
	options    = lazy(`^[-+][a-z]*o$`) // bash -euo pipefail
	assignment = lazy(`^[A-Za-z_]\w*=`)
	number     = lazy(`^[\d.]+[smhd]?$`)
	shebang    = lazy(`^#!.*\b(?:sh|bash|dash|zsh|ksh|ash)\b`)
)

// wrappers run the command that follows; with two words, the second belongs to it.
var wrappers = map[string]string{
	"env": "", "exec": "", "command": "", "builtin": "", "time": "", "nice": "", "nohup": "", "sudo": "", "timeout": "",
	"gtimeout": "", "xvfb-run": "", "stdbuf": "", "ionice": "", "eval": "",
	"npx": "", "bunx": "", "uv": "run", "poetry": "run", "pipenv": "run", "pdm": "run", "hatch": "run", "rye": "run",
	"bundle": "exec", "dotenv": "", "cross-env": "", "xargs": "",
}

// owned are programs that run what one file of the tree says.
var owned = map[string][]string{
	"task": {"Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml", "Taskfile.dist.yml", "Taskfile.dist.yaml"},
	"nox":  {"noxfile.py"}, "invoke": {"tasks.py"}, "inv": {"tasks.py"}, "rake": {"Rakefile", "rakefile", "Rakefile.rb"},
	"grunt": {"Gruntfile.js"}, "gulp": {"gulpfile.js", "gulpfile.mjs"}, "mage": {"magefile.go"},
}

// command follows one command.
func (r *tracer) command(args, dirs []string, step int) {
	for range 8 {
		if len(args) == 0 {
			return
		}
		second, wraps := wrappers[path.Base(args[0])]
		if !wraps || second != "" && (len(args) < 2 || args[1] != second) {
			break
		}
		args = args[1:]
		if second != "" {
			args = args[1:]
		}
		for len(args) > 0 && (strings.HasPrefix(args[0], "-") || assignment.MatchString(args[0]) ||
			number.MatchString(args[0])) {
			args = args[1:]
		}
	}
	if len(args) == 0 {
		return
	}
	name, rest := path.Base(args[0]), args[1:]
	if strings.Contains(args[0], "/") {
		r.script(args[0], dirs, step)
	}
	switch {
	case args[0] == "." || interpreter.MatchString(name) && (name != "bun" || len(rest) == 0 || rest[0] != "run"):
		r.interpreted(name, rest, dirs, step)
	case name == "make" || name == "gmake" || name == "mingw32-make" || name == "just":
		r.made(name, rest, dirs, step)
	case name == "go" && len(rest) > 1 && rest[0] == "run":
		r.goRun(rest[1:], dirs, step)
	case owned[name] != nil:
		for _, dir := range dirs {
			for _, file := range owned[name] {
				r.script("./"+file, []string{dir}, maxSteps)
			}
		}
	}
	for _, dir := range dirs {
		if c, ok := scriptCallOf(name, rest, dir); ok && step <= maxSteps {
			for line := range r.scripts(c) {
				r.line(line, []string{c.dir}, step+1)
			}
		}
	}
}

// made follows the recipes that a call of make or just runs.
func (r *tracer) made(program string, args, dirs []string, step int) {
	for _, dir := range dirs {
		if c, ok := makeCallOf(program, args, dir); ok && step <= maxSteps {
			for line := range r.recipes(c) {
				r.line(line, []string{c.dir}, step+1)
			}
		}
	}
}

// interpreted follows the script that an interpreter is given.
func (r *tracer) interpreted(name string, args, dirs []string, step int) {
	for i := 0; i < len(args); i++ {
		arg, next := args[i], ""
		if i+1 < len(args) {
			next = args[i+1]
		}
		switch {
		case shells.MatchString(name) && commands.MatchString(arg):
			r.line(next, dirs, step+1)
			return
		case strings.HasPrefix(name, "py") && arg == "-m":
			r.module(next, dirs, step)
			return
		case !shells.MatchString(name) && (arg == "-c" || arg == "-e") || arg == "-p" && name == "node":
			return
		case shells.MatchString(name) && options.MatchString(arg):
			i++
		case (arg == "-o" || arg == "-W" || arg == "-X" || arg == "-I" || arg == "-d") && next != "":
			i++
		case (arg == "-r" || arg == "--require" || arg == "--import" || arg == "-f") && next != "":
			r.script(next, dirs, step)
			i++
		case strings.HasPrefix(arg, "-") || strings.HasPrefix(arg, "+") || arg == "run" && (name == "deno" || name == "bun"):
		default:
			r.script(arg, dirs, step)
			return
		}
	}
}

// installed are modules of Python that judge and come from elsewhere. One of the same name in the tree goes before
// them.
var installed = lazy(
	`^(?:pytest|_pytest|unittest|doctest|nose2?|tox|nox|mypy|pyright|ruff|flake8|pylint|pycodestyle|pyflakes|black|isort|bandit|coverage|compileall|py_compile|build|pip|behave|robot|pre_commit)(?:\.|$)`)

// module follows python -m: a module of the tree goes before an installed one, so one that was added is an edit, too.
func (r *tracer) module(name string, dirs []string, step int) {
	file := strings.ReplaceAll(name, ".", "/")
	judge := installed.MatchString(name)
	for _, dir := range dirs {
		for _, end := range []string{".py", "/__main__.py", "/__init__.py"} {
			to, ok := inTree(dir, file+end)
			if ok && r.first("module", to) && r.changed(to) {
				r.found(EditedFile{File: to, Judge: judge})
			}
		}
		r.script(file+".py", []string{dir}, step)
	}
}

func (r *tracer) goRun(args, dirs []string, step int) {
	for _, arg := range args {
		if strings.HasPrefix(arg, "-") {
			continue
		}
		for _, dir := range dirs {
			to, ok := inTree(dir, arg)
			if !ok || strings.HasSuffix(arg, ".go") {
				r.script(arg, []string{dir}, step)
				continue
			}
			for _, name := range r.d.Names {
				if path.Dir(name) == to && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") &&
					r.first("go", name) && r.changed(name) {
					r.found(EditedFile{File: name})
				}
			}
		}
		return
	}
}

// script looks at a file that is run: whether it was edited, and what it runs itself.
func (r *tracer) script(name string, dirs []string, step int) {
	for _, dir := range dirs {
		to, ok := inTree(dir, name)
		if !ok || to == "." || !r.first("script", to) {
			continue
		}
		text, ok := r.base(to)
		if !ok {
			continue
		}
		if r.changed(to) {
			_, still := r.head(to)
			r.found(EditedFile{File: to, Deleted: !still})
		}
		if ext := path.Ext(to); ext == ".sh" || ext == ".bash" || shebang.MatchString(text) {
			r.line(text, []string{dir, path.Dir(to), "."}, step+1)
		}
	}
}

// literal is the text of a word. What is known only when it runs is left out: of "$DIR/check.sh" the end stays.
func literal(w *syntax.Word) string {
	var b strings.Builder
	var add func(parts []syntax.WordPart)
	add = func(parts []syntax.WordPart) {
		for _, p := range parts {
			switch p := p.(type) {
			case *syntax.Lit:
				b.WriteString(strings.ReplaceAll(p.Value, `\`, ""))
			case *syntax.SglQuoted:
				b.WriteString(p.Value)
			case *syntax.DblQuoted:
				add(p.Parts)
			default:
				if b.Len() == 0 {
					b.WriteString(".")
				}
			}
		}
	}
	add(w.Parts)
	return b.String()
}
