package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

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

// completionScripts ask ralph complete for the words.
var completionScripts = map[string]string{
	"bash": `_ralph() {
	local IFS=$'\n'
	COMPREPLY=($(ralph complete -- "${COMP_WORDS[@]:1:$COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -o bashdefault -F _ralph ralph
`,
	"fish": `function __ralph
	set -l words (commandline -opc)
	ralph complete -- $words[2..] (commandline -ct) 2>/dev/null
end
complete -c ralph -n 'test -n "$(__ralph)"' -f -a '(__ralph)'
`,
}

// Run implements ralph completion. In zsh, the script of bash is used, and the completion system is started if no one
// has.
func (c *completionCommand) Run(p process) error {
	script := completionScripts[c.Shell]
	if c.Shell == "zsh" {
		script = "(( $+functions[compdef] )) || { autoload -U compinit && compinit -i; }\n" +
			"autoload -U +X bashcompinit && bashcompinit\n" + completionScripts["bash"]
	}
	_, err := io.WriteString(p.out, script)
	return err
}

// completeCommand prints what can be the last of the words of a command line, a line each: the word, a tab, what it
// means.
type completeCommand struct {
	Words []string `arg:"" passthrough:""`
}

// Run implements ralph complete.
func (c *completeCommand) Run(ctx context.Context, k *kong.Kong, p process) error {
	words := c.Words
	if words[0] == "--" {
		words = words[1:]
	}
	if len(words) == 0 {
		return nil
	}
	describe(k.Model.Node)
	var b strings.Builder
	last := len(words) - 1
	o := offers(func() []string { return tasks(p, false).IDs(ctx) })
	o.offer(k.Model.Node, words[:last], func(word, help string) {
		if strings.HasPrefix(word, words[last]) {
			fmt.Fprintf(&b, "%s\t%s\n", word, help)
		}
	})
	_, err := io.WriteString(p.out, b.String())
	return err
}

// offers are what words can be, given the ids of the clone's tasks.
type offers func() (taskIDs []string)

// offer offers what can follow words: the values of a flag, or the flags, arguments and commands of the command.
func (o offers) offer(n *kong.Node, words []string, do func(word, help string)) {
	for i, word := range words {
		for _, child := range n.Children {
			if child.Name == word && !child.Hidden {
				n = child
			}
		}
		for _, f := range n.Flags {
			if i == len(words)-1 && (word == "--"+f.Name || word == "-"+string(f.Short)) && !f.IsBool() {
				for _, value := range o.values(n, f.Value) {
					do(value, f.Help)
				}
				return
			}
		}
	}
	for _, f := range n.Flags {
		if f.Hidden {
			continue
		}
		do("--"+f.Name, f.Help)
		if f.Short != 0 {
			do("-"+string(f.Short), f.Help)
		}
		if f.Tag.Negatable != "" {
			do("--no-"+f.Name, f.Help)
		}
	}
	for _, a := range n.Positional {
		for _, value := range o.values(n, a) {
			do(value, a.Help)
		}
	}
	for _, child := range n.Children {
		if !child.Hidden {
			do(child.Name, child.Help)
		}
	}
}

// values are the values that a flag or an argument can have, as far as they are known.
func (o offers) values(n *kong.Node, v *kong.Value) []string {
	switch name := v.Name; {
	case name == "agent" && n.Name == "install":
		return hook.Agents
	case name == "agent":
		return []string{"claude", "codex", "amp", "gemini", "opencode"}
	case name == "gateway":
		return []string{"auto", "require", "off"}
	case name == "sandbox":
		return []string{"auto", "bwrap", "landlock", "container", "docker-sandbox", "require", "off"}
	case name == "task", name == "id" && n.Parent.Name == "task":
		return o()
	case v.Enum != "":
		return v.EnumSlice()
	}
	return nil
}
