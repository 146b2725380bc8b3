package failure

import "strings"

// shortPaths leaves of each path only what does not depend on where the project lies: of an absolute one, and of one that leads up and
// out, the last name.
func shortPaths(line string) string {
	if !strings.ContainsAny(line, `/\`) {
		return line
	}
	var b strings.Builder
	for i := 0; i < len(line); {
		n := 0
		if i == 0 || isBefore(line[i-1]) {
			n = pathLen(line[i:])
		}
		if n == 0 {
			b.WriteByte(line[i])
			i++
			continue
		}
		b.WriteString(short(line[i : i+n]))
		i += n
	}
	return b.String()
}

// isBefore reports whether a path may begin after the sign.
func isBefore(c byte) bool {
	return c != '_' && c != '.' && c != '/' && c != ':' && c != '~' && c != '@' && c != '-' && c != '\\' && c < 0x80 && !isLetter(c) && !isDigit(c)
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

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
	case strings.HasPrefix(rest, "/"), strings.HasPrefix(rest, "../"), strings.HasPrefix(rest, "~/"), strings.HasPrefix(rest, `..\`):
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
func short(p string) string {
	whole := p
	if p == "./" {
		return ""
	}
	p = strings.ReplaceAll(strings.TrimPrefix(p, "file:"), `\`, "/")
	dot := ""
	for strings.HasSuffix(p, ".") { // the end of a sentence
		p, dot = p[:len(p)-1], dot+"."
	}
	up := strings.HasPrefix(p, "../") // as in what a source imports
	steps := strings.FieldsFunc(p, func(r rune) bool { return r == '/' })
	for len(steps) > 0 && (steps[0] == ".." || steps[0] == "~" || len(steps[0]) == 2 && steps[0][1] == ':') {
		steps = steps[1:]
	}
	if len(steps) == 0 {
		return whole
	}
	last := steps[len(steps)-1]
	temporary := isTemporary(p)
	switch {
	case len(steps) == 1 && !temporary && !isTop(last) && !isFile(last):
		return whole // a route of a URL
	case temporary && len(steps) < 3 || temporary && random.MatchString(last):
		return "<tmp>" + extension(last) + dot
	case isFile(last), up, isSystem(steps[0]) && !temporary:
		return last + dot
	}
	return "<dir>" + dot
}

func isTemporary(p string) bool {
	return startsAny(p, "/tmp/", "/var/tmp/", "/dev/shm/", "/private/tmp/") || strings.Contains(p, "/var/folders/") || strings.Contains(p, "/Temp/")
}

// isTop reports whether a name is known at the root of file systems; another is more likely a route of a URL.
func isTop(name string) bool {
	switch name {
	case "tmp", "app", "src", "work", "workspace", "build", "root", "home", "code", "repo", "data", "project":
		return true
	}
	return isSystem(name)
}

func isSystem(top string) bool {
	switch top {
	case "usr", "bin", "sbin", "lib", "lib64", "etc", "dev", "proc", "opt":
		return true
	}
	return false
}

// random matches names that a program made up.
var random = lazy(`^(?:tmp|cc|tmp[.-].*)[A-Za-z0-9_]{6,8}(?:\.\w+)?$|\d{6,}|^[0-9a-f]{8,}$`)

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
