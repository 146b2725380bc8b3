package local

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/session"
)

// Cancel ends the run that has this directory, as Ctrl-C at its own terminal does: after its step, or if it was asked
// before, at once.
type Cancel struct {
	session.Session
	Task string // only when it is of this task; empty: of any
	Now  bool   // do not wait for the step
}

// How long cancelling takes.
const (
	cancelWait  = time.Minute
	cancelQuiet = 2 * time.Second        // until it is said that the step continues
	betweenAsks = 250 * time.Millisecond // two signals at once would be taken for one
	cancelLook  = 50 * time.Millisecond
)

// Run cancels the run and says how it ended. An error says why nothing was done, or that the run continues.
func (c *Cancel) Run(ctx context.Context) error {
	c.Begin()
	look := &Status{Session: c.Session, Task: c.Task}
	if c.Task != "" {
		if _, err := look.find(ctx); err != nil {
			return err
		}
	}
	work, owner, err := c.holder(ctx)
	if err != nil {
		return err
	}
	if owner.PID == 0 {
		c.Log("nothing to cancel: no run is running in %s", work.dir)
		return nil
	}
	if !owner.Alive && !owner.Elsewhere {
		c.Log(
			"nothing to cancel: process %d, which had %s, has ended; the next ralph run resumes its work",
			owner.PID, work.dir,
		)
		return nil
	}
	st, err := look.Look(ctx)
	if err != nil {
		return err
	}
	if c.Task != "" && st.Task != c.Task {
		c.Log(
			"nothing to cancel: the running run in %s is of %s, not of %s", work.dir, cmp.Or(st.Task, "another task"),
			c.Task,
		)
		return nil
	}
	if err := c.ask(ctx, work, owner); err != nil {
		return err
	}
	if err := c.await(ctx, work, owner.PID); err != nil {
		return err
	}
	if st, err = look.Look(ctx); err != nil {
		return err
	}
	c.Log("%s: %s", st.Task, st.Line())
	if st.State != string(loop.Done) && st.Next != "" {
		c.Log("%s", st.Next)
	}
	return nil
}

// atWork is what a process works on: a task of the clone at dir, or with "" a prompt there.
type atWork struct {
	*session.Session
	dir, task string
}

func (w atWork) owner() (journal.Owner, error) {
	o, err := w.Holder(w.dir, w.task)
	if err != nil {
		err = invalid.Errorf("%w", err)
	}
	return o, err
}

// holder finds what is running, and its process: a prompt, or the task that was named, or the only task. If nothing is
// running, it finds what a killed process has left.
func (c *Cancel) holder(ctx context.Context) (w atWork, o journal.Owner, err error) {
	homes := c.RunHomes(ctx)
	in := c.Session
	in.Dir = homes[len(homes)-1]
	all := safetext.Map(homes, func(home string) atWork { return atWork{&c.Session, home, ""} })
	for _, task := range append(in.TasksAtWork(), in.Checkouts()...) {
		all = append(all, atWork{&c.Session, in.Dir, task})
	}
	w = all[0]
	busy, tasks := map[int]bool{}, map[string]bool{}
	for _, at := range all {
		now, err := at.owner()
		works := now.Alive || now.Elsewhere
		switch {
		case err != nil:
			return at, now, err
		case now.PID == 0 || c.Task != "" && at.task != c.Task && at.task != "":
		case works && at.task == "" && c.Task == "":
			return at, now, nil
		case works && at.task != "":
			busy[now.PID], tasks[at.task], w, o = true, true, at, now
		case o.PID == 0:
			w, o = at, now
		}
	}
	if names := slices.Sorted(maps.Keys(tasks)); len(busy) > 1 {
		return w, o, invalid.Errorf("several runs are running here: %s; name one: ralph cancel %s",
			strings.Join(names, ", "), names[0])
	}
	return w, o, nil
}

// ask sends the signals, to a ralph that holds the lock and to no one else.
func (c *Cancel) ask(ctx context.Context, w atWork, owner journal.Owner) error {
	if err := c.signal(w, owner.PID); err != nil {
		return err
	}
	c.Log("process %d was asked to stop", owner.PID)
	if !c.Now {
		return nil
	}
	if engine.Wait(ctx, betweenAsks); ctx.Err() != nil {
		return ctx.Err()
	}
	if now, err := w.owner(); err != nil || now.PID != owner.PID {
		return nil //nolint:nilerr // it has ended already
	}
	return c.signal(w, owner.PID)
}

func (c *Cancel) signal(w atWork, pid int) error {
	return proc.Ask(pid, func(name string) error {
		owner, err := w.owner()
		if err == nil && !owner.Holds { // it may have been giving it back just now
			time.Sleep(cancelLook)
			owner, err = w.owner()
		}
		lock := filepath.Join(owner.Dir, cmp.Or(w.task, journal.LockFile))
		switch {
		case err != nil:
			return err
		case owner.Elsewhere:
			return fmt.Errorf(
				"the run in %s is of another container or machine, as process %d: cancel it there",
				w.dir, pid,
			)
		case owner.PID != pid:
			return fmt.Errorf(
				"the run of process %d has ended, and process %d has begun one: say ralph cancel again to stop that",
				pid, owner.PID,
			)
		case !owner.Holds:
			return fmt.Errorf(
				"process %d, which %s names, does not hold it: it is another program that got the number of a run that is gone. "+
					"The next ralph run takes the lock over",
				pid, lock,
			)
		case name != "" && name != proc.Name(os.Getpid()) && !strings.HasPrefix(name, "ralph"):
			return fmt.Errorf("process %d, which holds %s, is %q and no ralph: stop it yourself", pid, lock, name)
		}
		return nil
	})
}

// await waits until the directory is free.
func (c *Cancel) await(ctx context.Context, w atWork, pid int) error {
	begun, quiet := time.Now(), !c.Now
	for {
		owner, err := w.owner()
		if err != nil || owner.PID != pid || !owner.Alive {
			return err
		}
		switch past := time.Since(begun); {
		case past > cancelWait:
			return fmt.Errorf("process %d is still at work after %s: ralph cancel --now stops it at once", pid, safetext.Duration(cancelWait))
		case past > cancelQuiet && quiet:
			quiet = false
			c.Log("…still finishing its step; --now stops it at once")
		}
		if engine.Wait(ctx, cancelLook); ctx.Err() != nil {
			return ctx.Err()
		}
	}
}
