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

// suggestion names the command that somebody may have meant whose first word is none.
func suggestion(args []string, n *kong.Node) string {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return ""
	}
	best, least := "", 3
	for _, c := range n.Children {
		if c.Name == args[0] {
			return ""
		}
		if d := levenshtein.Distance(args[0], c.Name, nil); !c.Hidden && d < least {
			best, least = c.Name, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", "ralph "+best)
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
	named := len(args) > 0 && args[0] != "run" && args[0][:min(1, len(args[0]))] != "-"
	return !named && slices.ContainsFunc(args, func(arg string) bool { return arg == "--json" || arg == "--json=true" })
}
