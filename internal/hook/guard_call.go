package hook

import (
	"path"
	"slices"
	"strings"
)

// unmarked takes the marks out of what comes from outside.
func unmarked(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(marks, r) {
			return '?'
		}
		return r
	}, text)
}

// marked are the marks of a text, or output when it has none.
func marked(text string) string {
	var b strings.Builder
	for _, mark := range marks {
		if strings.ContainsRune(text, mark) {
			b.WriteRune(mark)
		}
	}
	if b.Len() == 0 {
		return output
	}
	return b.String()
}

// shown is a sentence without marks, and short.
func shown(text string) string {
	text = strings.NewReplacer(unknown, "…", output, "…", secret, "…", foreign, "(downloaded)", "\n", " ").Replace(text)
	if runes := []rune(text); len(runes) > 200 {
		text = string(runes[:200]) + "…"
	}
	return text
}

// call is one program as a shell would start it, or the redirections of any other command.
type call struct {
	name   string   // of the program, without its directory, in small letters
	word   string   // the program as it is written
	args   []string // without the program
	env    []string // NAME=value before it
	writes []string // what redirections write
	reads  []string
	in     string // standard input: its text, or marks; "" is none
	cwd    string
	world  *Environment
}

// short reports whether a call has a one-letter option, alone or among others: rm -fr.
func (c call) short(letters string) bool {
	return slices.ContainsFunc(c.args, func(arg string) bool {
		return len(arg) > 1 && arg[0] == '-' && arg[1] != '-' && strings.ContainsAny(arg[1:], letters)
	})
}

// operands are the arguments that are no options. An option's value is among them, unless it is of one that is named.
func (c call) operands(valued ...string) []string {
	var list []string
	for i := 0; i < len(c.args); i++ {
		switch arg := c.args[i]; {
		case arg == "--":
			return append(list, c.args[i+1:]...)
		case slices.Contains(valued, arg):
			i++
		case len(arg) < 2 || arg[0] != '-':
			list = append(list, arg)
		}
	}
	return list
}

// values are those of an option, as in -o x, -ox, --output x and --output=x.
func (c call) values(options ...string) []string {
	var list []string
	for i, arg := range c.args {
		for _, o := range options {
			long := strings.HasPrefix(o, "--")
			switch rest, ok := strings.CutPrefix(arg, o); {
			case !ok:
			case rest == "" && i+1 < len(c.args):
				list = append(list, c.args[i+1])
			case long && strings.HasPrefix(rest, "="):
				list = append(list, rest[1:])
			case !long && rest != "":
				list = append(list, rest)
			}
		}
	}
	return list
}

// absolute is a path from the root; one that begins with what is not known stays as it is.
func absolute(cwd, name string) string {
	switch {
	case name == "" || strings.ContainsAny(name[:min(len(name), 3)], marks):
		return name
	case path.IsAbs(name):
		return path.Clean(name)
	case cwd == "" || strings.ContainsAny(cwd, marks):
		return unknown + "/" + name
	}
	return path.Join(cwd, name)
}
