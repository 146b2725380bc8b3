package agent

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/proc"
)

// lastBytes keeps the end of a text, whole characters only.
func lastBytes(s string, most int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) > most {
		s = strings.ToValidUTF8(s[len(s)-most:], "")
	}
	return s
}

// lastLine is the last line that says anything, harmless and short, for a reason.
func lastLine(s string) string {
	lines := strings.Split(s, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if line := oneLine(lines[i]); line != "" {
			return line
		}
	}
	return ""
}

// oneLine makes any text fit for a reason: one harmless line of at most 300 characters.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(proc.Inert(s)), " ")
	if r := []rune(s); len(r) > 300 {
		s = string(r[:299]) + "…"
	}
	return s
}

// because adds what an agent said itself to a sentence of ours.
func because(sentence, said string) string {
	if said = strings.TrimRight(oneLine(said), ". "); said == "" {
		return sentence
	}
	return sentence + " (it said: " + said + ")"
}

func orHere(dir string) string {
	if dir == "" {
		dir, _ = filepath.Abs(".")
	}
	return dir
}

func geteuid() int { return os.Geteuid() }
