package hook

import (
	"strings"

	"mvdan.cc/sh/v3/expand"
)

var shells = map[string]bool{"sh": true, "bash": true, "dash": true, "zsh": true, "ksh": true, "ash": true, "mksh": true, "fish": true, "rbash": true}

// builtins are the commands of the shell that change what follows, or run something.
var builtins map[string]func(*script, command, *scope)

func init() { // they lead back to script.run, which reads them
	builtins = map[string]func(*script, command, *scope){
		"cd": changeDir, "pushd": changeDir,
		"set": setArgs, "shift": shiftArgs, "unset": unset, "read": readVars,
		"eval":   func(s *script, cmd command, c *scope) { s.nested(strings.Join(cmd.args, " "), cmd.in, c) },
		"source": source, ".": source,
		"trap": func(s *script, cmd command, c *scope) {
			if ops := cmd.operands("-s"); len(ops) > 1 {
				s.nested(ops[0], "", c.clone())
			}
		},
		"alias": func(s *script, cmd command, c *scope) {
			for _, arg := range cmd.args {
				if _, text, ok := strings.Cut(arg, "="); ok {
					s.nested(text, "", c.clone())
				}
			}
		},
		"printf": func(s *script, cmd command, c *scope) {
			if len(cmd.args) > 2 && cmd.args[0] == "-v" {
				c.vars[cmd.args[1]] = text(printed(cmd.args[2:]))
			}
		},
	}
}

func changeDir(_ *script, cmd command, c *scope) {
	switch ops := cmd.operands(); {
	case len(ops) == 0 && cmd.name == "cd":
		c.cwd = cmd.world.Home
		if len(cmd.args) > 0 && cmd.args[0] == "-" {
			c.cwd = unknown
		}
	case len(ops) > 0 && ops[0] == "-":
		c.cwd = unknown
	case len(ops) > 0:
		c.cwd = absolute(c.cwd, ops[0])
	}
}

func setArgs(_ *script, cmd command, c *scope) {
	for i, arg := range cmd.args {
		if arg == "--" {
			c.args = cmd.args[i+1:]
			return
		}
		if !strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "+") {
			c.args = cmd.args[i:]
			return
		}
	}
}

func shiftArgs(_ *script, _ command, c *scope) {
	if len(c.args) > 0 && c.args[0] != unknown {
		c.args = c.args[1:]
	}
}

func unset(_ *script, cmd command, c *scope) {
	for _, name := range cmd.operands() {
		c.vars[name] = expand.Variable{}
		delete(c.funcs, name)
	}
}

// readVars takes up what is read from a text that is known.
func readVars(_ *script, cmd command, c *scope) {
	names := cmd.operands("-p", "-d", "-n", "-N", "-t", "-u", "-i")
	line, _, _ := strings.Cut(cmd.in, "\n")
	fields := strings.Fields(line)
	for i, name := range names {
		switch {
		case cmd.in == "" || strings.ContainsAny(line, marks):
			c.vars[name] = text(marked(cmd.in))
		case i == len(names)-1 && i < len(fields):
			c.vars[name] = text(strings.Join(fields[i:], " "))
		case i < len(fields):
			c.vars[name] = text(fields[i])
		default:
			c.vars[name] = text("")
		}
	}
}

func source(s *script, cmd command, c *scope) {
	if len(cmd.args) > 0 {
		s.sourced(cmd, cmd.args[0], c)
	}
}
