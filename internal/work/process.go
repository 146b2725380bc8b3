package work

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/actions"
	"github.com/ralph-loop/ralph/internal/bot"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/lease"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/report/html"
)

// orderTime is how long the server may take to say what is to be done.
const orderTime = time.Minute

// lastTime is how long the last messages may take.
const lastTime = 10 * time.Second

// patience is for how long a job waits for a GitHub that does not answer: what a turn has done is not pushed before.
const patience = 20 * time.Minute

// ErrGone is why a job ends whose server is not there any more, or wants nothing of it.
var ErrGone = errors.New("the server has closed the job's socket")

// process is one job's process.
type process struct {
	again   func() (net.Conn, error) // connects again when the connection has ended; nil: the server is gone then
	to      Session
	over    chan struct{} // closed when nothing more comes of the server
	clock   func() time.Time
	tokens  *tokens
	stop    chan lease.Stop
	mu      sync.Mutex
	hints   []loop.Hint
	secrets []string
}

// Run does what the server at the other end of a connection orders, and tells it how that ended. The error says that there
// is no server; everything else it has been told. environ is ours, NAME=value: only what builds and tools need to find
// their way is used of it. When ctx is done, the run is left to the next process of the job.
func Run(ctx context.Context, conn net.Conn, environ []string, clock func() time.Time) error {
	return run(ctx, conn, nil, environ, clock)
}

func run(ctx context.Context, conn net.Conn, again func() (net.Conn, error), environ []string, clock func() time.Time) error {
	p := &process{again: again, clock: clock, stop: make(chan lease.Stop, 1), over: make(chan struct{})}
	from := NewReader(conn, mostOrder)
	order, err := p.order(conn, from)
	if err != nil {
		return err
	}
	p.to.Attach(conn)
	wait := tokenWait
	if again != nil {
		wait = againTime
	}
	p.tokens = newTokens(order.Token, wait, clock, func(a Ask) { p.to.Pass(ToServer{Ask: &a}) })
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	go p.listen(conn, from, end)
	result, err := p.work(ctx, order, environ)
	told := endOf(result, err)
	told.HandedOn = result.Outcome == loop.Interrupted && result.State.End == nil &&
		(ctx.Err() != nil || result.State.Start.Run != "") // a run of its own that has not come to its end
	redact := report.Redactor(p.known())
	told.Reason, told.Problem = redact(told.Reason), redact(told.Problem)
	p.to.Send(ToServer{End: told})
	if err := p.leave(conn); err != nil {
		return fmt.Errorf("telling the server how the job has ended: %w", err)
	}
	return nil
}

// leave waits until the server has heard everything. One that is not inherited hangs up then.
func (p *process) leave(conn net.Conn) error {
	if p.again == nil {
		_ = conn.SetWriteDeadline(time.Now().Add(lastTime))
		return p.to.Close()
	}
	select {
	case <-p.over:
		return nil
	case <-time.After(againTime):
		return ErrGone
	}
}

// order reads the order.
func (p *process) order(conn net.Conn, from *Reader) (Order, error) {
	_ = conn.SetReadDeadline(time.Now().Add(orderTime))
	var first ToProcess
	if err := from.Read(&first); err != nil {
		return Order{}, fmt.Errorf("waiting for the order of the server: %w", err)
	}
	_ = conn.SetReadDeadline(time.Time{})
	if first.Order == nil || first.Order.Job == "" || first.Order.Attempt < 1 || first.Order.Page == "" ||
		first.Order.Token.Value == "" {
		return Order{}, errors.New("the server's first message is no order: job, attempt, page and token are needed")
	}
	return *first.Order, nil
}

// listen hears what the server says, until it goes. A server that says an order again has lost the connection, or began
// anew.
func (p *process) listen(conn net.Conn, from *Reader, end context.CancelCauseFunc) {
	defer close(p.over)
	for {
		var m ToProcess
		if err := from.Read(&m); err != nil {
			if p.again == nil {
				end(ErrGone)
				return
			}
			_ = conn.Close()
			if conn, err = p.again(); err != nil {
				end(ErrGone)
				return
			}
			from = NewReader(conn, mostOrder)
			p.to.Attach(conn)
			p.tokens.again()
			continue
		}
		if m.Token != nil {
			p.mu.Lock()
			p.secrets = append(p.secrets, m.Token.Value)
			p.mu.Unlock()
			p.tokens.take(*m.Token)
		}
		if m.Stop != nil {
			select {
			case p.stop <- lease.Stop{By: m.Stop.By, Why: m.Stop.Why, At: m.Stop.At}:
			default: // it was told before
			}
		}
		if m.Hint != nil {
			p.mu.Lock()
			p.hints = append(p.hints, *m.Hint)
			p.mu.Unlock()
		}
	}
}

// takeHints are the hints since it was asked last.
func (p *process) takeHints() []loop.Hint {
	p.mu.Lock()
	defer p.mu.Unlock()
	hints := p.hints
	p.hints = nil
	return hints
}

// known are the values that nobody is told.
func (p *process) known() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.secrets...)
}

// work does what was ordered.
func (p *process) work(ctx context.Context, o Order, environ []string) (loop.Result, error) {
	parent := proc.Environment(environ, proc.Allowed, o.Environ...)
	p.mu.Lock()
	p.secrets = append(p.secrets, o.Token.Value)
	for _, entry := range o.Environ {
		if name, value, _ := strings.Cut(entry, "="); proc.NamesSecret(name) {
			p.secrets = append(p.secrets, value)
		}
	}
	p.mu.Unlock()
	o.AgentUser = cmp.Or(o.AgentUser, proc.Value(environ, "RALPH_AGENT_USER")) // an image may say it
	values := variables(o, parent)
	env, err := config.ReadEnvironment(values)
	if err != nil {
		return loop.Result{Outcome: loop.Invalid}, err
	}
	inputs, err := config.ReadInputs(values)
	if err != nil {
		return loop.Result{Outcome: loop.Invalid}, err
	}
	a := &bot.Action{Env: env, Inputs: inputs, Parent: parent, Clock: p.clock,
		Runner: actions.New(func(string) string { return "" }, output{&p.to}),
		Server: &bot.Server{Job: o.Job, Page: o.Page, Payload: o.Payload, Layers: o.Settings, Allow: o.Allow,
			Mirror: o.Mirror, Stop: p.stop,
			As: &github.Installation{Login: o.GitHub.Login, Lacks: o.GitHub.Lacks, Token: p.tokens.token,
				Patience: patience, Known: o.Permissions},
			Hints:  p.takeHints,
			Begun:  func(b bot.StartedRun) { p.to.Send(ToServer{Begun: &b}) },
			Record: func(n int, r loop.Record) { p.to.Send(ToServer{Record: &Record{n, r}}) },
			Shown:  p.shown(),
			Notice: func(n engine.Notice) { p.to.Send(ToServer{Notice: &Notice{n.Message, n.To}}) }}}
	if o.Mistake != "" {
		a.Server.Mistake = errors.New(o.Mistake)
	}
	return a.Run(ctx)
}

// shown tells the server what its page shows besides the records.
func (p *process) shown() engine.Shown {
	return engine.Shown{
		Prompt: func(n int, text string) { p.to.Pass(ToServer{Shown: &Shown{Iteration: n, Prompt: text}}) },
		Diff:   func(n int, d html.Diff) { p.to.Pass(ToServer{Shown: &Shown{Iteration: n, Diff: &d}}) },
	}
}

// variables are what the order says, as a workflow would say it.
func variables(o Order, parent []string) map[string]string {
	values := map[string]string{}
	for _, entry := range parent {
		name, value, _ := strings.Cut(entry, "=")
		values[name] = value
	}
	for name, value := range o.Inputs {
		values["INPUT_"+strings.ToUpper(name)] = value
	}
	number := fnv.New64a()
	_, _ = io.WriteString(number, o.Job) // never fails
	for name, value := range map[string]string{
		"GITHUB_EVENT_NAME": o.Event, "GITHUB_REPOSITORY": o.Repository, "GITHUB_SERVER_URL": o.GitHub.Server,
		"GITHUB_API_URL": o.GitHub.API, "GITHUB_GRAPHQL_URL": o.GitHub.GraphQL,
		"GITHUB_RUN_ID":      strconv.FormatUint(number.Sum64()>>1, 10),
		"GITHUB_RUN_ATTEMPT": strconv.Itoa(o.Attempt), "RALPH_WORKSPACE": o.Workspace, "RALPH_AGENT_USER": o.AgentUser,
	} {
		values[name] = value
	}
	return values
}

// output sends the log to the server.
type output struct{ to *Session }

// mostPiece is how much of the log one message holds, in bytes.
const mostPiece = 32 << 10

// Write implements io.Writer.
func (o output) Write(p []byte) (int, error) {
	for rest := string(p); rest != ""; {
		n := min(len(rest), mostPiece)
		for n < len(rest) && n > mostPiece-utf8.UTFMax && !utf8.RuneStart(rest[n]) {
			n--
		}
		o.to.Pass(ToServer{Output: rest[:n]})
		rest = rest[n:]
	}
	return len(p), nil
}
