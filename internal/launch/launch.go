// Package launch is the server's side of a job: it starts the job's process, gives it tokens, models and a mirror,
// hears what it tells, and cleans up after it.
package launch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/bot"
	"github.com/ralph-loop/ralph/internal/gateway"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/work"
)

// Job is one job, and what the server does for it.
type Job struct {
	// Order is what the process is told. Token, Mirror and the models' part of Environ are filled in here.
	Order  work.Order
	Tokens Tokens
	Models Models
	Hear   Listener
	Claim  Claim // of Runners
}

// Tokens makes the installation tokens of a job, for its repository and with its permissions alone.
type Tokens interface {
	// Make makes a token. Number of what comes back does not count.
	Make(ctx context.Context) (work.Token, error)
	// Revoke ends a token that was made. It has the value alone, since the job is over.
	Revoke(ctx context.Context, token string) error
}

// Listener hears what a job's process tells, one call at a time, in its order. It may take its time: the process goes
// on meanwhile.
type Listener interface {
	// Begun says which run the records that follow are of; see bot.Begun for those that are known already.
	Begun(bot.StartedRun)
	// Record is a record of the run's journal. After a kill the same number may come again.
	Record(work.Record)
	// Shown is what a page shows besides. After a kill the same may come again.
	Shown(work.Shown)
	// Notice is what others are to be told of the end of a run. After a kill the same may come again.
	Notice(work.Notice)
	// Output is a piece of the log, without secrets, of at most 32 KiB.
	Output(text string)
}

// DiedError is of a process that ended without a word: it was killed, or it crashed. Another attempt of the job goes on
// with its run.
type DiedError struct {
	How  string // "was ended by the signal SIGKILL"
	Last string // what it printed last, at most 4 KiB; often nothing
}

func (e *DiedError) Error() string {
	text := "the job's process " + e.How
	if e.Last != "" {
		text += "; it said last: " + e.Last
	}
	return text
}

// Running is a job whose process is running.
type Running struct {
	job    Job
	conn   net.Conn
	to     work.Session
	tokens *issuer
	models *gateway.Turn
	done   []func() // what is cleaned up after the process
	end    context.CancelFunc
	ended  chan ended // from whoever waits for the process
	heard  chan struct{}

	mu      sync.Mutex
	told    *work.End
	problem error // of what it told
	once    sync.Once
	result  work.End
	err     error
}

// ended is how the process itself ended.
type ended struct {
	how, last string
	err       error // the launcher could not do its part
}

// Stop asks the run to stop, as a comment does: it tells who wanted that on GitHub, and no sweep takes it up.
func (r *Running) Stop(by, why string) {
	r.to.Send(work.ToProcess{Stop: &work.Stop{By: by, Why: why, At: time.Now().UTC()}})
}

// mostHint bounds a hint, in bytes.
const mostHint = 16 << 10

// Hint tells the agent's next turn something. Of hints with one ID the run takes in the first, also in its next
// process.
func (r *Running) Hint(h loop.Hint) error {
	if h.Text == "" || h.ID == "" || len(h.Text) > mostHint {
		return fmt.Errorf("giving a hint: it has %d bytes and the ID %q; allowed are 1 to %d, and some ID", len(h.Text), h.ID,
			mostHint)
	}
	r.to.Send(work.ToProcess{Hint: &h})
	return nil
}

// HandOn ends the process and not the run, which another attempt of the job goes on with.
func (r *Running) HandOn() { r.end() }

// Metered reports whether the job's models are spoken to through the server, so that Usage knows what they take.
func (r *Running) Metered() bool { return r.models != nil }

// Usage is what the job's models have taken so far, by model.
func (r *Running) Usage() []gateway.Usage {
	if r.models == nil {
		return nil
	}
	return r.models.Usage()
}

// Wait waits for the end of the process and cleans up after it: its tokens are revoked, nothing of it is left running.
// The error is a *DiedError when the process did not say how the job has ended.
func (r *Running) Wait() (work.End, error) {
	r.once.Do(func() { r.result, r.err = r.wait() })
	return r.result, r.err
}

// hearTime is how long the last messages of a process that has ended may take to be heard.
const hearTime = 10 * time.Second

func (r *Running) wait() (work.End, error) {
	over := <-r.ended
	_ = r.conn.SetReadDeadline(time.Now().Add(hearTime))
	<-r.heard
	_ = r.conn.Close() // the sender ends with it
	_ = r.to.Close()
	r.cleanUp()
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.told != nil:
		return *r.told, nil
	case over.err != nil:
		return work.End{}, over.err
	}
	return work.End{}, errors.Join(&DiedError{over.how, over.last}, r.problem)
}

func (r *Running) cleanUp() {
	r.end()
	for i := len(r.done) - 1; i >= 0; i-- {
		r.done[i]()
	}
}

// mostOutput is how much of the log of one process is passed on, in bytes.
const mostOutput = 64 << 20

// listen hears the process to its end.
func (r *Running) listen(ctx context.Context) {
	defer close(r.heard)
	r.hear(ctx)
}

// hear hears the process as long as the connection lasts.
func (r *Running) hear(ctx context.Context) {
	from, output := work.NewReader(r.conn, work.MostRecord), 0
	for {
		var m work.ToServer
		if err := from.Read(&m); err != nil {
			r.note(err)
			return
		}
		switch {
		case m.Ask != nil:
			go r.answer(ctx, *m.Ask)
		case m.Begun != nil:
			r.job.Hear.Begun(*m.Begun)
		case m.Record != nil:
			r.job.Hear.Record(*m.Record)
		case m.Shown != nil:
			r.job.Hear.Shown(*m.Shown)
		case m.Notice != nil:
			r.job.Hear.Notice(*m.Notice)
		case m.Output != "" && output <= mostOutput:
			if output += len(m.Output); output > mostOutput {
				m.Output = "… the rest of the log is left out\n"
			}
			r.job.Hear.Output(m.Output)
		case m.End != nil:
			r.mu.Lock()
			r.told = m.End
			r.mu.Unlock()
			return
		}
	}
}

// note remembers what was wrong with what the process told, and ends it then.
func (r *Running) note(err error) {
	if errors.Is(err, work.ErrTooLarge) {
		r.mu.Lock()
		r.problem = err
		r.mu.Unlock()
		r.end()
	}
}

// answer answers a process that asks for a token.
func (r *Running) answer(ctx context.Context, a work.Ask) {
	token := r.tokens.answer(ctx, a)
	r.to.Send(work.ToProcess{Token: &token})
}

// remote is the repository of a job.
func remote(o work.Order, token string) git.Remote {
	return git.Remote{URL: o.GitHub.Server + "/" + o.Repository + ".git", Token: token}
}
