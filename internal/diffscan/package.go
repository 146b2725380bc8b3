package diffscan

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"
	"strings"
)

// manifest is a file with named scripts.
type manifest struct{ file, key string }

// known are what a program of packages does by itself, whatever scripts there are.
var known = strings.Fields("install i ci add remove rm uninstall update upgrade up exec dlx x create init publish " +
	"pack link audit outdated config info why cache version login logout ls list view npx set workspace workspaces help")

// scriptCall asks a program of packages for a script.
type scriptCall struct {
	manifest
	dir, name string
}

// directoryFlags say where such a program works.
var directoryFlags = []string{"--prefix", "--cwd", "-C", "--dir", "-d", "--working-dir"}

// scriptCallOf reads a call for a script of package.json, composer.json or deno.json; ok is false when it is none, or
// leads out of the tree.
func scriptCallOf(program string, args []string, dir string) (c scriptCall, ok bool) {
	c = scriptCall{manifest: manifest{"package.json", "scripts"}, dir: dir}
	switch program {
	case "npm", "yarn", "pnpm", "bun":
	case "composer":
		c.file = "composer.json"
	case "deno":
		c.manifest = manifest{"deno.json", "tasks"}
	default:
		return c, false
	}
	var words []string
	for i := 0; i < len(args) && args[i] != "--"; i++ {
		flag, value, joined := strings.Cut(args[i], "=")
		switch {
		case slices.Contains(directoryFlags, flag):
			if !joined && i+1 < len(args) {
				i++
				value = args[i]
			}
			if c.dir, ok = inTree(c.dir, value); !ok {
				return c, false
			}
		case strings.HasPrefix(args[i], "-"):
		default:
			words = append(words, args[i])
		}
	}
	c.name = scriptName(program, words)
	return c, c.name != ""
}

// scriptName is the script that the words of a command ask for, empty when they ask for none.
func scriptName(program string, words []string) string {
	switch {
	case len(words) == 0:
		return ""
	case words[0] == "run" || words[0] == "run-script" || program == "deno" && words[0] == "task":
		if len(words) > 1 {
			return words[1]
		}
		return ""
	case program == "npm" && (words[0] == "t" || words[0] == "tst"):
		return "test"
	case program == "npm":
		if !slices.Contains([]string{"test", "start", "stop", "restart"}, words[0]) {
			return ""
		}
	case program == "bun" || program == "deno" || slices.Contains(known, words[0]):
		return ""
	}
	return words[0]
}

// scripts notes a script that was edited, and what runs before and after it, and gives the lines of each as they were,
// for a shell.
func (r *tracer) scripts(c scriptCall) iter.Seq[string] {
	return func(follow func(string) bool) {
		file, ok := inTree(c.dir, c.file)
		if !ok || !r.first("scripts", file, c.name) {
			return
		}
		text, ok := r.base(file)
		if !ok {
			return
		}
		before := c.read(text)
		after := before
		if r.d.named[file] {
			text, _ := r.head(file)
			after = c.read(text)
		}
		r.scriptShell(strings.TrimSuffix(file, c.file) + ".npmrc")
		if before[c.name] == nil {
			return
		}
		for _, each := range []string{"pre" + c.name, c.name, "post" + c.name} {
			if !bytes.Equal(before[each], after[each]) {
				r.found(EditedFile{File: file, Part: "the script " + quote(each)})
			}
			for _, line := range scriptLines(before[each]) {
				if !follow(strings.ReplaceAll(line, "@composer ", "composer ")) {
					return
				}
			}
		}
	}
}

// scriptLines are the lines of a script, which is one line or a list.
func scriptLines(script json.RawMessage) []string {
	var line string
	if json.Unmarshal(script, &line) == nil {
		return []string{line}
	}
	var lines []string
	if json.Unmarshal(script, &lines) != nil {
		return nil
	}
	return lines
}

// scriptShell looks for a program that runs the scripts in the place of the shell.
func (r *tracer) scriptShell(file string) {
	if !r.d.named[file] || !r.first("shell", file) {
		return
	}
	was, _ := r.base(file)
	if now, _ := r.head(file); strings.Contains(now, "script-shell") && was != now {
		r.found(EditedFile{File: file, Part: "the shell"})
	}
}

// read gives the scripts of a file, none when it cannot be read.
func (m manifest) read(text string) map[string]json.RawMessage {
	var all map[string]json.RawMessage
	var scripts map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &all) != nil || json.Unmarshal(all[m.key], &scripts) != nil {
		return nil
	}
	for name, script := range scripts {
		var b bytes.Buffer
		if json.Compact(&b, script) == nil {
			scripts[name] = b.Bytes()
		}
	}
	return scripts
}
