package engine

import (
	"path/filepath"
	"strings"
)

// Where a box cannot show the tree of the checks at the worktree's path, it lies somewhere else. People and agents know the worktree alone, so what
// a check says of the other path is said of that one; and what leads a check to the worktree is led to the tree.

// asWorktree is a text of a check's as people read it.
func (j *judgingTree) asWorktree(text string) string {
	if j == nil {
		return text
	}
	return replacePath(text, j.dir, j.run.Workspace.Dir())
}

// led is a text of the settings or of the environment as a check gets it.
func (j *judgingTree) led(text string) string {
	if j == nil || j.mapped() {
		return text
	}
	return replacePath(text, j.run.Workspace.Dir(), j.dir)
}

// replacePath replaces a path by another one, where it stands as a whole or with something below it.
func replacePath(text, from, to string) string {
	if from == "" || from == to || !strings.Contains(text, from) {
		return text
	}
	var b strings.Builder
	for {
		i := strings.Index(text, from)
		if i < 0 {
			b.WriteString(text)
			return b.String()
		}
		end := i + len(from)
		b.WriteString(text[:i])
		if endsName(text[end:]) && !leadsOut(text[end:]) && (i == 0 || !pathRune(text[i-1])) {
			b.WriteString(to)
		} else {
			b.WriteString(from)
		}
		text = text[end:]
	}
}

// endsName reports whether what follows a path does not go on with its last name.
func endsName(rest string) bool {
	return rest == "" || rest[0] == filepath.Separator || !pathRune(rest[0])
}

// leadsOut reports whether what follows a path goes up from it: what lies beside the worktree does not lie beside the tree.
func leadsOut(rest string) bool {
	up, ok := strings.CutPrefix(rest, string(filepath.Separator)+"..")
	return ok && (up == "" || !pathRune(up[0]))
}

// pathRune reports whether a byte may be a part of a name.
func pathRune(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || strings.IndexByte("._-+~", c) >= 0 || c >= 0x80
}

// environ leads the variables of an environment to the tree.
func (j *judgingTree) environ(env []string) []string {
	if j == nil || j.mapped() {
		return env
	}
	out := make([]string, len(env))
	for i, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		out[i] = name + "=" + j.led(value)
	}
	return out
}
