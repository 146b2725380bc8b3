package bot

import (
	"bytes"
	"context"
	"sync"

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
	Layers  []config.Layer   // settings below the repository's own: the organization's
	Allow   config.Allowance // what no setting goes beyond
	Mistake error            // in the settings, why no run may begin; nil: one may
	Mirror  string           // where the repository's objects are on this machine; "" is nowhere
	Stop    <-chan lease.Stop
	Hints   func() []loop.Hint              // hints since the last call; nil: the run takes no hints
	Begun   func(StartedRun)                // before the first record of the run
	Record  func(number int, r loop.Record) // each record, from 1 on, those of earlier processes first
	Shown   engine.Shown                    // what else the page shows
	Notice  func(engine.Notice)             // tells others how the run ended; nil: no one does
}

// secrets are what no text of a job may hold.
type secrets struct {
	mu     sync.Mutex
	values []string
	redact func(string) string // takes values out of a text
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

// without takes the values out of a text.
func (s *secrets) without(text string) string {
	s.mu.Lock()
	redact := s.redact
	s.mu.Unlock()
	if redact == nil {
		return text
	}
	return redact(text)
}

func (s *secrets) hide(values ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values = append(s.values, values...)
	s.redact = report.Redactor(s.values)
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
