package serve

import (
	"context"
	"errors"
	"time"

	"github.com/ralph-loop/ralph/internal/launch"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/queue"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
)

// lookForWords is how often it is looked whether somebody has said something to a run.
const lookForWords = 2 * time.Second

// attend hands on what is said to a run while it works, until its process has ended.
func (w *worker) attend(ctx context.Context, id string, r *launch.Running, to *recorder) {
	over, end := context.WithCancel(context.Background())
	go func() {
		_, _ = r.Wait()
		end()
	}()
	go func() {
		tick := time.NewTicker(lookForWords)
		defer tick.Stop()
		for {
			select {
			case <-over.Done():
				return
			case <-ctx.Done():
				if cancelled := (*queue.CancelledError)(nil); errors.As(context.Cause(ctx), &cancelled) {
					r.Stop("", cancelled.Why)
				} else {
					r.HandOn()
				}
				return
			case <-tick.C:
				if err := w.room(leastToGoOn); err != nil { // it would fail, and that is nothing of its own
					w.log.Warn("a run is handed on, and waits for room", "run", id, "error", err)
					r.HandOn()
					return
				}
				w.pass(over, id, r, to)
			}
		}
	}()
}

// pass hands on what was said. A stop is told again and again, which changes nothing.
func (w *worker) pass(ctx context.Context, id string, r *launch.Running, to *recorder) {
	said, err := w.s.Words(ctx, id, to.heardUpTo())
	if err != nil {
		return // the next look tells the same
	}
	var asked []store.Word
	for _, word := range said {
		switch word.Kind {
		case web.Stop:
			r.Stop(word.Person, word.Text)
		case web.Hint:
			asked = append(asked, word)
		}
	}
	for _, word := range to.untold(asked) {
		if err := r.Hint(loop.Hint{ID: wordID(word), By: word.Person, Text: word.Text}); err != nil {
			w.log.Warn("a hint is not handed on", "run", id, "error", err)
		}
	}
}
