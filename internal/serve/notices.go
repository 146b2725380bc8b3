package serve

import (
	"context"
	"log/slog"
	"sync"

	"github.com/ralph-loop/ralph/internal/notify"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
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
	telling sync.WaitGroup
	room    chan struct{}
}

func newNotices(environ []string, log *slog.Logger) *notices {
	return &notices{places: notify.Places(environ), environ: proc.Environment(environ, proc.Allowed), log: log,
		room: make(chan struct{}, mostTelling)}
}

// tell tells the places that a notice names, without making anybody wait. Where too much is told already, it is said in
// the log alone.
func (n *notices) tell(ctx context.Context, run string, m work.Notice) {
	places, missing := notify.Named(n.places, m.To)
	for _, name := range missing {
		n.log.Warn("nobody was told how a run ended: the environment variable is not set", "variable", name, "run", run)
	}
	ctx = context.WithoutCancel(ctx)
	for _, place := range places {
		select {
		case n.room <- struct{}{}:
		default:
			n.log.Warn("nobody was told how a run ended: too many are told at once", "variable", place.Name, "run", run)
			continue
		}
		n.telling.Go(func() {
			defer func() { <-n.room }()
			if err := place.Send(ctx, m.Message, n.environ); err != nil {
				n.log.Warn("somebody was not told how a run ended", "run", run, "error", err)
			}
		})
	}
}

// Notice implements launch.Listener. Whose run it is and where it is shown is known here better than there.
func (r *recorder) Notice(m work.Notice) {
	r.mu.Lock()
	run, repository, silent := r.row.ID, r.row.Repository, r.row.Kind != ""
	r.mu.Unlock()
	if r.notices == nil || silent {
		return
	}
	m.Message.Repository = repository
	m.Message.Title = safetext.FirstRunes(safetext.OneLine(m.Message.Title), mostTitle)
	m.Message.Text = safetext.FirstRunes(m.Message.Text, mostText)
	r.notices.tell(context.Background(), run, m)
}
