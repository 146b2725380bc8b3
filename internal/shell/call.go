package shell

import (
	"path"
	"slices"
	"strings"
)

// Call is a program as a shell would start it, or the redirections of a statement, which have no Name. A word has a mark
// for each value that its text does not state.
type Call struct {
	Name   string   // of the program, without its directory, in small letters
	Args   []string // without the program
	Env    []string // NAME=value before it
	Writes []string // files that redirections write
	Reads  []string
	In     string // standard input: the text of a here-document, or a mark; "" without any
	Dir    string // where it runs; it may hold marks
}

// Marks replace the values in a word that its text does not state. No alphabet uses them; a text that holds them loses them.
const (
	Unknown = "\uE000" // a variable of the environment
	Foreign = "\uE001" // downloaded or decoded
	Secret  = "\uE002" // a variable whose name says that it holds a secret
	Output  = "\uE003" // the output of a program

	Marks = Unknown + Foreign + Secret + Output
)

// Unmarked replaces the marks of a text from outside.
func Unmarked(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(Marks, r) {
			return '?'
		}
		return r
	}, text)
}

// marked are the marks of a text, or Output when it has none.
func marked(text string) string {
	kept := strings.Map(func(r rune) rune {
		if strings.ContainsRune(Marks, r) {
			return r
		}
		return -1
	}, text)
	if kept == "" {
		return Output
	}
	return kept[:min(len(kept), len(Marks))]
}

// Short reports whether a call has a one-letter option, alone or among others: rm -fr.
func (c Call) Short(letters string) bool {
	return slices.ContainsFunc(c.Args, func(arg string) bool {
		return isShort(arg) && strings.ContainsAny(arg[1:], letters)
	})
}

// isShort reports whether an argument is one or more options of one letter.
func isShort(arg string) bool { return len(arg) > 1 && arg[0] == '-' && arg[1] != '-' }

// Operands are the arguments that are not options. The value of an option is one of them.
func (c Call) Operands() []string {
	var list []string
	for i, arg := range c.Args {
		switch {
		case arg == "--":
			return append(list, c.Args[i+1:]...)
		case len(arg) < 2 || arg[0] != '-':
			list = append(list, arg)
		}
	}
	return list
}

// Starts are the directories that find searches.
func (c Call) Starts() []string {
	end := slices.IndexFunc(c.Args, func(arg string) bool { return strings.HasPrefix(arg, "-") || arg == "(" || arg == "!" })
	if end < 0 {
		end = len(c.Args)
	}
	if end == 0 {
		return []string{"."}
	}
	return c.Args[:end]
}

// Path is a path from the root; a path with a mark at its start stays unchanged.
func (c Call) Path(name string) string { return Absolute(c.Dir, name) }

// Absolute is the path of name, seen from a directory.
func Absolute(dir, name string) string {
	switch {
	case name == "" || strings.ContainsAny(name[:min(len(name), 3)], Marks):
		return name
	case path.IsAbs(name):
		return path.Clean(name)
	case dir == "" || strings.ContainsAny(dir, Marks):
		return Unknown + "/" + name
	}
	return path.Join(dir, name)
}

func program(word string) string {
	name := strings.TrimSuffix(strings.ToLower(path.Base(strings.TrimPrefix(word, `\`))), ".exe")
	if strings.HasPrefix(name, "mkfs.") {
		return "mkfs"
	}
	if plain := strings.TrimRight(name, "0123456789."); plain == "python" || plain == "pypy" || plain == "pip" {
		return plain
	}
	return name
}
