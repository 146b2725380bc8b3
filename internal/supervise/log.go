package supervise

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
)

const logTime = "2006-01-02 15:04:05"

// console writes the log, a line with its time each, between the lines of the command. It is safe for use by several
// goroutines.
type console struct {
	mu    sync.Mutex
	out   io.Writer
	clock func() time.Time
	open  bool // the command's last line has no end
}

func (c *console) log(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open {
		_, _ = io.WriteString(c.out, "\n")
		c.open = false
	}
	_, _ = fmt.Fprintf(c.out, "[%s] %s\n", c.clock().Format(logTime), safetext.Inert(fmt.Sprintf(format, args...)))
}

// Write hands on the command's own output.
func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(p) > 0 {
		c.open = p[len(p)-1] != '\n'
	}
	return c.out.Write(p)
}

// What is kept of the attempts' output.
const (
	attemptLogBytes = 64 << 20 // of one attempt
	attemptLogs     = 20       // the newest attempts, of all runs in the directory
)

// newAttemptLog makes the file that an attempt's output is kept in, and removes the oldest of the others.
func newAttemptLog(dir string, n int) (log io.WriteCloser, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("keeping the output of attempt %d: %w", n, err)
		}
	}()
	root, err := os.OpenRoot(dir) // no link leads out of it
	if err != nil {
		return nil, err
	}
	defer root.Close()
	name := fmt.Sprintf("%s/attempt_%03d.log", journal.SuperviseDir, n)
	if err := root.MkdirAll(journal.SuperviseDir, 0o755); err != nil {
		return nil, err
	}
	if err := prune(root, attemptLogs-1); err != nil {
		return nil, err
	}
	if err := root.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return proc.NewCapped(file, attemptLogBytes), nil
}

// prune leaves the newest logs of attempts.
func prune(root *os.Root, keep int) error {
	names, err := fs.Glob(root.FS(), journal.SuperviseDir+"/attempt_*.log")
	if err != nil {
		return err
	}
	written := map[string]time.Time{}
	for _, name := range names {
		if info, err := root.Lstat(name); err == nil {
			written[name] = info.ModTime()
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(written[b].Compare(written[a]), strings.Compare(b, a)) })
	for _, old := range names[min(keep, len(names)):] {
		if err := root.Remove(old); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}
