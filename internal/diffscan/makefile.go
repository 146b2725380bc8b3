package diffscan

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// makefile is what a file for make or just says, as far as a run of one target needs it.
type makefile struct {
	rules  map[string]*rule
	vars   map[string]string // every line that sets a variable, by its name
	global string            // what holds for every target
	first  string            // the target that is made when none is named
}

type rule struct {
	needs  []string
	head   string
	recipe []string
}

var makeFiles = map[string][]string{"just": {"justfile", "Justfile", ".justfile", "JUSTFILE"},
	"make": {"GNUmakefile", "makefile", "Makefile"}}

// makeCall is a call of make or just.
type makeCall struct {
	files, targets []string
	dir            string
	just           bool
}

// makeFlags are the options of make and just that take a value.
var makeFlags = []string{
	"-f", "-C", "--file", "--makefile", "--directory", "--justfile", "-d", "--working-directory", "-I", "-o", "-W",
}

// makeCallOf reads the arguments of make or just; ok is false when they lead out of the tree.
func makeCallOf(program string, args []string, dir string) (c makeCall, ok bool) {
	c = makeCall{files: makeFiles["make"], dir: dir, just: program == "just"}
	if c.just {
		c.files = makeFiles["just"]
	}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		flag, value, joined := cutFlag(arg)
		if slices.Contains(makeFlags, flag) && !joined && i+1 < len(args) {
			i++
			value = args[i]
		}
		switch {
		case flag == "-C" || flag == "--directory" || c.just && (flag == "-d" || flag == "--working-directory"):
			if c.dir, ok = inTree(c.dir, value); !ok {
				return c, false
			}
		case flag == "-f" || flag == "--file" || flag == "--makefile" || flag == "--justfile":
			c.files = []string{value}
		case strings.HasPrefix(arg, "-") || strings.Contains(arg, "="):
		default:
			c.targets = append(c.targets, arg)
		}
	}
	return c, true
}

func cutFlag(arg string) (flag, value string, joined bool) {
	if strings.HasPrefix(arg, "--") {
		return strings.Cut(arg, "=")
	}
	if len(arg) > 2 && (strings.HasPrefix(arg, "-C") || strings.HasPrefix(arg, "-f")) {
		return arg[:2], arg[2:], true
	}
	return arg, "", false
}

// recipes notes the recipes of a call that were edited, and gives the lines of each as they were, for a shell.
func (r *tracer) recipes(c makeCall) iter.Seq[string] {
	return func(follow func(string) bool) {
		if !r.first("make", c.dir, strings.Join(c.files, ":"), strings.Join(c.targets, ":")) {
			return
		}
		file, before := readMake(c, r.base)
		if file == "" {
			return
		}
		_, after := readMake(c, r.head)
		targets := c.targets
		if len(targets) == 0 {
			targets = []string{""}
		}
		for _, target := range targets {
			was, recipe := before.says(target)
			if is, _ := after.says(target); was != "" && is != was {
				r.found(EditedFile{File: file, Part: "the recipe of " + quote(cmp.Or(target, before.first))})
			}
			for _, line := range recipe {
				if !follow(line) {
					return
				}
			}
		}
	}
}

// readMake reads the first of the files that is there, and what it includes by name.
func readMake(c makeCall, read func(string) (string, bool)) (file string, m makefile) {
	m = makefile{rules: map[string]*rule{}, vars: map[string]string{}}
	for _, name := range c.files {
		to, ok := inTree(c.dir, name)
		if !ok {
			continue
		}
		text, ok := read(to)
		if !ok {
			continue
		}
		included := m.parse(text, c.just)
		for n := 0; len(included) > 0 && n < 20; n++ {
			next := included[0]
			included = included[1:]
			if to, ok := inTree(c.dir, next); ok {
				if text, ok := read(to); ok {
					included = append(included, m.parse(text, c.just)...)
				}
			}
		}
		return to, m
	}
	return "", m
}

var (
	setsVar    = lazy(`^\s*(?:(?:export|override|private)\s+)*([\w.-]+)\s*(?:::?:?|\?|\+|!)?=`)
	defines    = lazy(`^\s*define\s+([\w.-]+)`)
	includes   = lazy(`^\s*(?:-?include|sinclude|import)\s+(.*)$`)
	ruleHead   = lazy(`^([^\s:=#][^:=#]*?)\s*::?(?:$|\s*([^=:].*)?$)`)
	recipeHead = lazy(`^@?([\w-]+)(?:\s[^:]*)?:(?:$|\s*([^=].*)?$)`) // of just
	condition  = lazy(`^\s*(?:ifn?eq|ifn?def|else|endif)\b`)
	usesVar    = lazy(`\$[({]([\w.-]+)|\{\{\s*([\w-]+)|\$([A-Za-z])`)
	again      = lazy(`\$[({]MAKE[)}]|\bmake\b|\bjust\b`)
	globals    = lazy(`^(?:SHELL|\.SHELLFLAGS|MAKEFLAGS|\.DEFAULT_GOAL|\.ONESHELL|\.IGNORE|\.SILENT|\.POSIX|set)$`)
)

// parse adds what a file says, and returns the files that it includes.
func (m *makefile) parse(text string, just bool) (included []string) {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\\\n", " ")
	var rules []*rule // that the lines below belong to
	defining := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(clip(line), "\n")
		trimmed := strings.TrimSpace(line)
		indented := strings.HasPrefix(line, "\t") || just && strings.HasPrefix(line, " ")
		switch {
		case defining != "":
			m.vars[defining] += flat(line)
			if strings.HasPrefix(trimmed, "endef") {
				defining = ""
			}
		case trimmed == "" || strings.HasPrefix(trimmed, "#"):
		case indented && len(rules) > 0:
			for _, r := range rules {
				r.recipe = append(r.recipe, trimmed)
			}
		case defines.MatchString(line):
			defining = defines.FindStringSubmatch(line)[1]
			m.vars[defining] += flat(line)
		case condition.MatchString(line):
			m.global += flat(line)
		case includes.MatchString(line):
			included = append(included, strings.Fields(strings.Trim(includes.FindStringSubmatch(line)[1], `"'`))...)
		case setsVar.MatchString(line) && !strings.HasPrefix(line, "@"):
			name := setsVar.FindStringSubmatch(line)[1]
			m.vars[name] += flat(line)
			if globals.MatchString(name) {
				m.global += flat(line)
			}
			rules = nil
		case just && recipeHead.MatchString(line):
			rules = m.rule(recipeHead.FindStringSubmatch(line), just)
		case ruleHead.MatchString(line):
			rules = m.rule(ruleHead.FindStringSubmatch(line), just)
		}
	}
	return included
}

func (m *makefile) rule(head []string, just bool) (rules []*rule) {
	needs, inline, _ := strings.Cut(head[2], ";")
	if i := strings.Index(needs, "#"); i >= 0 {
		needs = needs[:i]
	}
	names := strings.Fields(strings.TrimPrefix(head[1], "@"))
	if just {
		names = names[:min(len(names), 1)] // "@:" is a line of a recipe that was not indented
	}
	for _, name := range names[:min(len(names), 50)] {
		if globals.MatchString(name) {
			m.global += flat(head[0])
			continue
		}
		r := m.rules[name]
		if r == nil {
			r = &rule{}
			m.rules[name] = r
		}
		r.needs = append(r.needs, strings.Fields(strings.NewReplacer("(", " ", ")", " ", "&&", " ", "|",
			" ").Replace(needs))...)
		r.head += flat(head[0])
		if inline = strings.TrimSpace(inline); inline != "" {
			r.recipe = append(r.recipe, inline)
		}
		rules = append(rules, r)
		if m.first == "" && !strings.HasPrefix(name, ".") && !strings.Contains(name, "%") {
			m.first = name
		}
	}
	return rules
}

// says is all that decides what making a target does: its rules and those of what it needs, and the variables in them.
// It is empty for a target that is not there. lines are the recipes, for a shell.
func (m *makefile) says(target string) (text string, lines []string) {
	if target == "" {
		target = m.first
	}
	if m.rules[target] == nil {
		return "", nil
	}
	var b strings.Builder
	b.WriteString(m.global)
	seen := map[string]bool{}
	for todo := []string{target}; len(todo) > 0 && b.Len() < FileBytes; {
		name := todo[0]
		todo = todo[1:]
		r := m.rules[name]
		if r == nil || seen["rule "+name] {
			continue
		}
		seen["rule "+name] = true
		b.WriteString(r.head)
		m.variables(&b, r.head, seen)
		for _, line := range r.recipe {
			b.WriteString(flat(line))
			m.variables(&b, line, seen)
			if again.MatchString(line) {
				todo = append(todo, strings.Fields(line)...)
			}
			lines = append(lines, m.shell(line))
		}
		todo = append(todo, r.needs...)
	}
	return b.String(), lines[:min(len(lines), maxSeen)]
}

// variables adds the definitions of the variables in a text, and of those in them.
func (m *makefile) variables(b *strings.Builder, text string, seen map[string]bool) {
	for todo := []string{text}; len(todo) > 0; {
		next := todo[0]
		todo = todo[1:]
		for _, match := range usesVar.FindAllStringSubmatch(next, -1) {
			name := match[1] + match[2] + match[3]
			if set := m.vars[name]; set != "" && !seen["var "+name] {
				seen["var "+name] = true
				b.WriteString(set)
				todo = append(todo, set)
			}
		}
	}
}

// shell is a line of a recipe as a shell gets it, with the variables in it that are set once.
func (m *makefile) shell(line string) string {
	line = strings.TrimLeft(line, "@-+ ")
	line = usesVar.ReplaceAllStringFunc(line, func(use string) string {
		name := strings.Trim(use, "${()} ")
		if name == "MAKE" {
			return "make\x00"
		}
		_, value, ok := strings.Cut(m.vars[name], "=")
		if !ok || strings.Count(value, "\n") != 1 {
			return use
		}
		return strings.TrimSpace(value) + "\x00"
	})
	line = strings.NewReplacer("\x00)", "", "\x00}}", "", "\x00}", "", "\x00", "").Replace(line)
	return strings.ReplaceAll(line, "$$", "$")
}

// flat is a line in one form, however it is spaced.
func flat(line string) string { return safetext.OneLine(line) + "\n" }
