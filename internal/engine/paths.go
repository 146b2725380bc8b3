package engine

import (
	"path/filepath"
	"strings"
)

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
		if endsName(text[end:]) && !escapesTree(text[end:]) && (i == 0 || !pathRune(text[i-1])) {
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

// escapesTree reports whether what follows a path goes up from it: what lies beside the worktree does not lie beside the
// tree.
func escapesTree(rest string) bool {
	up, ok := strings.CutPrefix(rest, string(filepath.Separator)+"..")
	return ok && (up == "" || !pathRune(up[0]))
}

// pathRune reports whether a byte may be a part of a name.
func pathRune(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' ||
		strings.IndexByte("._-+~", c) >= 0 ||
		c >= 0x80
}
