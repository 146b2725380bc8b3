package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/report"
)

// Inspection looks at the runs of this directory, of whatever process (S2-82). It writes nothing, so a run is not disturbed.
type Inspection struct {
	Seat
	Task string // the run of this task; empty: the one that something was written of last
}

// Look says where the run stands.
func (i *Inspection) Look(ctx context.Context) (report.Standing, error) {
	found, err := i.find(ctx)
	if err != nil {
		return report.Standing{}, err
	}
	return found.stand()
}

// Watch shows where the run stands, and again whenever that changes, until it works no more or ctx is done.
func (i *Inspection) Watch(ctx context.Context, every time.Duration, show func(report.Standing) error) error {
	found, err := i.find(ctx)
	for shown := ""; err == nil; {
		var st report.Standing
		if st, err = found.stand(); err != nil {
			break
		}
		begins := st.LockAlive && !st.LockIsRun && i.Task == "" // a run has the lock, and nothing to tell yet
		if text := st.Text(); text != shown && !begins {
			shown, err = text, show(st)
		}
		if err != nil || !st.LockIsRun && !begins {
			break
		}
		select {
		case <-time.After(every):
		case <-ctx.Done():
			return ctx.Err()
		}
		if begins {
			found, err = i.find(ctx)
		}
	}
	return err
}

// sight is a run that was found, or the directory where none was.
type sight struct {
	seat *Seat
	dir  string // the directory that the run guards
	run  string // the run's own; empty: there is none
	book *journal.Follower
	why  string // there is none
}

// homes are the directories whose runs are looked for: where a prompt's runs are, and where those of issues are.
func (s *Seat) homes(ctx context.Context) []string {
	homes := []string{nearest(s.Dir)}
	if top, err := git.Top(ctx, s.Dir, s.Parent); err == nil && !slices.Contains(homes, top) {
		homes = append(homes, top)
	}
	return homes
}

// find looks for the run that was asked for.
func (i *Inspection) find(ctx context.Context) (*sight, error) {
	i.sit()
	homes := i.homes(ctx)
	var newest *sight
	var at time.Time
	for _, home := range homes {
		places, err := journal.Places(filepath.Join(home, ".ralph", "runs"))
		if err != nil {
			return nil, invalid.Errorf("%w", err)
		}
		for _, place := range places {
			if newest != nil && !place.At.After(at) {
				break
			}
			if ok, err := i.wanted(place.Dir); err != nil {
				return nil, err
			} else if ok {
				newest, at = &sight{seat: &i.Seat, dir: home, run: place.Dir, book: journal.Follow(place.Dir)}, place.At
				break
			}
		}
	}
	if newest != nil {
		return newest, nil
	}
	why := fmt.Sprintf("nothing has run in %s yet; ralph run begins", homes[0])
	if i.Task != "" {
		why = fmt.Sprintf("no run of the task %s is in %s; ralph status without a task shows the newest run", i.Task, homes[0])
	}
	return &sight{seat: &i.Seat, dir: homes[0], why: why}, nil
}

// wanted reports whether the run in dir is one to show: it has begun, and is of the task.
func (i *Inspection) wanted(dir string) (bool, error) {
	s, _, err := journal.Follow(dir).Next()
	if err != nil {
		return false, invalid.Errorf("%w; move %s away to see the other runs", err, dir)
	}
	return s.Records > 0 && (i.Task == "" || s.Start.Task == i.Task), nil
}

// stand says where the run is now.
func (f *sight) stand() (report.Standing, error) {
	owner, err := journal.Held(f.dir)
	if err != nil {
		return report.Standing{}, invalid.Errorf("%w", err)
	}
	lock := report.Lock{PID: owner.PID, Alive: owner.Alive && owner.Holds}
	if f.run == "" {
		return report.NoRun(f.dir, f.why, lock), nil
	}
	state, _, err := f.book.Next()
	if err != nil {
		return report.Standing{}, invalid.Errorf("%w", err)
	}
	st := report.Stand(f.seat.view(state), lock)
	st.Directory = f.dir
	if st.RunDir, err = filepath.Rel(f.dir, f.run); err != nil {
		st.RunDir = f.run
	}
	if _, err := os.Lstat(filepath.Join(f.dir, stateFile)); err == nil && st.State != "done" && st.Branch != "" { // a run of a prompt has none
		st.StateFile = stateFile
	}
	return st, nil
}
