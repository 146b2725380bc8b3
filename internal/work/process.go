package work

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
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

// patience is for how long a job waits for a GitHub that does not answer: what a turn has done is not pushed before.
const patience = 20 * time.Minute

const (
	pollTime   = 2 * time.Second        // how often it asks the server for people's words
	gatherTime = 200 * time.Millisecond // output within it goes into one request
	mostPiece  = 32 << 10               // bytes of the log in one message
)

// process is one job's process.
type process struct {
	to     teller
	clock  func() time.Time
	tokens *tokens
	stop   chan lease.Stop

	mu    sync.Mutex
	hints []loop.Hint
}

// Run does what a server orders, and reports the end to it. from has the Link to the server, as JSON, and ends with the
// server. The error says that there is no server; everything else was reported to the server. environ is ours,
// NAME=value: only what builds and tools need to find their way is used of it. When ctx is done, the run is left to the
// next process of the job.
func Run(ctx context.Context, from io.Reader, environ []string, clock func() time.Time) error {
	var link Link
	if err := json.NewDecoder(from).Decode(&link); err != nil {
		return fmt.Errorf("finding the server: %w; only ralph serve starts this command", err)
	}
	life, gone := context.WithCancelCause(context.WithoutCancel(ctx))
	go func() {
		_, _ = io.Copy(io.Discard, from) // nothing more comes
		gone(ErrGone)
	}()
	return run(ctx, life, link, environ, clock)
}

// run does a job of a server, until life ends.
func run(ctx, life context.Context, link Link, environ []string, clock func() time.Time) error {
	var order Order
	if err := link.ask(life, OrderPath, nil, &order); err != nil {
		return fmt.Errorf("waiting for the order of the server: %w", err)
	}
	p := &process{to: teller{wake: make(chan struct{}, 1), printed: make(chan struct{}, 1)}, clock: clock, stop: make(chan lease.Stop, 1),
		tokens: &tokens{link: link, clock: clock, now: order.Token, known: []string{order.Token.Value}}}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	told := make(chan error, 1)
	go func() {
		err := p.sync(life, link)
		end(err)
		told <- err
	}()
	result, err := p.work(ctx, order, environ)
	last := endOf(result, err)
	last.HandedOn = result.Outcome == loop.Interrupted && result.State.End == nil &&
		(ctx.Err() != nil || result.State.Start.Run != "") // its own run, which has not ended
	redact := report.Redactor(p.tokens.hide())
	last.Reason, last.Problem = redact(last.Reason), redact(last.Problem)
	p.to.send(ToServer{End: last})
	if err := <-told; err != nil {
		return fmt.Errorf("telling the server how the job has ended: %w", err)
	}
	return nil
}

// sync sends the server everything and receives people's words, until the last message is sent.
func (p *process) sync(life context.Context, link Link) error {
	for after := int64(0); ; {
		say, over := p.to.next()
		if over {
			return nil
		}
		say.After = after
		var answer Synced
		if err := link.ask(life, SyncPath, say, &answer); err != nil {
			return err
		}
		p.to.ack(answer.Heard)
		for _, w := range answer.Words {
			after = w.Number
			p.hear(w)
		}
		select {
		case <-p.to.wake: // at once: a kill may come
		case <-p.to.printed:
			select {
			case <-p.to.wake:
			case <-time.After(gatherTime):
			}
		case <-time.After(pollTime):
		}
	}
}

// hear takes in what someone has said.
func (p *process) hear(w Word) {
	if w.Stop != nil {
		select {
		case p.stop <- *w.Stop:
		default: // an earlier stop waits
		}
	}
	if w.Hint != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.hints = append(p.hints, *w.Hint)
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

// work does what was ordered.
func (p *process) work(ctx context.Context, o Order, environ []string) (loop.Result, error) {
	parent := proc.Environment(environ, proc.Allowed, o.Environ...)
	for _, entry := range o.Environ {
		if name, value, _ := strings.Cut(entry, "="); proc.NamesSecret(name) {
			p.tokens.hide(value)
		}
	}
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
			Begun:  func(b bot.StartedRun) { p.to.send(ToServer{Begun: &b}) },
			Record: func(n int, r loop.Record) { p.to.send(ToServer{Record: &Record{n, r}}) },
			Shown:  p.shown(),
			Notice: func(n Notice) { p.to.send(ToServer{Notice: &n}) }}}
	if o.Mistake != "" {
		a.Server.Mistake = errors.New(o.Mistake)
	}
	return a.Run(ctx)
}

// shown tells the server what its page shows besides the records.
func (p *process) shown() engine.Shown {
	return engine.Shown{
		Prompt: func(n int, text string) { p.to.send(ToServer{Shown: &Shown{Iteration: n, Prompt: text}}) },
		Diff:   func(n int, d html.Diff) { p.to.send(ToServer{Shown: &Shown{Iteration: n, Diff: &d}}) },
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
type output struct{ to *teller }

// Write implements io.Writer.
func (o output) Write(p []byte) (int, error) {
	for rest := string(p); rest != ""; {
		n := min(len(rest), mostPiece)
		for n < len(rest) && n > mostPiece-utf8.UTFMax && !utf8.RuneStart(rest[n]) {
			n--
		}
		o.to.send(ToServer{Output: rest[:n]})
		rest = rest[n:]
	}
	return len(p), nil
}

// RunnersPath is where a server has the jobs that runners do: each below it under its request.
const RunnersPath = "/runners/"

// joinPath answers the bearer of a job, as a JSON string, to whom the token of GitHub Actions proves to be its runner.
const joinPath = ""

// againTime is how long a job on a runner looks for its server.
const againTime = 5 * time.Minute

// Runner is a job of GitHub Actions that does a job of a server.
type Runner struct {
	Server  string // "https://ralph.example.com"
	Request string // what the server calls the job
	// Token is a new token by which GitHub Actions says who we are; the audience is the server.
	Token func(ctx context.Context, audience string) (string, error)
}

// Run does the job, as Run does one of this machine. ErrGone is of a server that wants nothing of us.
func (r Runner) Run(ctx context.Context, environ []string, clock func() time.Time) error {
	link, err := r.Join(ctx)
	if err != nil {
		return err
	}
	return run(ctx, context.WithoutCancel(ctx), link, environ, clock)
}

// Join gets the job, and continues trying for a while. ErrGone says that it is useless.
func (r Runner) Join(ctx context.Context) (Link, error) {
	server := strings.TrimSuffix(r.Server, "/")
	link := Link{Address: server + RunnersPath + r.Request, Patience: againTime}
	proving := link
	proving.prove = func(ctx context.Context) (string, error) {
		token, err := r.Token(ctx, server)
		if err != nil {
			err = fmt.Errorf("getting this job's OIDC token: %w; the job needs the permission id-token: write", err)
		}
		return token, err
	}
	err := proving.ask(ctx, joinPath, nil, &link.Bearer)
	return link, err
}
