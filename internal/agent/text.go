package agent

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// lastLines are the last lines that say anything, each of at most 1000 bytes.
func lastLines(s string, most int) string {
	var kept []string
	for end := len(s); end > 0 && len(kept) < most; {
		begin := strings.LastIndexByte(s[:end], '\n') + 1
		if line := strings.TrimSpace(s[begin:end]); line != "" {
			kept = append(kept, line[:min(len(line), 1000)])
		}
		end = begin - 1
	}
	slices.Reverse(kept)
	return strings.ToValidUTF8(strings.Join(kept, "\n"), "")
}

var errorLine = lazy(`(?i)^(error|fatal|panic)\b`)

// tellingLine is the line of a text that says why something failed: the last one that begins with "error", else the
// last.
func tellingLine(s string) (line string) {
	for l := range strings.SplitSeq(s, "\n") {
		if l = oneLine(l); l != "" && (errorLine.MatchString(l) || !errorLine.MatchString(line)) {
			line = l
		}
	}
	return line
}

// complaints begin the line in which a program says that it was called wrongly.
var complaints = lazy(`(?i)^(error|fatal|unknown|unexpected|invalid|unrecogni[sz]ed)\b`)

// complaint is the line of a refusal that says what is wrong. It stands before a text on the program's use, which says
// nothing.
func complaint(stderr, said string) string {
	for l := range strings.SplitSeq(stderr, "\n") {
		if complaints.MatchString(strings.TrimSpace(l)) {
			return l
		}
	}
	if strings.Contains(stderr, "\nOptions:") {
		return ""
	}
	return tellingLine(said)
}

// oneLine makes any text fit for a reason: one harmless line of at most 300 characters.
func oneLine(s string) string {
	return safetext.Shorten(safetext.OneLine(safetext.Inert(s)), 300)
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
