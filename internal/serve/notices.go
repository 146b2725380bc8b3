package serve

import (
	"context"
	"log/slog"

	"golang.org/x/sync/errgroup"

	"github.com/ralph-loop/ralph/internal/notify"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/work"
)

// What a notice may have, and how many are told at once.
const (
	mostTitle   = 300  // characters
	mostText    = 4000 // characters
	mostTelling = 20
)

// notices tells others how runs ended. The addresses are of this process alone.
type notices struct {
	places  []notify.Place
	environ []string // what a command gets
	log     *slog.Logger
	telling errgroup.Group
}

func newNotices(environ []string, log *slog.Logger) *notices {
	n := &notices{places: notify.Places(environ), environ: proc.Environment(environ, proc.Allowed), log: log}
	n.telling.SetLimit(mostTelling)
	return n
}

// tell tells the places that a notice names how a run ended, without making anybody wait. Whose run it is is known here
// better than where the notice comes from. Where too much is told already, it is said in the log alone.
func (n *notices) tell(ctx context.Context, run store.Run, m work.Notice) {
	m.Message.Repository = run.Repository
	m.Message.Title = safetext.FirstRunes(safetext.OneLine(m.Message.Title), mostTitle)
	m.Message.Text = safetext.FirstRunes(m.Message.Text, mostText)
	places, missing := notify.Named(n.places, m.To)
	for _, name := range missing {
		n.log.Warn("nobody was told how a run ended: the environment variable is not set", "variable", name, "run", run.ID)
	}
	ctx = context.WithoutCancel(ctx)
	for _, place := range places {
		if !n.telling.TryGo(func() error {
			if err := place.Send(ctx, m.Message, n.environ); err != nil {
				n.log.Warn("somebody was not told how a run ended", "run", run.ID, "error", err)
			}
			return nil
		}) {
			n.log.Warn("nobody was told how a run ended: too many are told at once", "variable", place.Name, "run", run.ID)
		}
	}
}
