// Package proc is the door to processes: it starts one, bounds it in time, and leaves nothing of it running.
package proc

import (
	"cmp"
	"context"
	"io"
	"strings"
	"sync/atomic"
	"time"
)

// Spec is one process to run. Nothing is inherited: not the environment, not standard input, no open file.
type Spec struct {
	Argv []string // the program, by path or by the PATH in Env, and its arguments
	Dir  string   // where it runs; "" is where we are
	Env  []string // its whole environment, NAME=value
	// Stdin is copied to the process and closed; nil is empty.
	Stdin io.Reader
	// Stdout and Stderr get every byte as it comes, never both at the same time, so they may be the same writer,
	// which then sees the bytes in the order they were written. nil discards. When one
	// fails, the process runs on and Run returns the error.
	Stdout, Stderr io.Writer
	Timeout        time.Duration // how long it may run; 0: no limit
	Silence
	Warning
	Ending
	// As is whom it runs as, without privileges to gain from there; nil is ourselves. Env should set its HOME.
	As *User
	// Box keeps it from what it must not reach; nil: nothing does.
	Box Box
	// WritableDir is a directory that was made for it alone, and that a Box lets it write. It can be empty.
	WritableDir string
	// AllowedAddress is an address of this machine that a Box lets it reach, at the same address: "127.0.0.1:8080". It
	// can be empty.
	AllowedAddress string
	// Limits are what it may take, with everything that it starts.
	Limits Limits
}

// Silence is when a process counts as hanging.
type Silence struct {
	Idle time.Duration // how long it may be silent; 0: no limit
	// Waits is asked, while nothing is written, whether a process that has been silent for so long waits for something that
	// never comes. Otherwise it runs on. If nil, each silent process waits.
	Waits func() bool
	// Pulse, when set, says what a sign of life is; else any output is.
	Pulse *Heartbeat
}

// Warning is what happens before the time of a process is over.
type Warning struct {
	// Soft is how long it may run before OnSoft is called, once, which stops nothing; 0: never. OnSoft has a goroutine of
	// its own, and Run returns after it.
	Soft   time.Duration
	OnSoft func()
}

// Ending is how a process is ended.
type Ending struct {
	// Interrupt is how long the process alone, without what it started, may take to end by itself after INT, before the
	// tree gets TERM: an agent still tells then what it cost. 0: there is no INT.
	Interrupt time.Duration
	// Grace is how long the tree may take to end between TERM and KILL; 0 is GraceOf the context.
	Grace time.Duration
	// Hurry, when closed, ends Interrupt and Grace at once. Before something stops the process it does nothing.
	Hurry <-chan struct{}
	// Spare is asked when the process has ended by itself, also by a signal that was not ours. The processes whose ids
	// it returns are left running with everything that they have started, until End; the rest of the tree is killed.
	// What they write to the streams that they inherited is read and thrown away for as long as we live.
	Spare func() []int
}

// DefaultGrace is the time between TERM and KILL where no one says otherwise.
const DefaultGrace = 5 * time.Second

type graceKey struct{}

// WithGrace makes a context whose processes have this time between TERM and KILL: a place that kills us soon leaves
// less of it to everything that is started there.
func WithGrace(ctx context.Context, grace time.Duration) context.Context {
	return context.WithValue(ctx, graceKey{}, grace)
}

// GraceOf is the time between TERM and KILL of the processes of a context: that of WithGrace, or DefaultGrace.
func GraceOf(ctx context.Context) time.Duration {
	grace, _ := ctx.Value(graceKey{}).(time.Duration)
	return cmp.Or(grace, DefaultGrace)
}

// Class says how a process ended.
type Class string

// The classes of an end. TimedOut, Idle, Canceled and Limited processes were killed by us, with everything they had
// started, Limited ones maybe by the system.
const (
	Exited        Class = "exited"
	Signalled     Class = "signalled" // by a signal that was not ours
	TimedOut      Class = "timeout"
	Idle          Class = "idle"
	Canceled      Class = "cancelled"      // ctx was done
	Limited       Class = "limit"          // it took more than its Limits allow: see Result.Limit
	NotFound      Class = "not-found"      // no such program
	NotExecutable Class = "not-executable" // it is there and cannot be run
)

// Result is how a process ended.
type Result struct {
	Class    Class
	Exit     int    // the exit code; -1 when a signal ended it or it never ran
	Signal   string // "SIGKILL"; "" when none did
	Duration time.Duration
	Limit    Limit // of a Limited one: what it had too much of
	// Why says of a Limited one how much that was, and what to do: "was stopped: it had more than 4096 processes …".
	Why string
}

// Box keeps a process from what it must not reach: files, processes, hosts. What holds in it, the Box says elsewhere.
type Box interface {
	// Enter returns what is run instead of s: s with another program, arguments and environment, and without s.Box. The
	// error wraps ErrNotFound or ErrNotExecutable when there is no such program.
	Enter(s Spec) (SandboxedCommand, error)
}

// SandboxedCommand is what is run to run something in a box.
type SandboxedCommand struct {
	Spec Spec
	// Keepers is how many processes, from the one that is started down to the one that was meant, only keep the box: each
	// is the only child of the one before. They end with what they keep, and are asked to end by no one but KILL.
	Keepers int
	// Wraps says that the keepers tell by an exit code of 128 and more that a signal has ended what they keep.
	Wraps bool
	// Leave is called once, when nothing of it runs. It can be nil.
	Leave func()
}

// killing is how long ending what is left may take: of a tree that grows while it is cut, or that does not react to
// KILL.
const killing = 3 * time.Second

// markPrefix begins the name of a tree's mark. On Linux the rest is random, so a harness within a harness adds its own
// beside it.
const markPrefix = "TREE_MARK_"

func name(s Spec) string { return s.Argv[0][strings.LastIndexByte(s.Argv[0], '/')+1:] }

// Heartbeat is the time of the last sign of life. The zero value has never shown one.
type Heartbeat struct{ last atomic.Int64 }

// Beat notes a sign of life. It may be called from any goroutine.
func (p *Heartbeat) Beat() { p.last.Store(time.Now().UnixNano()) }

func (p *Heartbeat) since() time.Duration {
	return time.Duration(time.Now().UnixNano() - p.last.Load())
}
