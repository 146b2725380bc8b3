package report

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// maxAgain is how long a command that resumes a run may be.
const maxAgain = 200

// Resuming returns the command line that resumes the run of another one, quoted for a shell; "" if there is none, or if
// it is too long for a sentence.
func Resuming(args []string) string {
	if len(args) == 0 {
		return ""
	}
	line := "ralph"
	for _, a := range args {
		switch {
		case a == "--fresh" || a == "--resume":
		case wording.SafeWord.MatchString(a): // also a flag
			line += " " + a
		default:
			line += " " + wording.ShellWord(a)
		}
	}
	if line += " --resume"; utf8.RuneCountInString(line) > maxAgain || strings.Contains(line, "\n") {
		return ""
	}
	return line
}

// sameAgain is said where no command is known.
const sameAgain = "the same command with --resume"

// Resume returns the command that resumes a run of the CLI, with more arguments, or says in words what it is.
func (v View) Resume(more string) string {
	return cmp.Or(safetext.OneLine(v.Clean(cmp.Or(v.Again, v.State.Start.Again))), sameAgain) + more
}

// again is Resume in a sentence.
func (v View) again() string {
	if again := v.Resume(""); again != sameAgain {
		return v.shown(again)
	}
	return "the same command with " + v.shown("--resume")
}
