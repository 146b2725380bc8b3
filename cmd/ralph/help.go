package main

import (
	"context"
	_ "embed" // the examples
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/local"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/session"
)

// commandGroups are the headings of commands in ralph --help.
var commandGroups = []kong.Group{
	{Key: "run", Title: "Run"}, {Key: "look", Title: "Look"}, {Key: "prepare", Title: "Prepare"},
	{Key: "github", Title: "GitHub"}, {Key: "tools", Title: "Tools"},
}

// printHelp prints the help of a command with its examples, or the list of all commands.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	if ctx.Selected() == nil {
		return overview(ctx)
	}
	describe(ctx.Model.Node)
	exemplify(ctx.Model.Node, "")
	return kong.DefaultHelpPrinter(options, ctx)
}

// overview prints the commands, a line each: what each can do is in its own help.
func overview(ctx *kong.Context) error {
	var b strings.Builder
	b.WriteString("Usage: ralph COMMAND [flags]\n       ralph \"PROMPT\" [flags]\n\n" +
		"Runs a coding agent again and again until checks that ralph runs say that the\nwork is done.\n")
	for _, group := range commandGroups {
		fmt.Fprintf(&b, "\n%s\n", group.Title)
		for _, c := range ctx.Model.Children {
			if !c.Hidden && c.Group != nil && c.Group.Key == group.Key {
				fmt.Fprintf(&b, "  %-10s  %s\n", c.Name, firstClause(c.Help))
			}
		}
	}
	b.WriteString("\nralph COMMAND --help shows more; ralph --version prints the version.\n")
	_, err := io.WriteString(ctx.Stdout, b.String())
	return err
}

func firstClause(help string) string {
	for _, end := range []string{": ", "; ", ". "} {
		help, _, _ = strings.Cut(help, end)
	}
	return strings.TrimSuffix(help, ".")
}

// describe replaces "{maxTokens}" in the help of flags by the sentence of that setting.
func describe(n *kong.Node) {
	var sentences []string
	for key, sentence := range config.Sentences() {
		sentences = append(sentences, "{"+key+"}", sentence)
	}
	describeBy(n, strings.NewReplacer(sentences...))
}

func describeBy(n *kong.Node, sentences *strings.Replacer) {
	for _, f := range n.Flags {
		f.Help = sentences.Replace(f.Help)
	}
	for _, child := range n.Children {
		describeBy(child, sentences)
	}
}

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

// exemplify adds the examples of a command, and of those below it, to their help.
func exemplify(n *kong.Node, path string) {
	if lines := examplesOf(path); lines != "" {
		n.Detail = strings.TrimSpace(n.Detail + "\n\nExamples:\n\n    " + strings.ReplaceAll(lines, "\n", "\n    "))
	}
	for _, child := range n.Children {
		exemplify(child, strings.TrimSpace(path+" "+child.Name))
	}
}

const firstCommands = `ralph runs a coding agent again and again until checks that it runs itself say
that the work is done.

  ralph doctor                    what is here: agents, checks, sandbox
  ralph init                      write the settings of this repository
  ralph "fix the failing test"    work here until the checks pass
  ralph run --issue issue.md      work on an issue, on a branch of its own
  ralph status                    how the newest run stands

`

// firstScreen is what ralph without arguments prints: what it is, the first commands, and what is in this directory.
func firstScreen(ctx context.Context, p process) error {
	top := session.Top(p.dir)
	text := firstCommands + "Directory  " + safetext.OneLine(top) + "\n"
	if layers, err := session.SettingsFiles(top, p.environ); err != nil {
		text += "Settings   " + safetext.OneLine(err.Error()) + "\n"
	} else if len(layers) > 0 {
		names := safetext.Map(layers, func(l config.Layer) string { return l.Name })
		text += "Settings   " + safetext.OneLine(strings.Join(names, ", ")) + "\n"
	}
	if s, err := p.session(); err == nil {
		if st, err := (&local.Status{Session: s}).Look(ctx); err == nil && st.State != "none" {
			text += "Newest run " + safetext.Inert(st.Line()) + "\n"
		}
	}
	_, err := io.WriteString(p.out, text+"\nEverything else: ralph --help\n")
	return err
}
