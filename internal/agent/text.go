package agent

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/regex"
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

var errorLine = lazy(`(?i)^(api error|error|fatal|panic)\b`)

// tellingLine is the line of a text that says why something failed: the last one that begins with "error", otherwise
// the last.
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

// complaint is the line of a refusal that says what is wrong. It is before a text on the program's use, which says
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

// phrase is how failures of a class are worded.
type phrase struct {
	class   loop.Class
	pattern *pattern
}

// classOf is the class of the first phrase that is in a text; "" without one.
func classOf(list []phrase, said string) loop.Class {
	if i := slices.IndexFunc(list, func(p phrase) bool { return p.pattern.MatchString(said) }); i >= 0 {
		return list[i].class
	}
	return ""
}

type pattern = regex.Pattern

// lazy is a pattern that is compiled when it is first asked.
func lazy(text string) *pattern { return regex.Lazy(text) }

func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// withoutEcho cuts the prompt out of an output, wherever it is in it word for word. An output whose beginning is missing
// may begin within the prompt: it counts from the prompt's last 4 KiB on, or where these are not whole, after 4 KiB.
func withoutEcho(said, prompt string, beheaded bool) string {
	said, prompt = strings.ReplaceAll(said, "\r\n", "\n"), strings.TrimSpace(strings.ReplaceAll(prompt, "\r\n", "\n"))
	// no tag in it could be taken for a claim, and a short one is a part of many words
	if !strings.Contains(prompt, "</") {
		return said
	}
	said = strings.ReplaceAll(said, prompt, "")
	if end := prompt[max(0, len(prompt)-4<<10):]; beheaded {
		at := max(strings.Index(said, end), 0)
		said = said[min(at+len(end), len(said)):]
	}
	return said
}

var needsNoQuotes = lazy(`^[A-Za-z0-9_@%+=:,./-]+$`)

// claimBytes is how much of a message is kept while it comes.
const claimBytes = 64 << 10

// plainer are characters that mean the same as simpler ones: providers write "5:26 AM" with a narrow space, and
// "You’ve".
var plainer = strings.NewReplacer("\u00A0", " ", "\u202F", " ", "\u2009", " ", "’", "'", "‘", "'", "\x00", "")
