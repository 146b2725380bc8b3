package store

import (
	"context"
	"time"
)

const (
	// everyCheckpoint is how often what was written to SQLite's log is copied into its file. Nobody waits for that.
	everyCheckpoint = 500 * time.Millisecond
	// longestLog is how many pages, of 4 KB, the log has before writers wait until all of it is copied and it begins anew.
	// Under steady writing there is always something left, and it would grow for ever.
	longestLog = 4000
)

// beginCheckpoints copies the log in the background. SQLite would have a writer do it in between, and all others wait.
func (s *Store) beginCheckpoints() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(everyCheckpoint)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				s.checkpoint(ctx)
			}
		}
	}()
	s.shut = append(s.shut, func() error {
		cancel()
		<-done
		return nil
	})
}

// checkpoint copies the log, and has it begin anew when it is long. Errors are left to whoever writes next: a disk that
// takes no copy takes no new record either, and the log is tried again.
func (s *Store) checkpoint(ctx context.Context) {
	var busy, pages, copied int
	if err := s.db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)").Scan(&busy, &pages, &copied); err != nil ||
		pages < longestLog || s.turn.enter(ctx) != nil {
		return
	}
	defer s.turn.leave()
	_ = s.db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(RESTART)").Scan(&busy, &pages, &copied) // only a little is left
}
