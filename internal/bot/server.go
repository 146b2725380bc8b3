package bot

import (
	"bytes"
	"context"
	"errors"
	"os"
	"sync"
	"syscall"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/lease"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
)

// Server is what a job of ralph serve has instead of a workflow. In the environment GITHUB_RUN_ID stands for the job
// then, and GITHUB_RUN_ATTEMPT counts its processes. When the context of the run ends, the run is not over: it is left
// for the next process of the job.
type Server struct {
	Job     string // its name: letters, digits and hyphens
	Page    string // the address of the page that shows it, the same for all of its processes
	Payload []byte // of the event
	As      *github.Installation
	Layers  []config.Layer   // settings below the repository's own: the organisation's
	Allow   config.Allowance // what no setting goes beyond
	Mistake error            // in the settings, why no run may begin; nil: one may
	Mirror  string           // where the repository's objects are on this machine; "" is nowhere
	Stop    <-chan lease.Stop
	Hints   func() []loop.Hint              // hints since the last call; nil: the run takes no hints
	Begun   func(StartedRun)                // before the first record of the run
	Record  func(number int, r loop.Record) // each record, from 1 on, those of earlier processes first
	Shown   engine.Shown                    // what else the page shows
	Notice  func(engine.Notice)             // tells others how the run ended; nil: no one does

	mu     sync.Mutex
	hidden []string // secrets
	redact func(string) string
}

// StartedRun is a run of which the records follow.
type StartedRun struct {
	Run    string `json:"run"`
	Task   string `json:"task"`
	Title  string `json:"title"`
	Issue  int    `json:"issue,omitempty"` // 0: it is for none
	Branch string `json:"branch"`
	// Records is how many there are of earlier processes. A server that knows more of the run drops the others: they
	// never left the process that made them.
	Records int `json:"records"`
}

// runURL is the page of the job.
func (a *Action) runURL() string {
	if a.Server != nil {
		return a.Server.Page
	}
	return a.Env.RunURL()
}

// redactor takes secrets out of texts, those of a server's tokens too, which come later.
func (s *Server) redactor(secrets []string) func(string) string {
	if s == nil {
		return report.Redactor(secrets)
	}
	s.hide(secrets...)
	return func(text string) string {
		s.mu.Lock()
		redact := s.redact
		s.mu.Unlock()
		return redact(text)
	}
}

func (s *Server) hide(secrets ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hidden = append(s.hidden, secrets...)
	s.redact = report.Redactor(s.hidden)
}

// installation makes GitHub's client write as the server's App; nil for a step of a workflow.
func (s *Server) installation() *github.Installation {
	if s == nil || s.As == nil {
		return nil
	}
	as, last := *s.As, ""
	var mu sync.Mutex
	as.Token = func(ctx context.Context, refused string) (string, error) {
		token, err := s.As.Token(ctx, refused)
		mu.Lock()
		defer mu.Unlock()
		if err == nil && token != last {
			last = token
			s.hide(token)
		}
		return token, err
	}
	return &as
}

// shown is who shows the run besides GitHub.
func (s *Server) shown() engine.Shown {
	if s == nil {
		return engine.Shown{}
	}
	return s.Shown
}

// layers are the settings below the repository's own.
func (s *Server) layers() []config.Layer {
	if s == nil {
		return nil
	}
	return append([]config.Layer(nil), s.Layers...)
}

// watchStop tells the run when the server says that it shall stop.
func (s *Server) watchStop(running context.Context, p *lease.Heartbeat) {
	select {
	case wish := <-s.Stop:
		p.Stop(wish)
	case <-running.Done():
	}
}

// begins tells the server of a run, with the records that it has already when it continues.
func (s *Server) begins(of StartedRun, raw []byte, way loop.ResumeMode) {
	if s == nil || s.Begun == nil {
		return
	}
	var before []loop.Record
	if way != loop.Begin {
		before, _, _ = journal.Read(bytes.NewReader(raw)) // it was read before
	}
	of.Records = len(before)
	s.Begun(of)
	for i, r := range before {
		s.Record(i+1, r)
	}
}

// recordListener tells whoever wants to know of each record.
func (a *Action) recordListener(work *job) func(loop.Record) {
	if a.Server == nil || a.Server.Record == nil {
		return a.stored
	}
	return func(r loop.Record) {
		a.Server.Record(work.Journal.State().Records, r)
		if a.stored != nil {
			a.stored(r)
		}
	}
}

// handsOn reports whether a run is left for the next process of its job: the server wants this one to end, and no one
// wants the run to; or it has failed on a full disk, which is nothing of its own.
func (a *Action) handsOn(ctx, running context.Context, result loop.Result) bool {
	var stop *lease.StoppedError
	if a.Server == nil || errors.As(context.Cause(running), &stop) {
		return false
	}
	return ctx.Err() != nil && result.Outcome == loop.Interrupted ||
		result.Outcome == loop.Failed && full(a.Env.RalphWorkspace)
}

// full reports whether a directory takes no file of a megabyte, for want of room.
func full(dir string) bool {
	file, err := os.CreateTemp(dir, ".room-")
	if err == nil {
		_, err = file.Write(make([]byte, 1<<20))
		err = errors.Join(err, file.Close(), os.Remove(file.Name()))
	}
	return errors.Is(err, syscall.ENOSPC)
}

// handOn leaves a run as one that has not come to its end: its record and its commits are on the remote, and no one
// holds it.
func (a *Action) handOn(ctx context.Context, work *job, result loop.Result) loop.Result {
	late, cancel := a.afterCancel(ctx)
	defer cancel()
	a.warn("handing the run on", work.Journal.Finish(late))
	a.log("the run %s is left to the next process of its job", work.Journal.State().Start.Run)
	return loop.Result{Outcome: loop.Interrupted, Reason: "this process has ended; the run resumes in another",
		State: work.Journal.State()}
}

// notify tells others how the run ended. In a server's process that is the server's: the addresses never leave it.
func (a *Action) notify(ctx context.Context, work *job, result loop.Result) {
	view := work.view(result.State)
	if a.Server == nil {
		work.Notify(ctx, view, a.Env.RunURL())
		return
	}
	if n := work.Notice(view, a.Server.Page); n != nil && a.Server.Notice != nil {
		a.Server.Notice(*n)
	}
}
