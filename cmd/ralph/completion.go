package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/hook"
)

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help is the long help of ralph completion.
func (completionCommand) Help() string {
	return "For the shell you are in: source <(ralph completion bash), the same with zsh, or ralph completion fish | " +
		"source. " +
		"Put that line into ~/.bashrc, ~/.zshrc or ~/.config/fish/config.fish to keep it."
}

// Run implements ralph completion.
func (c *completionCommand) Run(k *kong.Kong, p process) error {
	describe(k.Model.Node, config.Sentences())
	words := completions(k.Model.Node, "")
	switch c.Shell {
	case "fish":
		return fish(p.out, words)
	case "zsh":
		if _, err := io.WriteString(p.out, zshBegins); err != nil {
			return err
		}
	}
	return bash(p.out, words)
}

// zshBegins takes up the completion of zsh, unless someone has, and in it that of bash.
const zshBegins = "(( $+functions[compdef] )) || { autoload -U compinit && compinit -i; }\n" +
	"autoload -U +X bashcompinit && bashcompinit\n"

// completable is what may follow one command: the words, and for each what it means.
type completable struct {
	command string // "settings show"; empty for ralph itself
	parent  bool   // it has commands of its own, one of which has to follow
	words   []word
}

type word struct {
	text, help string
	file       bool   // a value follows, which may be a file
	values     string // what that value may be; a command of the shell in parentheses prints it
}

// taskIDs prints the ids of the tasks that are kept in a clone, in bash, zsh and fish.
const taskIDs = `(ls "$(git rev-parse --show-toplevel 2>/dev/null)/.ralph/tasks" 2>/dev/null | sed "s/\.[^.]*\$//")`

// valuesOf are the values that a flag or an argument may have, as far as they are known.
func valuesOf(command string, v *kong.Value) string {
	switch name := v.Name; {
	case v.IsBool():
	case name == "agent" && command == "hook install":
		return strings.Join(hook.Agents, " ")
	case name == "agent":
		return "claude codex amp gemini opencode"
	case name == "gateway":
		return "auto require off"
	case name == "sandbox":
		return "auto bwrap landlock container docker-sandbox require off"
	case name == "task", name == "id" && strings.HasPrefix(command, "task "):
		return taskIDs
	}
	return ""
}

// completions lists what may follow each command below a node.
func completions(n *kong.Node, command string) []completable {
	here := completable{command: command, parent: len(n.Children) > 0}
	for _, f := range n.Flags {
		if f.Hidden {
			continue
		}
		here.words = append(here.words, word{"--" + f.Name, f.Help, !f.IsBool(), valuesOf(command, f.Value)})
		if f.Short != 0 {
			here.words = append(here.words, word{"-" + string(f.Short), f.Help, !f.IsBool(), valuesOf(command, f.Value)})
		}
		if f.Tag.Negatable != "" {
			here.words = append(here.words, word{text: "--no-" + f.Name, help: f.Help})
		}
	}
	for _, a := range n.Positional {
		for _, value := range a.EnumSlice() {
			if value == "" {
				continue
			}
			here.words = append(here.words, word{text: value, help: a.Help})
		}
		if values := valuesOf(command, a); values != "" {
			here.words = append(here.words, word{help: a.Help, values: values})
		}
	}
	all := []completable{here}
	for _, child := range n.Children {
		if child.Hidden {
			continue
		}
		all[0].words = append(all[0].words, word{text: child.Name, help: child.Help})
		all = append(all, completions(child, strings.TrimSpace(command+" "+child.Name))...)
	}
	return all
}

// bash writes a function that knows the words of each command by the longest command that the line begins with.
func bash(to io.Writer, all []completable) error {
	var b strings.Builder
	b.WriteString("_ralph() {\n\tlocal line=\"${COMP_WORDS[*]:1:$((COMP_CWORD - 1))} \" current=\"${COMP_WORDS[COMP_CWORD]}\" " +
		"words\n" +
		"\tcase \"$line\" in\n")
	for _, c := range slices.Backward(all) { // the longest commands first, and of each the flags whose values are known
		for _, w := range c.words {
			if w.values != "" && w.text != "" {
				fmt.Fprintf(&b, "\t'%s '*'%s ') words=%s ;;\n", c.command, w.text, bashWords(w.values))
			}
		}
		pattern := "*"
		if c.command != "" {
			pattern = "'" + c.command + " '*"
		}
		fmt.Fprintf(&b, "\t%s) words=%s ;;\n", pattern, texts(c.words))
	}
	b.WriteString("\tesac\n\tCOMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n}\ncomplete -o default -o " +
		"bashdefault -F _ralph ralph\n")
	_, err := io.WriteString(to, b.String())
	return err
}

// texts are words as bash takes them up.
func texts(words []word) string {
	var plain []string
	more := ""
	for _, w := range words {
		if w.text == "" {
			more += `" "` + bashWords(w.values)
			continue
		}
		plain = append(plain, w.text)
	}
	return "'" + strings.Join(plain, " ") + "'" + more
}

// bashWords are values as bash takes them up.
func bashWords(values string) string {
	if strings.HasPrefix(values, "(") {
		return `"$` + values + `"`
	}
	return "'" + values + "'"
}

// fishAt says where a word may stand: below a command, or right behind one that has commands of its own ("only").
const fishAt = `function __ralph_at
	set -l words (commandline -opc)
	set -e words[1]
	test "$argv[1]" = only; and test (count $words) -ge (count $argv); and return 1
	set -e argv[1]
	set -l most (count $argv)
	test (count $words) -ge $most; or return 1
	test $most -eq 0; or test "$words[1..$most]" = "$argv"
end
`

// fish writes one line a word.
func fish(to io.Writer, all []completable) error {
	var b strings.Builder
	b.WriteString(fishAt)
	for _, c := range all {
		when := strings.TrimSpace("__ralph_at below " + c.command)
		if c.parent {
			when = strings.TrimSpace("__ralph_at only " + c.command)
		}
		for _, w := range c.words {
			b.WriteString("complete -c ralph -n " + quoted(when))
			switch name, long := strings.CutPrefix(w.text, "--"); {
			case w.text == "":
				b.WriteString(" -f -a " + quoted(w.values))
			case long:
				b.WriteString(" -l " + name)
			case strings.HasPrefix(w.text, "-"):
				b.WriteString(" -s " + w.text[1:])
			default:
				b.WriteString(" -f -a " + w.text)
			}
			switch {
			case w.file && w.values != "":
				b.WriteString(" -x -a " + quoted(w.values))
			case w.file:
				b.WriteString(" -r")
			}
			b.WriteString(" -d " + quoted(w.help) + "\n")
		}
	}
	_, err := io.WriteString(to, b.String())
	return err
}

// quoted is a text for fish.
func quoted(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'"
}
