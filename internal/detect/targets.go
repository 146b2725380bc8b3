package detect

import (
	"bytes"
	"slices"
	"strings"
)

// The names of files with targets, in the order in which their programs look for them.
var (
	makefiles = []string{"GNUmakefile", "makefile", "Makefile"}
	justfiles = []string{"justfile", "Justfile", ".justfile"}
	taskfiles = []string{"Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml", "Taskfile.dist.yml",
		"taskfile.dist.yml", "Taskfile.dist.yaml", "taskfile.dist.yaml"}
)

// runner is a program that runs targets by their names.
type runner struct {
	program string
	files   []string
	thing   string // what a target is called in its file
	targets func(content []byte) map[string]bool
}

var runners = []runner{
	{"make", makefiles, "target", makeTargets},
	{"just", justfiles, "recipe", justRecipes},
	{"task", taskfiles, "task", taskNames},
}

// entryPoint is the first of the runners whose file names a target that tests, and what it runs. If a file has none,
// the targets lint and build are better than nothing.
func entryPoint(files topFiles) (found Result, decides bool) {
	for _, r := range runners {
		d, tests := r.detect(files)
		if tests {
			return d, true
		}
		found.add(d)
	}
	return found, false
}

// detect knows the targets that make a check. "test" is the one by which an owner says how the project is tested; GNU
// calls it "check"; "ci" stands for all the others, and is taken where neither is there.
func (r runner) detect(files topFiles) (d Result, tests bool) {
	name := files.first(r.files...)
	if name == "" {
		return d, false
	}
	targets := r.targets(files[name])
	take := func(at stage, target string) bool {
		return d.named(at, r.program+" ", name+" has a "+r.thing+" ", []string{target}, func(t string) bool { return targets[t] })
	}
	if !targets["check"] && !targets["test"] && take(atTest, "ci") {
		return d, true
	}
	take(atLint, "lint")
	checks, tested := take(atTest, "check"), take(atTest, "test")
	if !checks && !tested && !take(atBuild, "build") && len(files.ending(sources...)) > 0 {
		take(atBuild, "all")
	}
	return d, checks || tested
}

// sources are what a Makefile alone builds: there, "all" is what the first line of most of them says.
var sources = []string{".c", ".cc", ".cpp", ".cxx", ".h", ".hpp"}

// target matches the targets of a rule: not an assignment, not a recipe line.
var target = lazy(`(?m)^([A-Za-z0-9_./-][A-Za-z0-9_./ \t-]*?)[ \t]*::?(?:[^=:]|$)`)

func makeTargets(content []byte) map[string]bool {
	targets := map[string]bool{}
	for _, match := range target.FindAllStringSubmatch(string(content), -1) {
		for _, t := range strings.Fields(match[1]) {
			targets[t] = true
		}
	}
	return targets
}

// recipe matches the head of a recipe and its parameters; alias another name of one.
var (
	recipe = lazy(`(?m)^@?([A-Za-z][A-Za-z0-9_-]*)([ \t][^:\n]*)?:(?:[^=]|$)`)
	alias  = lazy(`(?m)^alias[ \t]+([A-Za-z][A-Za-z0-9_-]*)[ \t]*:=[ \t]*([A-Za-z][A-Za-z0-9_-]*)`)
)

// justRecipes are the recipes that run without arguments.
func justRecipes(content []byte) map[string]bool {
	recipes := map[string]bool{}
	for _, match := range recipe.FindAllStringSubmatch(string(content), -1) {
		needs := slices.ContainsFunc(strings.Fields(match[2]), func(parameter string) bool {
			return !strings.Contains(parameter, "=") && !strings.HasPrefix(parameter, "*")
		})
		if !needs {
			recipes[match[1]] = true
		}
	}
	for _, match := range alias.FindAllStringSubmatch(string(content), -1) {
		if recipes[match[2]] {
			recipes[match[1]] = true
		}
	}
	return recipes
}

var taskKey = lazy(`^( +)(?:"([A-Za-z]+)"|'([A-Za-z]+)'|([A-Za-z]+))[ \t]*:(?:[ \t]|$)`)

// taskNames are the keys directly under "tasks:", without tasks that only others may call. It reads lines: a parser of
// YAML takes the square of the nesting in time, and a task that a flow mapping names is one that no one writes.
func taskNames(content []byte) map[string]bool {
	names := map[string]bool{}
	inside, indent, last := false, "", ""
	for line := range bytes.Lines(content) {
		text := strings.TrimRight(string(line), " \t\r\n")
		switch trimmed := strings.TrimLeft(text, " "); {
		case trimmed == "" || trimmed[0] == '#':
			continue
		case trimmed == text: // a key of the top
			inside, indent = strings.HasPrefix(text, "tasks:"), ""
			continue
		case !inside:
			continue
		case indent == "":
			indent = text[:len(text)-len(trimmed)]
			fallthrough
		default:
			key := taskKey.FindStringSubmatch(text)
			if key != nil && key[1] == indent {
				last = key[2] + key[3] + key[4]
				names[last] = true
			} else if !strings.HasPrefix(text, indent+" ") {
				last = ""
			}
			if trimmed == "internal: true" {
				delete(names, last)
			}
		}
	}
	return names
}
