package failure

import "strings"

// shortPaths leaves of each path only what does not depend on where the project lies: of an absolute one, and of one
// that leads up and out, the last name. tops are names that are known as directories at the root.
func shortPaths(line string, tops map[string]bool) string {
	if !strings.ContainsAny(line, `/\`) {
		return line
	}
	var b strings.Builder
	for i := 0; i < len(line); {
		n := 0
		if i == 0 || isBefore(line[i-1]) || afterColon(line, i) || afterOption(line, i) {
			n = pathLen(line[i:])
		}
		if n == 0 {
			b.WriteByte(line[i])
			i++
			continue
		}
		b.WriteString(short(line[i:i+n], tops))
		i += n
	}
	return b.String()
}

// isBefore reports whether a path may begin after the sign.
func isBefore(c byte) bool {
	return c != '_' && c != '.' && c != '/' && c != ':' && c != '~' && c != '@' && c != '-' && c != '\\' && c < 0x80 &&
		!isLetter(c) && !isDigit(c)
}

// afterColon reports whether a path begins behind a colon: "cwd:/srv/app", but not the double slash of a URL, nor the
// path of its server.
func afterColon(line string, i int) bool {
	return line[i-1] == ':' && i > 1 && isLetter(line[i-2]) && line[i] == '/' && i+1 < len(line) && line[i+1] != '/'
}

// afterOption reports whether a path begins behind an option of one letter, as in "-I/srv/app".
func afterOption(line string, i int) bool {
	return i >= 2 && line[i] == '/' && isLetter(line[i-1]) && line[i-2] == '-' && (i == 2 || line[i-3] == ' ')
}

// pathLen is how long the path is that a text begins with; 0: it begins with none.
func pathLen(text string) int {
	begin := 0
	for _, prefix := range []string{"file://", "file:", "./"} {
		if strings.HasPrefix(text, prefix) {
			begin = len(prefix)
			break
		}
	}
	rest := text[begin:]
	switch {
	case strings.HasPrefix(rest, "/"), strings.HasPrefix(rest, "../"), strings.HasPrefix(rest, "~/"),
		strings.HasPrefix(rest, `..\`):
	case len(rest) > 2 && isLetter(rest[0]) && rest[1] == ':' && (rest[2] == '\\' || rest[2] == '/'):
		begin += 2
	case begin == 2: // a relative path
		return begin
	default:
		return 0
	}
	end := stepsEnd(text, begin)
	for end < len(text) && text[end] == ' ' { // a directory's name may hold a space
		next := spacedStep(text[end:])
		if next == 0 || strings.IndexByte(text[strings.LastIndexAny(text[:end], `/\`)+1:end], '.') >= 0 {
			break
		}
		end = stepsEnd(text, end+next)
	}
	return end
}

// stepsEnd is where the steps of a path end.
func stepsEnd(text string, i int) int {
	for i < len(text) && strings.IndexByte(" \t\"'<>()[]{}|,;:*?=", text[i]) < 0 {
		i++
	}
	return i
}

// spacedStep is the length of up to three words that end with a slash; 0: there are none.
func spacedStep(text string) int {
	words := 0
	for i := range len(text) {
		switch c := text[i]; {
		case c == ' ':
			words++
			if words > 3 || i+1 < len(text) && text[i+1] == ' ' {
				return 0
			}
		case c == '/' && text[i-1] != ' ':
			return i
		case c != '_' && c != '-' && c < 0x80 && !isLetter(c) && !isDigit(c):
			return 0
		}
	}
	return 0
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
	case len(steps) == 1 && within < 0 && !isTop(last) && !isFile(last) && !tops[last]:
		return whole // a route of a URL
	case within >= 0 && (within < 2 || random.MatchString(last)):
		if ext := plainExtension(last); ext != "" {
			return "<tmp>" + ext + dot
		}
	case madeUp(last):
		return "<tmp>" + plainExtension(last) + dot
	case isFile(last), strings.HasPrefix(p, "../"), isSystem(steps): // ".." as in what a source imports
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

// temporary is how many names follow the directory for temporary files; -1: there is none.
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

// isTop reports whether a name is known at the root of file systems; another is more likely a route of a URL.
func isTop(name string) bool {
	switch name {
	case "tmp", "app", "src", "work", "workspace", "build", "root", "home", "code", "repo", "data", "project", "opt",
		"srv", "mnt", "var",
		"usr", "bin", "sbin", "lib", "lib64", "etc", "dev", "proc":
		return true
	}
	return false
}

// isSystem reports whether a path leads to what a system has, not a project.
func isSystem(steps []string) bool {
	switch steps[0] {
	case "bin", "sbin", "lib", "lib64", "etc", "dev":
		return true
	case "usr":
		return len(steps) > 2 && steps[1] != "src"
	}
	return false
}

// topsOf are the directories at the root that absolute paths to files in an output begin with.
func topsOf(lines []string) map[string]bool {
	tops := map[string]bool{}
	for _, line := range lines {
		for i := strings.IndexByte(line, '/'); i >= 0 && i < len(line); {
			if i == 0 || isBefore(line[i-1]) {
				if top, rest, ok := strings.Cut(line[i+1:stepsEnd(line, i)], "/"); ok &&
					isFile(rest[strings.LastIndexByte(rest, '/')+1:]) {
					tops[top] = true
				}
			}
			i = stepsEnd(line, i)
			next := strings.IndexByte(line[i:], '/')
			if next < 0 {
				break
			}
			i += next
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
