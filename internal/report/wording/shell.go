package wording

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/regex"
)

var SafeWord = regex.Lazy(`^[A-Za-z0-9._/+=:,%-]+$`)

// ShellWord quotes a name for a shell; git allows nearly everything in a branch.
func ShellWord(s string) string {
	if SafeWord.MatchString(s) && !strings.HasPrefix(s, "-") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
