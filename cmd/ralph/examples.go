package main

import (
	_ "embed" // the examples
	"strings"

	"github.com/alecthomas/kong"
)

// examples are the lines to show in the help of each command, below "== " and its name.
//
//go:embed examples.txt
var examples string

// examplesOf are the lines of a command, such as "plan run"; empty for one that only has others below it.
func examplesOf(command string) string {
	_, lines, _ := strings.Cut("\n"+examples, "\n== "+command+"\n")
	lines, _, _ = strings.Cut(lines, "\n== ")
	return strings.TrimSpace(lines)
}

// exemplify adds the examples of a command, and of those below it, to what its help tells.
func exemplify(n *kong.Node, path string) {
	if lines := examplesOf(path); lines != "" {
		n.Detail = strings.TrimSpace(n.Detail + "\n\nExamples:\n\n    " + strings.ReplaceAll(lines, "\n", "\n    "))
	}
	for _, child := range n.Children {
		exemplify(child, strings.TrimSpace(path+" "+child.Name))
	}
}
