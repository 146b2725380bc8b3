package check

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
)

const (
	// redactionMargin is so much more is kept where an output is cut, and left out once secrets have been taken out: of one that is
	// cut in two, what is left is not known as a secret. The largest are private keys.
	redactionMargin = 16 << 10
	// longLine is how far the end of a line is searched for, to cut there.
	longLine = 4 << 10
)

// kept is what is kept of an output: its beginning and its end. It is read without secrets.
type kept struct {
	*proc.Tail
	redact func(string) string
}

// newKept keeps so many bytes of either end.
func newKept(most int, redact func(string) string) kept {
	return kept{proc.NewTail(most+redactionMargin, most+redactionMargin), redact}
}

// String is the output, with a line that says so where something is missing.
func (k kept) String() string {
	head, end, missing := k.ends()
	if missing == 0 {
		return head
	}
	return proc.Joined(head, end, missing)
}

// ends are the beginning and the end, in whole lines where lines are not too long, and how many bytes are missing
// between them. When none are, the first is all there was.
func (k kept) ends() (head, end string, missing int64) {
	head, end, missing = k.Ends()
	if missing == 0 {
		return k.redact(head + end), "", 0
	}
	head, end = k.redact(head), k.redact(end) // each by itself: what lay between them belongs to neither
	both := len(head) + len(end)
	head, end = firstLines(head[:max(0, len(head)-redactionMargin)]), lastLines(end, min(len(end), redactionMargin))
	return head, end, missing + int64(both-len(head)-len(end))
}

// after is what came after the first bytes, or as much of its end as was kept, and how many bytes are missing before
// it. Where the first bytes do not end with a line, the rest of that line is missing too: it may begin within a secret.
func (k kept) after(first int64, whole bool) (text string, missing int64) {
	head, end, cut := k.Ends()
	if cut > 0 {
		_, end, _ = k.ends()
		return end, max(1, k.Len()-first-int64(len(end)))
	}
	text = k.redact((head + end)[first:])
	if !whole {
		all := len(text)
		_, text, _ = strings.Cut(text, "\n")
		missing = int64(all - len(text))
	}
	return text, missing
}

// firstLines is a text up to the end of its last line that has one.
func firstLines(text string) string {
	if i := strings.LastIndexByte(text, '\n'); i >= 0 && len(text)-i <= longLine {
		return text[:i+1]
	}
	return safetext.WholeEnd(text)
}

// lastLines is a text from a place on, from the beginning of its first line that has one.
func lastLines(text string, from int) string {
	if i := strings.IndexByte(text[max(0, from-1):], '\n'); i >= 0 && i < longLine {
		return text[max(0, from-1)+i+1:]
	}
	return safetext.WholeStart(text[from:])
}
