package local

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/report/status"
	"github.com/ralph-loop/ralph/internal/session"
)

// Status looks at the runs of this directory, of whatever process. It writes nothing, so a run is not disturbed.
type Status struct {
	session.Session
	Task string // the run of this task; empty: the one that something was written of last
}

// Look says where the run stands.
func (i *Status) Look(ctx context.Context) (status.RunStatus, error) {
	found, err := i.find(ctx)
	if err != nil {
		return status.RunStatus{}, err
	}
	return found.Status()
}

// WorkDir is where the run's agent works.
func (i *Status) WorkDir(ctx context.Context) (string, error) {
	found, err := i.find(ctx)
	if err == nil {
		_, err = found.Status()
	}
	if err != nil {
		return "", err
	}
	return found.WorkDir()
}

// Watch shows the run at every interval until it has ended or ctx is done. changed says whether its status has.
func (i *Status) Watch(ctx context.Context, every time.Duration,
	show func(f *session.Found, st status.RunStatus, changed bool) error) error {
	found, err := i.find(ctx)
	for shown := ""; err == nil; {
		var st status.RunStatus
		if st, err = found.Status(); err != nil {
			break
		}
		begins := st.LockAlive && !st.LockIsRun && i.Task == "" // a run has the lock, and nothing to tell yet
		if text := st.Text(); !begins {
			err = show(found, st, text != shown)
			shown = text
		}
		if err != nil || !st.LockIsRun && !begins {
			break
		}
		if engine.Wait(ctx, every); ctx.Err() != nil {
			return ctx.Err()
		}
		if begins {
			found, err = i.find(ctx)
		}
	}
	return err
}

// find looks for the run of the task, or the latest run.
func (i *Status) find(ctx context.Context) (*session.Found, error) {
	i.Begin()
	homes := i.RunHomes(ctx)
	var newest *session.Found
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
				newest, at = &session.Found{
					Session: &i.Session, Dir: home, Run: place.Dir, Follower: journal.Follow(place.Dir),
				}, place.At
				break
			}
		}
	}
	if newest != nil {
		return newest, nil
	}
	if i.Task != "" {
		return nil, invalid.Errorf("no run of the task %q in %s; run ralph status without a task to see the latest run",
			i.Task, homes[0])
	}
	why := fmt.Sprintf("no runs in %s yet; start one with ralph run", homes[0])
	return &session.Found{Session: &i.Session, Dir: homes[0], Why: why}, nil
}

// wanted reports whether the run in dir is one to show: it has begun, and is of the task.
func (i *Status) wanted(dir string) (bool, error) {
	s, _, err := journal.Follow(dir).Next()
	if err != nil {
		return false, invalid.Errorf("%w; move %s away to see the other runs", err, dir)
	}
	return s.Records > 0 && (i.Task == "" || s.Start.Task == i.Task), nil
}
