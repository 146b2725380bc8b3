package proc

import (
	"fmt"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// Tail keeps the beginning and the end of what is written to it, and counts what was between. It never fails.
type Tail struct {
	head, ring []byte
	most, keep int   // bytes of head and ring
	at         int   // where the ring begins, once it is full
	total      int64 // everything written
}

// NewTail keeps the first head and the last tail bytes.
func NewTail(head, tail int) *Tail { return &Tail{most: head, keep: tail} }

// Write implements io.Writer.
func (t *Tail) Write(p []byte) (int, error) {
	n := len(p)
	t.total += int64(n)
	if room := t.most - len(t.head); room > 0 {
		room = min(room, len(p))
		t.head = append(t.head, p[:room]...)
		p = p[room:]
	}
	if len(p) > t.keep {
		p = p[len(p)-t.keep:]
	}
	if room := t.keep - len(t.ring); room > 0 {
		room = min(room, len(p))
		t.ring = append(t.ring, p[:room]...)
		p = p[room:]
	}
	for len(p) > 0 {
		copied := copy(t.ring[t.at:], p)
		p = p[copied:]
		t.at = (t.at + copied) % t.keep
	}
	return n, nil
}

// Len is how many bytes were written.
func (t *Tail) Len() int64 { return t.total }

// Ends are the beginning and the end of what was written, verbatim, and how many bytes are missing between them. When
// none are, both together are all there was.
func (t *Tail) Ends() (head, end string, missing int64) {
	head, end = string(t.head), string(t.ring[t.at:])+string(t.ring[:t.at])
	return head, end, t.total - int64(len(head)+len(end))
}

// String is what was written, verbatim, with a line "[... N bytes truncated ...]" where something is missing. No
// character is cut in two.
func (t *Tail) String() string {
	head, end, missing := t.Ends()
	if missing == 0 {
		return head + end
	}
	whole := len(head) + len(end)
	head, end = safetext.WholeEnd(head), safetext.WholeStart(end)
	return Joined(head, end, missing+int64(whole-len(head)-len(end)))
}

// Joined is a beginning and an end with a line between that says how many bytes are missing there.
func Joined(head, end string, missing int64) string {
	cut := fmt.Sprintf("[... %d bytes truncated ...]\n", missing)
	if head != "" && head[len(head)-1] != '\n' {
		cut = "\n" + cut
	}
	return head + cut + end
}
