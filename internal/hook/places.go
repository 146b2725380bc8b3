package hook

import (
	"path"
	"strings"
)

// inside reports whether an absolute path is below a directory.
func inside(dir, name string) bool {
	return dir != "" && (dir == "/" && name != "/" || strings.HasPrefix(name, strings.TrimSuffix(dir, "/")+"/"))
}

// below is a path relative to a directory; "" when it is neither that nor below it.
func below(dir, name string) string {
	switch {
	case name == dir:
		return "."
	case inside(dir, name):
		return strings.TrimPrefix(name, strings.TrimSuffix(dir, "/")+"/")
	}
	return ""
}

// project and home are the path in the project and in the user's home; "" when it is elsewhere. The project may lie in the home.
func (t touch) project() string { return below(t.world.Root, t.path) }

func (t touch) home() string { return below(t.world.Home, t.path) }

// temporary reports whether a path is in a directory for temporary files.
func temporary(name string) bool {
	for _, dir := range []string{"/tmp", "/var/tmp", "/private/tmp", "/dev/shm"} {
		if inside(dir, name) {
			return true
		}
	}
	return false
}

// reach is what a pattern can match at least: the directory before the first * or ?; all says that it is everything in there.
func reach(name string) (dir string, all bool) {
	steps := strings.Split(name, "/")
	for i, step := range steps {
		if !strings.ContainsAny(step, "*?[") {
			continue
		}
		dir := strings.Join(steps[:i], "/")
		if dir == "" && strings.HasPrefix(name, "/") {
			dir = "/"
		}
		return dir, strings.Trim(step, "*?.[]!^{},") == ""
	}
	return name, true
}

// outside says what is wrong with deleting or changing everything below a path; "" when it is the project's or temporary.
func outside(cwd, name string, w *World) string {
	if name == "" {
		return ""
	}
	if rest := strings.TrimLeft(name, marks); rest != name { // "$DIR/": without a value the root
		if first := strings.TrimSuffix(strings.TrimPrefix(rest, "/"), "/"); rest != "" && rest[0] == '/' && strings.Trim(first, "*.?") == "" {
			return "the root, when the variable is empty"
		}
		return ""
	}
	dir, all := reach(name)
	if dir == "" {
		dir = "."
	}
	at := absolute(cwd, dir)
	switch {
	case !strings.HasPrefix(at, "/"):
		return ""
	case at == w.Root && all:
		return "the whole project"
	case at == w.Root, inside(w.Root, at):
		return ""
	case temporary(at):
		return ""
	}
	return path.Clean(at)
}
