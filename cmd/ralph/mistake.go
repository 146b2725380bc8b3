package main

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// kongWords are kong's errors, and ours for them: what failed, what it must be, and no types of Go. {ralph} is the
// command.
var kongWords = []struct{ kong, ours string }{
	{`^(--\S+): expected \w+ value but got "EOL".*`, `flag $1 has no value; pass one after it`},
	{`^(--\S+): expected \w+ value but got ("[^"]*") \([a-z ]+\); perhaps try (.*)\?$`,
		`flag $1 has no value, and $2 looks like a flag; to pass a value that starts with a dash, write $3`},
	{`^(--\S+): expected a valid \d+ bit u?int but got (.*)$`, `invalid $1 $2: must be a whole number`},
	{`^(--\S+): expected a float but got (.*) \(.*$`, `invalid $1 $2: must be a number`},
	{`^(--\S+): expected duration but got ("[^"]*").*`, `invalid $1 $2: must be a duration, such as 90s, 10m or 1h30m`},
	{`^(--\S+): bool value must be .* but got (.*)$`, `invalid $1 $2: must be true or false`},
	{`^(--\S+): (".*": must be .*)$`, `invalid $1 $2`},
	{`^(--\S+) and (--\S+) can't be used together$`, `$1 and $2 exclude each other`},
	{`^(\S+) must be one of (\S+) but got (".*")$`, `invalid $1 $3: must be one of $2`},
	{`^expected "(<.*)"$`, `{ralph} needs $1`},
	{`^expected .*`, `{ralph} needs a command: {commands}`},
	{`^missing flags: (.*)$`, `{ralph} needs $1`},
	{`, did you mean .*`, ``}, // kong takes any flag of one letter for a near one
}

// mistake is kong's error as a sentence of ours. at is the command that it is about.
func mistake(err error, at *kong.Node) string {
	said := err.Error()
	for _, w := range kongWords {
		if kong := regexp.MustCompile(w.kong); kong.MatchString(said) {
			said = kong.ReplaceAllString(said, w.ours)
			break
		}
	}
	return strings.NewReplacer("{ralph}", strings.TrimPrefix(at.FullPath(), "ralph "), "{commands}", strings.Join(commandNames(at), ", ")).Replace(said) +
		suggestion(said, at)
}

func commandNames(n *kong.Node) (names []string) {
	for _, c := range n.Children {
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	return names
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

// suggestion names the command or the flag that an unknown one is most like.
func suggestion(said string, at *kong.Node) string {
	if flag := regexp.MustCompile(`^unknown flag --(\S+)`).FindStringSubmatch(said); flag != nil {
		var names []string
		for _, f := range at.Flags {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		}
		return meant("--", safetext.Nearest(flag[1], names))
	}
	if word := regexp.MustCompile(`^unexpected argument ([^\s;]+)`).FindStringSubmatch(said); word != nil {
		return meant(at.FullPath()+" ", safetext.Nearest(word[1], commandNames(at)))
	}
	return ""
}

func meant(before, name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", before+name)
}

// misread reports that a command line cannot be read, and names the help of the command that it is about. If it asks
// for JSON, that is on standard output.
func misread(err error, args []string, at *kong.Node, out, stderr io.Writer) int {
	if wrong, ok := errors.AsType[*kong.ParseError](err); ok && wrong.Context != nil {
		for _, step := range wrong.Context.Path {
			if step.Command != nil {
				at = step.Command
			}
		}
		if at.DefaultCmd != nil {
			at = at.DefaultCmd
		}
	}
	code, told := loop.Invalid.ExitCode(), mistake(err, at)+"; see "+at.FullPath()+" --help"
	fmt.Fprintln(stderr, "ralph:", told)
	if asksForJSON(args) {
		_, _ = out.Write(plainJSON(newResultJSON(loop.Result{Outcome: loop.Invalid}, code, errors.New(told))))
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
