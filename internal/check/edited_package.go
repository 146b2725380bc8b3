package check

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// manifest is a file with named scripts.
type manifest struct{ file, key string }

// known are what a program of packages does by itself, whatever scripts there are.
var known = strings.Fields("install i ci add remove rm uninstall update upgrade up exec dlx x create init publish pack link audit outdated config info why cache version login logout ls list view npx set workspace workspaces help")

// packageScript follows a script of package.json, composer.json or deno.json, with what runs before and after it.
func (r *reach) packageScript(program string, args []string, dir string, step int) {
	m := manifest{"package.json", "scripts"}
	switch program {
	case "npm", "yarn", "pnpm", "bun":
	case "composer":
		m.file = "composer.json"
	case "deno":
		m = manifest{"deno.json", "tasks"}
	default:
		return
	}
	var words []string
	for i := 0; i < len(args) && args[i] != "--"; i++ {
		flag, value, joined := strings.Cut(args[i], "=")
		switch {
		case slices.Contains([]string{"--prefix", "--cwd", "-C", "--dir", "-d", "--working-dir"}, flag):
			if !joined && i+1 < len(args) {
				i++
				value = args[i]
			}
			to, ok := inTree(dir, value)
			if !ok {
				return
			}
			dir = to
		case strings.HasPrefix(args[i], "-"):
		default:
			words = append(words, args[i])
		}
	}
	if name := scriptName(program, words); name != "" {
		r.scripts(m, dir, name, step)
	}
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

func (r *reach) scripts(m manifest, dir, name string, step int) {
	file, ok := inTree(dir, m.file)
	if !ok || step > maxSteps || !r.first("scripts", file, name) {
		return
	}
	text, ok := r.base(file)
	if !ok {
		return
	}
	before := m.read(text)
	after := before
	if r.d.named[file] {
		text, _ := r.head(file)
		after = m.read(text)
	}
	r.scriptShell(strings.TrimSuffix(file, m.file) + ".npmrc")
	for _, each := range []string{"pre" + name, name, "post" + name} {
		if before[name] == nil {
			return
		}
		if !bytes.Equal(before[each], after[each]) {
			r.foundRecipe(file, "the script %s in %s was changed", quote(each), shownName(file))
		}
		var line string
		var lines []string
		if json.Unmarshal(before[each], &line) == nil {
			lines = []string{line}
		} else if json.Unmarshal(before[each], &lines) != nil {
			continue
		}
		for _, line := range lines {
			r.line(strings.ReplaceAll(line, "@composer ", "composer "), []string{dir}, step+1)
		}
	}
}

// scriptShell looks for a program that runs the scripts in the place of the shell.
func (r *reach) scriptShell(file string) {
	if !r.d.named[file] || !r.first("shell", file) {
		return
	}
	was, _ := r.base(file)
	if now, _ := r.head(file); strings.Contains(now, "script-shell") && was != now {
		r.foundRecipe(file, "the shell in %s was changed", shownName(file))
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
