package main

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
	"github.com/alecthomas/kong"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// kongWords are how kong says what is wrong with a command line, and how we do: with what is allowed, and without the
// types of Go.
var kongWords = []struct{ kong, ours string }{
	{`^(--\S+): expected \w+ value but got "EOL".*`, `flag $1 has no value: give one after it`},
	{`^(--\S+): expected \w+ value but got ("[^"]*") \([a-z ]+\); perhaps try (.*)\?$`,
		`flag $1 has no value, and $2 looks like a flag: for a value that begins with a dash, write $3`},
	{`^(--\S+): expected a valid \d+ bit u?int but got (.*)$`, `flag $1 is $2; allowed is a whole number`},
	{`^(--\S+): expected a float but got (.*) \(.*$`, `flag $1 is $2; allowed is a number`},
	{`^(--\S+): expected duration but got ("[^"]*").*`,
		`flag $1 is $2; allowed is a time such as "90s", "10m" or "1h30m"`},
	{`^(--\S+): bool value must be .* but got (.*)$`, `flag $1 is $2; allowed are true and false`},
}

// mistake is kong's error as a sentence of ours.
func mistake(err error) string {
	said := err.Error()
	for _, w := range kongWords {
		if kong := regexp.MustCompile(w.kong); kong.MatchString(said) {
			return kong.ReplaceAllString(said, w.ours)
		}
	}
	return said
}

// spelledOut are the arguments with the flags that "ralph help" and "ralph version" stand for.
func spelledOut(args []string) []string {
	switch {
	case len(args) > 0 && args[0] == "help":
		return append(slices.Clone(args[1:]), "--help")
	case len(args) == 1 && args[0] == "version":
		return []string{"--version"}
	}
	return args
}

// strayWords refuses words that no command has taken: alone they are a prompt only with white space in them, which no
// misspelt command has.
func strayWords(args []string, command *kong.Context) error {
	g, _ := command.Model.Target.Addr().Interface().(*cli)
	if g == nil || len(g.Run.Text) == 0 || args[0] == "run" || slices.Contains(args, "--") {
		return nil
	}
	for i, word := range g.Run.Text {
		if i > 0 || !strings.ContainsAny(word, " \t\n") {
			return fmt.Errorf("unexpected argument %s; a prompt of words stands in quotes, or after ralph run",
				safetext.Shorten(word, 80))
		}
	}
	return nil
}

// suggestion names the command or the flag that somebody may have meant who wrote one that is none.
func suggestion(args []string, err error, n *kong.Node) string {
	if len(args) == 0 || strings.Contains(err.Error(), "did you mean") {
		return ""
	}
	if flag := regexp.MustCompile(`^unknown flag (--\S+)`).FindStringSubmatch(err.Error()); flag != nil {
		return nearestFlag(flag[1], err, n)
	}
	if strings.HasPrefix(args[0], "-") || strings.ContainsAny(args[0], " \t\n") {
		return ""
	}
	names := make([]string, 0, len(n.Children))
	for _, c := range n.Children {
		if c.Name == args[0] {
			return ""
		}
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	return meant("ralph ", nearest(args[0], names))
}

// nearestFlag looks among those of the command that was named, or of run, which is what no name stands for.
func nearestFlag(written string, err error, n *kong.Node) string {
	var wrong *kong.ParseError
	if errors.As(err, &wrong) && wrong.Context != nil && wrong.Context.Selected() != nil {
		n = wrong.Context.Selected()
	} else if n.DefaultCmd != nil {
		n = n.DefaultCmd
	}
	var names []string
	for _, f := range n.Flags {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	}
	return meant("--", nearest(strings.TrimPrefix(written, "--"), names))
}

// nearest is the name that a word is a misspelling of, or shorter for; empty: there is none.
func nearest(word string, names []string) string {
	best, least := "", 3
	for _, name := range names {
		d := levenshtein.Distance(word, name, nil)
		if d >= 3 && shortFor(word, name) {
			d = 2
		}
		if d < least {
			best, least = name, d
		}
	}
	return best
}

// shortFor reports whether a word has the letters of a name, in their order and with the same beginning, but not all.
func shortFor(word, name string) bool {
	if len(word) < 3 || !strings.HasPrefix(name, word[:3]) {
		return false
	}
	for _, letter := range word {
		_, rest, found := strings.Cut(name, string(letter))
		if !found {
			return false
		}
		name = rest
	}
	return true
}

func meant(before, name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", before+name)
}

// misread tells that a command line cannot be understood. Who asked for JSON gets it on standard output, whatever else
// is wrong.
func misread(err error, args []string, out, stderr io.Writer) int {
	code, told := loop.Invalid.ExitCode(), mistake(err)+"; see ralph --help"
	fmt.Fprintln(stderr, "ralph:", told)
	if asksForJSON(args) {
		if err := printResult(out, loop.Result{Outcome: loop.Invalid}, code, errors.New(told)); err != nil {
			fmt.Fprintln(stderr, "ralph: printing the outcome:", err)
		}
	}
	return code
}

// asksForJSON reports whether a command line that could not be read asks ralph run for JSON: run is named or nothing
// is.
func asksForJSON(args []string) bool {
	named := len(args) > 0 && args[0] != "run" && args[0][:min(1, len(args[0]))] != "-" &&
		!strings.ContainsAny(args[0], " \t\n")
	return !named && slices.ContainsFunc(args, func(arg string) bool { return arg == "--json" || arg == "--json=true" })
}
