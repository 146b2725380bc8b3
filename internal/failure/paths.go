package failure

import (
	"strings"
)

// aPath matches what may be before a path, and the path: absolute, one that leads up and out, or one from a home
// directory or a drive. A directory's name may hold a space.
var aPath = func() *pattern {
	const sign, name = `[^\s"'<>()\[\]{}|,;:*?=]`, `[^\s"'<>()\[\]{}|,;:*?=./\\]`
	return lazy(`(^|[^\w./:~@\\\x{80}-\x{10FFFF}-]|[A-Za-z]:|(?:^| )-[A-Za-z])` +
		`((?:file:(?://)?|\./)?(?:/|\.\.[/\\]|~/|[A-Za-z]:[/\\])(?:(?:` + sign + `*[/\\])?` + name + `*(?: [\w-]+){1,3}/)?` + sign + `*|\./)`)
}()

// shortPaths leaves of each path only what does not depend on where the project lies: of an absolute one, and of one
// that leads up and out, the last name. tops are names that are known as directories at the root.
func shortPaths(line string, tops map[string]bool) string {
	var b strings.Builder
	done := 0
	for _, m := range aPath.FindAllStringSubmatchIndex(line, -1) {
		before, path := line[m[2]:m[3]], line[m[4]:m[5]]
		if strings.HasSuffix(before, ":") && (path[0] != '/' || strings.HasPrefix(path, "//")) {
			continue // a URL
		}
		b.WriteString(line[done:m[4]] + short(path, tops))
		done = m[5]
	}
	return b.String() + line[done:]
}

// short is what is left of one path.
func short(p string, tops map[string]bool) string {
	whole := p
	if p == "./" {
		return ""
	}
	p = strings.ReplaceAll(strings.TrimPrefix(p, "file:"), `\`, "/")
	dot := ""
	for strings.HasSuffix(p, ".") { // the end of a sentence
		p, dot = p[:len(p)-1], dot+"."
	}
	steps := rooted(p)
	if len(steps) == 0 {
		return whole
	}
	last := steps[len(steps)-1]
	within := temporary(steps)
	switch {
	case len(steps) == 1 && within < 0 && !isFile(last) && !tops[last]:
		return whole // a route of a URL
	case within >= 0 && (within < 2 || random.MatchString(last)):
		if ext := plainExtension(last); ext != "" {
			return "<tmp>" + ext + dot
		}
	case madeUp(last):
		return "<tmp>" + plainExtension(last) + dot
	case isFile(last), strings.HasPrefix(p, "../"): // ".." as in what a source imports
		return last + dot
	}
	return "<dir>" + dot
}

// rooted are the names of a path, from the root on, or from where it turns up.
func rooted(p string) []string {
	steps := strings.FieldsFunc(p, func(r rune) bool { return r == '/' })
	for len(steps) > 0 && (steps[0] == ".." || steps[0] == "~" || len(steps[0]) == 2 && steps[0][1] == ':') {
		steps = steps[1:]
	}
	return steps
}

// temporary is how many names follow the directory for temporary files; -1 without one.
func temporary(steps []string) int {
	if steps[0] == "proc" || len(steps) > 1 && steps[0] == "dev" && (steps[1] == "fd" || steps[1] == "shm") {
		return min(len(steps)-1, 1)
	}
	for i, step := range steps {
		switch step {
		case "tmp", "temp", "Temp", ".tmp":
			return len(steps) - 1 - i
		case "folders": // /var/folders/xx/yyyy/T
			if i > 0 && steps[i-1] == "var" {
				return max(0, len(steps)-5)
			}
		}
	}
	return -1
}

// topsOf are the directories at the root that absolute paths to files in an output begin with.
func topsOf(lines []string) map[string]bool {
	tops := map[string]bool{}
	for _, line := range lines {
		for _, m := range aPath.FindAllStringSubmatch(line, -1) {
			if top, rest, ok := strings.Cut(strings.TrimPrefix(m[2], "/"), "/"); ok && m[2][0] == '/' &&
				isFile(rest[strings.LastIndexByte(rest, '/')+1:]) {
				tops[top] = true
			}
		}
	}
	return tops
}

// random matches names that a program made up.
var random = lazy(`^(?:tmp|cc|tmp[._-].*)[A-Za-z0-9_]{6,8}(?:\.\w+)?$|^tmp[._-]\w{6,}$|\d{6,}|^[0-9a-f]{8,}$`)

// madeUp reports whether compilers name their temporary files so, wherever these are: "ccXyZz98.o".
func madeUp(name string) bool {
	ext := plainExtension(name)
	base := strings.TrimSuffix(name, ext)
	return ext != "" && len(base) == len("ccXyZz98") && strings.HasPrefix(base, "cc") && strings.ToLower(base) != base
}

// plainExtension is the extension of a file that a program named, unless that is made up too: "x.o", but not
// "tmp.Xy12Ab".
func plainExtension(name string) string {
	ext := extension(name)
	if len(ext) > len(".json5") || strings.ToLower(ext) != ext {
		return ""
	}
	return ext
}

func isFile(name string) bool {
	switch name {
	case "Makefile", "makefile", "Dockerfile", "Gemfile", "Rakefile", "LICENSE", "Jenkinsfile", "GNUmakefile":
		return true
	}
	return extension(name) != ""
}

// extension is the end of a file's name, with its dot, when it looks like one.
func extension(name string) string {
	i := strings.LastIndexByte(name, '.')
	if i < 0 || i == len(name)-1 || len(name)-i > 12 {
		return ""
	}
	for j := i + 1; j < len(name); j++ {
		if isLetter(name[j]) {
			return name[i:]
		}
	}
	return ""
}

// aPlace matches the end of a file's name, or what stands for one, with the numbers of a line and a column behind it.
var aPlace = lazy(`(\.[\w+~-]{0,10}[A-Za-z][\w+~-]{0,10}['"]?|akefile['"]?|Dockerfile|[>\]]['"]?|\bnode:[\w/]+)` +
	`(?::\d+(?:[:.-]\d+)*|:?\[\d+(?:[:.,-] ?\d+)*\]|\(\d+(?:[:.,-] ?\d+)*\))`)

// noPlaces takes the numbers of lines and columns off the names of files: "a.go:3:5", "a.ts(3,5)", "A.java:[3,5]",
// "Makefile:3".
func noPlaces(line string) string { return aPlace.ReplaceAllString(line, "$1") }
