package engine

import (
	"context"
	"time"
)

// endGrace is what a run has for its end once hard is done: whoever asks twice does not want to wait, and a third time
// changes nothing.
const endGrace = 10 * time.Second

// AfterStop is the time for the end of a run, which it also has when ctx is done: at most this long, and no longer than
// endGrace once hard is done.
func AfterStop(ctx, hard context.Context, most time.Duration) (context.Context, context.CancelFunc) {
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), most)
	forget := context.AfterFunc(hard, func() {
		select {
		case <-late.Done():
		case <-time.After(endGrace):
			cancel()
		}
	})
	return late, func() {
		forget()
		cancel()
	}
}
