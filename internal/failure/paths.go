package failure

import (
	"regexp"
	"strings"
)

// path matches an absolute path, or one that leads up and out, with what stands before it. A space may stand in a directory's name.
var path = regexp.MustCompile(`(^|[^\w./:~@-])((?:file:/{0,2})?(?:[A-Za-z]:[\\/]|~/|\\\\|(?:\.\./)+|/)[^\s"'<>()\[\]{}|,;:*?=]*(?:[^\s"'<>()\[\]{}|,;:*?=.]+(?: [^\s"'<>()\[\]{}|,;:*?=./\\]+){1,3}[/\\][^\s"'<>()\[\]{}|,;:*?=]*)*)`)

// shortPaths leaves of each path only what does not depend on where the project lies: the last name, which for a file is its own.
func shortPaths(line string) string {
	return path.ReplaceAllStringFunc(line, func(found string) string {
		at := strings.IndexAny(found, `/\~`)
		if m := path.FindStringSubmatchIndex(found); m != nil {
			at = m[4]
		}
		return found[:at] + short(found[at:])
	})
}

// short is one path's last name.
func short(p string) string {
	whole := p
	p = strings.TrimPrefix(p, "file:")
	p = strings.ReplaceAll(p, `\`, "/")
	dot := ""
	for strings.HasSuffix(p, ".") { // the end of a sentence
		p, dot = p[:len(p)-1], dot+"."
	}
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
	case isFile(last):
		return last + dot
	case isSystem(steps[0]) && !temporary:
		return last + dot
	}
	return "<dir>" + dot
}

func isTemporary(p string) bool {
	return strings.HasPrefix(p, "/tmp/") || strings.HasPrefix(p, "/var/tmp/") || strings.HasPrefix(p, "/dev/shm/") ||
		strings.Contains(p, "/var/folders/") || strings.HasPrefix(p, "/private/tmp/") || strings.Contains(p, "/Temp/")
}

func isTop(name string) bool {
	switch name {
	case "tmp", "app", "src", "work", "workspace", "build", "root", "home", "code", "repo", "data", "project", "w":
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
var random = regexp.MustCompile(`^(?:tmp|cc|tmp[.-].*)[A-Za-z0-9_]{6,8}(?:\.\w+)?$|\d{6,}|^[0-9a-f]{8,}$`)

func isFile(name string) bool {
	switch name {
	case "Makefile", "Dockerfile", "Gemfile", "Rakefile", "LICENSE", "Jenkinsfile", "GNUmakefile":
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
	letters := false
	for _, c := range name[i+1:] {
		letters = letters || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	if !letters {
		return ""
	}
	return name[i:]
}
