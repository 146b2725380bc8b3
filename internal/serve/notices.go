package serve

import (
	"context"
	"log/slog"
	"sync"

	"github.com/ralph-loop/ralph/internal/notify"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/work"
)

// What a notice may have.
const (
	mostTitle = 300  // characters
	mostText  = 4000 // characters
)

// notices tells others how runs ended. The addresses are of this process alone.
type notices struct {
	places  []notify.Place
	environ []string // what a command gets
	log     *slog.Logger
	telling sync.WaitGroup
}

func newNotices(environ []string, log *slog.Logger) *notices {
	return &notices{places: notify.Places(environ), environ: proc.Environment(environ, proc.Allowed), log: log}
}

// tell tells the places that a notice names how a run ended, without making anyone wait. Whose run it is is known here
// better than where the notice comes from.
func (n *notices) tell(ctx context.Context, run store.Run, m work.Notice) {
	m.Message.Repository = run.Repository
	m.Message.Title = safetext.FirstRunes(safetext.OneLine(m.Message.Title), mostTitle)
	m.Message.Text = safetext.FirstRunes(m.Message.Text, mostText)
	places, missing := notify.Named(n.places, m.To)
	for _, name := range missing {
		n.log.Warn("no notification was sent: the environment variable is not set", "variable", name, "run", run.ID)
	}
	ctx = context.WithoutCancel(ctx)
	for _, place := range places {
		n.telling.Go(func() {
			if err := place.Send(ctx, m.Message, n.environ); err != nil {
				n.log.Warn("a notification failed", "run", run.ID, "error", err)
			}
		})
	}
}
