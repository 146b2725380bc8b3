package supervise

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/safetext"
)

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
