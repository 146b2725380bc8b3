package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ralph-loop/ralph/internal/secret"
)

// candidates are what looks like a credential in what is new. What of it the commit below has already is not this run's
// to judge; that commit is read once, however many there are.
type candidates struct {
	lines  []string
	wanted *secret.Wanted
}

const (
	// mostLines is how many lines are looked for. Those of credentials beyond are taken to be new.
	mostLines = 1 << 18
	// mostOfLine is how much of one tells whether it is there, in bytes.
	mostOfLine = 4 << 10
)

// add takes what an object has, and reports whether there is anything. Binary files have nothing.
func (l *candidates) add(o object) bool {
	if o.kind != "blob" || strings.Contains(o.content[:min(len(o.content), 8000)], "\x00") {
		return false
	}
	looks := secret.Credentials(o.content)
	for _, c := range looks {
		for _, line := range linesOf(o.content[c.From:c.To]) {
			if len(l.lines) < mostLines {
				l.lines = append(l.lines, strings.Clone(line))
			}
		}
	}
	return len(looks) > 0
}

// linesOf are the lines of a credential that tell it from others of its kind.
func linesOf(value string) (lines []string) {
	for line := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == '\n' || r == '\r' }) {
		border := strings.HasPrefix(line, "-----") && strings.HasSuffix(line, "-----")
		if len(line) >= secret.LeastWanted && !border {
			lines = append(lines, line[:min(len(line), mostOfLine)])
		}
	}
	return lines
}

// without looks for them in the files of a commit.
func (l *candidates) without(ctx context.Context, t *Tree, commit string) error {
	l.wanted = secret.Want(l.lines)
	l.lines = nil
	listed, err := t.git.out(ctx, "ls-tree", "-r", "--full-tree", "--format=%(objecttype) %(objectname)", commit)
	if err != nil {
		return fmt.Errorf("listing the files of commit %.12s: %w", commit, err)
	}
	seen := map[string]bool{}
	var ids strings.Builder
	for line := range strings.Lines(listed) {
		if id, ok := strings.CutPrefix(line, "blob "); ok && !seen[id] {
			seen[id] = true
			ids.WriteString(id)
		}
	}
	err = t.streamObjects(ctx, ids.String(), func(_, _ string, content io.Reader) error {
		if _, err := io.Copy(l.wanted, content); err != nil {
			return err
		}
		l.wanted.Break()
		if l.wanted.All() {
			return errAllFound
		}
		return nil
	})
	if errors.Is(err, errAllFound) {
		return nil
	}
	return err
}

var errAllFound = errors.New("all of it was found")

// fresh are the credentials of an object that have a line which was not there before.
func (l *candidates) fresh(o object) (fresh []secret.Credential) {
	for _, c := range secret.Credentials(o.content) {
		lines := linesOf(o.content[c.From:c.To])
		is := len(lines) == 0
		for _, line := range lines {
			is = is || !l.wanted.Found(line)
		}
		if is {
			fresh = append(fresh, c)
		}
	}
	return fresh
}
