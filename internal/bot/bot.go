package bot

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/actions"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/task"
)

// labels are the issue's as the event has them, with the label that the event is about.
func labels(ev event.Event) []string {
	if ev.Issue == nil {
		return nil
	}
	if ev.Kind == event.Labeled && !slices.Contains(ev.Issue.Labels, ev.Label) {
		return append(slices.Clone(ev.Issue.Labels), ev.Label)
	}
	return ev.Issue.Labels
}

// owner names this process among those that may hold a run.
func (a *Action) owner() string {
	switch {
	case a.Server != nil:
		return fmt.Sprintf("ralph serve, job %s, attempt %d", a.Server.Job, a.Env.RunAttempt)
	case a.Env.RunID == 0:
		return fmt.Sprintf("process %d", os.Getpid())
	}
	return fmt.Sprintf("workflow run %d, attempt %d", a.Env.RunID, a.Env.RunAttempt)
}

func (a *Action) host() string {
	if u, err := url.Parse(a.Env.ServerURL); err == nil && u.Hostname() != "" {
		return u.Hostname()
	}
	return "github.com"
}

// baseBranch is the branch that a run starts from.
func (a *Action) baseBranch(ev event.Event) string {
	if a.Inputs.BaseBranch != "" {
		return a.Inputs.BaseBranch
	}
	return ev.Repo.DefaultBranch
}

// Action is ralph as a step of a workflow, or as a job of ralph serve.
type Action struct {
	Env    config.Environment
	Inputs config.Inputs
	Parent []string // the environment, NAME=value, of which children get what is allowed
	Runner *actions.Runner
	Clock  func() time.Time
	Server *Server // nil: this is a step of a workflow

	github    *github.Client
	connected []*github.Client // see disconnect
	rules     event.Rules
	ways      *event.Ways // see readWays; nil: not read
	// reportFile is the report of the run that this job has worked on, from the workspace; "" before there is one.
	reportFile string
	secrets    secrets
	stored     func(loop.Record)     // see ledger
	tune       func(*github.Options) // nil: as they are
	timing
}

// timing is how long what a job does may take. The zero value is as users have it.
type timing struct {
	wall  time.Duration                              // the time limit, instead of that of the settings; 0: theirs
	last  time.Duration                              // see patience
	beat  <-chan time.Time                           // of the lease; nil: as users have them
	pause func(context.Context, time.Duration) error // see ciCheck; nil: real time
}

// plenty is what each of a job's last steps has where nothing is about to kill it.
const plenty = 2 * time.Minute

// whileAway is for how long a job asks git or GitHub again that is away; its pushes are tried for as long as the run has
// time.
const (
	whileAway    = 10 * time.Minute
	whileAPIAway = 2 * time.Minute
	// whileFinishing is the pause before the reports are tried again.
	whileFinishing = 5 * time.Second
)

// patience is what each of the last steps of a canceled job has; 0: what GitHub leaves it.
func (a *Action) patience() time.Duration {
	if a.Server != nil {
		return plenty
	}
	return a.last
}

// afterCancel is the time for reports: all that a canceled job still has, or as long as git and GitHub may be away.
func (a *Action) afterCancel(ctx context.Context) (context.Context, context.CancelFunc) {
	left := whileAway
	if ctx.Err() != nil {
		left = cmp.Or(a.patience(), 4*time.Second)
	}
	return context.WithTimeout(context.WithoutCancel(ctx), left)
}

func (a *Action) task(ctx context.Context, request event.Request, facts event.Facts) (task.Task, error) {
	if a.Inputs.PromptFile != "" && request.Event.Issue == nil {
		return task.Task{ID: promptFileTask}, nil // read from the base commit, once there is a checkout
	}
	t, err := task.From(request, facts)
	if err != nil {
		return t, invalid.Mark(err)
	}
	if facts.Dropped > 0 {
		a.log("%d comments are left out: their authors' permissions were not looked up", facts.Dropped)
	}
	return t, ctx.Err()
}

const promptFileTask = "prompt-file"

func (a *Action) log(format string, args ...any) {
	_, _ = fmt.Fprintln(a.Runner, a.redact(fmt.Sprintf(format, args...)))
}

// redact takes secrets out of a text, also those that came later.
func (a *Action) redact(s string) string { return a.secrets.without(s) }

func (a *Action) warn(doing string, err error) {
	if err != nil {
		a.log("%s: %v", doing, err)
	}
}

// runURL is the page of the job.
func (a *Action) runURL() string {
	if a.Server != nil {
		return a.Server.Page
	}
	return a.Env.RunURL()
}
