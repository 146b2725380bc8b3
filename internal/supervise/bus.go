package supervise

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Bus is the message bus of a task directory, as the command line reaches it.
type Bus struct {
	Dir     string // the current directory
	TaskDir string // relative to Dir, or absolute
	Clock   func() time.Time
}

// Post says something; from is the process that says it.
func (b Bus) Post(kind, text string, from int) error {
	dir, err := taskDirectory(b.Dir, b.TaskDir)
	if err != nil {
		return err
	}
	if err := journal.Post(dir, journal.Message{At: b.Clock(), Type: kind, Text: text, From: from}); err != nil {
		return invalid.Mark(err) // the message, or the directory
	}
	return nil
}

// Read writes the messages to out: a line each, made harmless, or as they are on the bus. With poll it continues until
// ctx is done, looking for new ones that often; without it reads what is there.
func (b Bus) Read(ctx context.Context, out io.Writer, raw bool, poll time.Duration) error {
	dir, err := taskDirectory(b.Dir, b.TaskDir)
	if err != nil {
		return err
	}
	show := func(m journal.Message, line []byte) error {
		text := string(line)
		if !raw {
			text = safetext.Inert(fmt.Sprintf("[%s] %s %s", m.At.UTC().Format(logTime), m.Type, m.Text))
		}
		_, err := fmt.Fprintln(out, text)
		return err
	}
	for at := int64(0); ; {
		if at, err = journal.ReadBus(dir, at, show); err != nil || poll <= 0 {
			return err
		}
		select {
		case <-time.After(poll):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
