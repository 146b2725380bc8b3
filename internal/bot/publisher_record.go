package bot

import (
	"context"

	"github.com/ralph-loop/ralph/internal/loop"
)

// record publishes and notes in the journal what came of it.
func (a *Action) record(ctx context.Context, work *job, publish func(context.Context, loop.State) *loop.Post) {
	post := publish(ctx, work.Journal.State())
	if post == nil {
		return
	}
	_, err := work.Journal.Store(loop.Record{Type: loop.Posted, At: a.Clock(), Post: post})
	a.warn("recording what was published", err)
}
