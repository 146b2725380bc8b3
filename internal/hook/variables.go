package hook

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// variables are those of a scope, as words see them.
type variables struct {
	s *script
	c *scope
}

var secretName = lazy(`(?i)(TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|CREDENTIALS?)$`)

func text(value string) expand.Variable {
	return expand.Variable{Set: true, Kind: expand.String, Str: value}
}

// Get implements expand.Environ.
func (v variables) Get(name string) expand.Variable {
	value := v.get(name)
	size := len(value.Str)
	for _, item := range value.List {
		size += len(item)
	}
	if v.s.handed -= size; v.s.handed < 0 {
		v.s.err = errTooLong
		return text(unknown)
	}
	return value
}

func (v variables) get(name string) expand.Variable {
	if value, ok := v.c.vars[name]; ok {
		return value
	}
	switch name {
	case "@", "*":
		return expand.Variable{Set: true, Kind: expand.Indexed, List: v.c.args}
	case "#":
		return text(strconv.Itoa(len(v.c.args)))
	case "HOME":
		return text(v.s.world.Home)
	case "PWD":
		return text(v.c.cwd)
	case "TMPDIR":
		return text("/tmp")
	case "PATH":
		return text("/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
	case "SHELL", "BASH", "0":
		return text("/bin/bash")
	case "PPID":
		return text("$PPID")
	case "IFS":
		return expand.Variable{}
	}
	if n, err := strconv.Atoi(name); err == nil {
		switch {
		case n >= 1 && n <= len(v.c.args):
			return text(v.c.args[n-1])
		case len(v.c.args) == 1 && v.c.args[0] == unknown:
			return text(unknown)
		}
		return expand.Variable{}
	}
	if user, ok := strings.CutPrefix(name, "HOME "); ok {
		return text("/home/" + user)
	}
	switch {
	case v.s.defaulted[name]:
		return expand.Variable{}
	case secretName.MatchString(name):
		return text(secret)
	}
	return text(unknown)
}

// Each implements expand.Environ.
func (v variables) Each(f func(string, expand.Variable) bool) {
	for name, value := range v.c.vars {
		if !f(name, value) {
			return
		}
	}
}

// Set implements expand.WriteEnviron, for ${x:=value}.
func (v variables) Set(name string, value expand.Variable) error {
	v.c.vars[name] = value
	return nil
}

func (s *script) config(c *scope) *expand.Config {
	return &expand.Config{
		Env:      variables{s, c},
		CmdSubst: s.cmdSubst(c),
		ProcSubst: func(p *syntax.ProcSubst) (string, error) {
			return "/dev/fd/" + marked(s.outputs(p.Stmts, "", c.clone())), nil
		},
	}
}

// words expands words as a shell does, into none, one or several each. One that cannot be expanded is unknown.
func (s *script) words(list []*syntax.Word, c *scope) []string {
	var all []string
	for _, w := range list {
		fields, err := expand.Fields(s.config(c), w)
		if err != nil {
			fields = []string{unknown}
		}
		all = append(all, fields...)
	}
	return all
}

// word expands a word into one.
func (s *script) word(w *syntax.Word, c *scope) string {
	value, err := expand.Literal(s.config(c), w)
	if err != nil {
		return unknown
	}
	return value
}

// document expands a here-document, or a word that takes the place of one.
func (s *script) document(w *syntax.Word, c *scope) string {
	if w == nil {
		return ""
	}
	value, err := expand.Document(s.config(c), w)
	if err != nil {
		return unknown
	}
	return value
}

// assign takes an assignment up.
func (s *script) assign(a *syntax.Assign, c *scope) {
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
		list := s.words(words, c)
		if a.Append {
			list = append(c.vars[name].List[:len(c.vars[name].List):len(c.vars[name].List)], list...)
		}
		c.vars[name] = expand.Variable{Set: true, Kind: expand.Indexed, List: list}
	case a.Index != nil:
		c.vars[name] = text(unknown)
	default:
		value := s.word(a.Value, c)
		if a.Append {
			value = c.vars[name].Str + value
		}
		if len(value) > mostValue {
			value = marked(value)
		}
		c.vars[name] = text(value)
	}
}

// declare is export, local, readonly, declare.
func (s *script) declare(x *syntax.DeclClause, c *scope) {
	args := []string{x.Variant.Value}
	for _, a := range x.Args {
		s.assign(a, c)
		switch {
		case a.Name != nil && a.Naked:
			args = append(args, a.Name.Value)
		case a.Name != nil:
			args = append(args, a.Name.Value+"="+c.vars[a.Name.Value].String())
		case a.Value != nil:
			args = append(args, s.word(a.Value, c))
		}
	}
	s.run(args, nil, "", c)
}
