package proc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

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

// Capped passes on the first bytes of what is written to it, then one line saying that the rest is missing, and at the
// end the last bytes of it, where it keeps these. A full or broken disk is noted, not returned: a log is not worth a
// run.
type Capped struct {
	to   io.Writer
	left int64
	most int64
	cut  bool
	end  *Tail // of what is not passed on; nil: no one wants it
	err  error

	redact func(string) string
	line   []byte // the beginning of a line, as long as it is redacted
}

// NewCapped passes on at most so many bytes.
func NewCapped(to io.Writer, most int64) *Capped { return &Capped{to: to, left: most, most: most} }

// CreateLog makes a new file, mode 0600, of at most so many bytes, and its directory. An old file, or a link planted in
// its place, is removed first and never written through.
func CreateLog(path string, most int64) (*Capped, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("making the directory of the log %s: %w", path, err)
	}
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("making the directory of the log %s: %w", path, err)
	}
	defer root.Close()
	name := filepath.Base(path)
	if err := root.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("replacing the log %s: %w", path, err)
	}
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("creating the log %s: %w", path, err)
	}
	return NewCapped(file, most), nil
}

// Open lets everyone read the log.
func (c *Capped) Open() error {
	file, ok := c.to.(*os.File)
	if !ok {
		return nil
	}
	return file.Chmod(0o644)
}

// KeepEnd keeps so many of the last bytes as well, which Close passes on.
func (c *Capped) KeepEnd(bytes int) { c.end = NewTail(0, bytes) }

// Redact passes on what is written as redact returns it, in whole lines; nil: as it is. A line that does not end within
// 64 KiB is passed on in parts.
func (c *Capped) Redact(redact func(string) string) { c.redact = redact }

// longestPart is how much of a line is kept back until its end comes.
const longestPart = 64 << 10

// Write implements io.Writer.
func (c *Capped) Write(p []byte) (int, error) {
	switch {
	case c.cut && c.end == nil: // no one will see it
		return len(p), nil
	case c.redact == nil:
		c.write(p)
		return len(p), nil
	}
	c.line = append(c.line, p...)
	whole := bytes.LastIndexByte(c.line, '\n') + 1
	if whole == 0 && len(c.line) >= longestPart {
		whole = len(c.line)
	}
	if whole > 0 {
		c.write([]byte(c.redact(string(c.line[:whole]))))
		c.line = append(c.line[:0], c.line[whole:]...)
	}
	return len(p), nil
}

func (c *Capped) write(p []byte) {
	part := p[:min(int64(len(p)), c.left)]
	c.left -= int64(len(part))
	c.put(part)
	if len(part) < len(p) && !c.cut {
		c.cut = true
		c.put(fmt.Appendf(nil, "\n[... the output was cut after %d bytes ...]\n", c.most))
	}
	if c.end != nil {
		_, _ = c.end.Write(p[len(part):])
	}
}

func (c *Capped) put(p []byte) {
	if c.err == nil && len(p) > 0 {
		_, c.err = c.to.Write(p)
	}
}

// Close passes on the end that was kept, closes what is written to, when that can be closed, and returns the first
// error there was.
func (c *Capped) Close() error {
	if len(c.line) > 0 {
		c.write([]byte(c.redact(string(c.line))))
		c.line = nil
	}
	if c.cut && c.end != nil {
		c.put([]byte(c.end.String()))
		c.end = nil
	}
	if closer, ok := c.to.(io.Closer); ok {
		if err := closer.Close(); c.err == nil {
			c.err = err
		}
	}
	return c.err
}
