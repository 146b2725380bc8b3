package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

var update = flag.Bool("update", false, "write docs/cli.md")

const cliIntro = `# Commands and flags

This page is generated from ` + "`ralph COMMAND --help`" + `; ` + "`--version`" + ` prints the version. A flag that
mirrors a [setting](settings.md#every-key) overrides every file.
`

// TestCommandsAreDocumented: docs/cli.md is what the grammar says.
func TestCommandsAreDocumented(t *testing.T) {
	parser, err := kong.New(&cli{}, kong.Name("ralph"), kong.Vars{"version": version})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	describe(parser.Model.Node)
	b.WriteString(cliIntro)
	documentCommand(&b, parser.Model.Node, "ralph")
	const file = "../../docs/cli.md"
	old, err := os.ReadFile(file)
	if err == nil && string(old) == b.String() {
		return
	}
	if !*update {
		t.Fatalf("%s is not what the grammar says; write it with: go test ./cmd/ralph -run CommandsAreDocumented -update",
			file)
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil { //nolint:gosec // not a secret
		t.Fatal(err)
	}
}

// documentCommand writes a command and those below it.
func documentCommand(b *strings.Builder, n *kong.Node, path string) {
	if n.Type == kong.CommandNode && (n.Leaf() || len(n.Flags) > 0) {
		fmt.Fprintf(b, "\n## %s\n\n%s\n", path, inMarkdown(n.Help))
		if n.Detail != "" {
			fmt.Fprintf(b, "\n%s\n", inMarkdown(n.Detail))
		}
		if lines := examplesOf(strings.TrimPrefix(path, "ralph ")); lines != "" {
			fmt.Fprintf(b, "\n```sh\n%s\n```\n", lines)
		}
	}
	var rows []string
	for _, arg := range n.Positional {
		rows = append(rows, fmt.Sprintf("| `%s` | | %s |", arg.Summary(), inMarkdown(arg.Help)))
	}
	for _, f := range n.Flags {
		if !f.Hidden {
			rows = append(rows, fmt.Sprintf("| %s | %s | %s |", flagSpelling(f), flagDefault(f), inMarkdown(f.Help)))
		}
	}
	if len(rows) > 0 && n.Type == kong.CommandNode {
		fmt.Fprintf(b, "\n| flag or argument | default | meaning |\n|---|---|---|\n%s\n", strings.Join(rows, "\n"))
	}
	for _, child := range n.Children {
		if !child.Hidden {
			documentCommand(b, child, path+" "+child.Name)
		}
	}
}

// flagSpelling is a flag as it is typed: `-m`, `--maximum-iterations=N`.
func flagSpelling(f *kong.Flag) string {
	spelled := "`--" + f.Name
	if f.Tag.Negatable != "" {
		spelled = "`--[no-]" + f.Name
	}
	if !f.IsBool() {
		spelled += "=" + f.FormatPlaceHolder()
	}
	spelled += "`"
	if f.Short != 0 {
		spelled = fmt.Sprintf("`-%c`, %s", f.Short, spelled)
	}
	for _, alias := range f.Aliases {
		spelled += ", `--" + alias + "`"
	}
	return strings.ReplaceAll(spelled, "|", `\|`)
}

func flagDefault(f *kong.Flag) string {
	if !f.HasDefault {
		return ""
	}
	return "`" + f.Default + "`"
}

// inMarkdown keeps a text from being read as HTML or as another cell.
func inMarkdown(text string) string {
	return strings.NewReplacer("<", `\<`, "|", `\|`, "*", `\*`).Replace(text)
}
