package git

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"sync"
	"time"
)

// passing matches what git says when the network or the server failed in a way that may be over in a moment. A refusal
// is not among it.
var passing = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`returned error: (?:5\d\d|429)|HTTP (?:5\d\d|429)|unexpected disconnect|hung up unexpectedly|early EOF|` +
			`Connection (?:reset|timed out|refused)|Could not resolve host|Failed to connect|Empty reply|Recv failure|transfer closed|Operation too slow|curl (?:18|28|52|56|92)`)
})

// pauses are the times between the tries of a command that speaks to a remote.
var pauses = []time.Duration{time.Second, 3 * time.Second}

// run runs a command and returns what it said. A command that fails is a *commandError. One that speaks to a remote is
// tried again when the network failed: a fetch changes nothing, and a push that did arrive is recognized by its lease.
// A push that finds its ref moved is answered, even where git then also says that the remote hung up.
func (d door) run(ctx context.Context, c call) (stdout, stderr string, err error) {
	for try := 0; ; try++ {
		stdout, stderr, err = d.once(ctx, c)
		if c.within != remoteTime || try == len(pauses) || !passes(err) {
			return stdout, stderr, err
		}
		select {
		case <-ctx.Done():
			return stdout, stderr, err
		case <-time.After(pauses[try]):
		}
	}
}

// passes reports whether a command has failed in a way that may be over in a while.
func passes(err error) bool {
	var e *commandError
	return errors.As(err, &e) && passing().MatchString(e.Stderr) && !strings.Contains(e.Stdout, "(stale info)")
}

// out runs a command and returns its standard output.
func (d door) out(ctx context.Context, args ...string) (string, error) {
	stdout, _, err := d.run(ctx, call{args: args})
	return stdout, err
}
