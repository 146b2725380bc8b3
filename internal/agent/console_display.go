package agent

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// How much of a turn is shown: its beginning, and its end. No agent says so much on purpose.
const (
	shownBytes    = 2 << 20
	shownEndBytes = 32 << 10
)

// display shows the beginning of a turn as it comes, and its end when it has ended; one line between them says how much
// is left out. It is given whole lines.
type display struct {
	to    io.Writer
	log   string // where all of it is; empty: nowhere
	bytes int64  // of the beginning
	full  bool   // no more of it is shown
	feeds int    // ends of lines after that
	rest  *proc.Tail
}

func newDisplay(to io.Writer, log string) *display {
	return &display{to: to, log: log, rest: proc.NewTail(0, shownEndBytes)}
}

// Write implements io.Writer; it never fails: a broken terminal is not worth a turn.
func (s *display) Write(lines []byte) (int, error) {
	if s.full = s.full || s.bytes+int64(len(lines)) > shownBytes; !s.full {
		s.bytes += int64(len(lines))
		_, _ = s.to.Write(lines)
		return len(lines), nil
	}
	s.feeds += bytes.Count(lines, []byte("\n"))
	return s.rest.Write(lines)
}

// end shows the end of what was not shown, and begins anew.
func (s *display) end() {
	if s.full {
		_, text, _ := s.rest.Ends()
		missing := s.rest.Len() - int64(len(text))
		if missing > 0 {
			_, text, _ = strings.Cut(text, "\n") // it begins within a line
			missing = s.rest.Len() - int64(len(text))
			what := safetext.Count(s.feeds-strings.Count(text, "\n"), "line") + " (" + safetext.Bytes(missing) + ")"
			where := ""
			if s.log != "" {
				where = "; the output is in " + filepath.Base(s.log)
			}
			text = "[... " + what + " not shown here" + where + " ...]\n" + text
		}
		_, _ = s.to.Write([]byte(text))
	}
	s.bytes, s.full, s.feeds, s.rest = 0, false, 0, proc.NewTail(0, shownEndBytes)
}
