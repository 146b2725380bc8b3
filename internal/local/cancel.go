package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/session"
)

// Cancel ends the run that has this directory, as its own terminal could: it is asked once to stop after the step that
// it is at, a second time to stop that too.
type Cancel struct {
	session.Session
	Task string        // only when it is of this task; empty: of any
	Now  bool          // do not wait for the step
	Wait time.Duration // how long to wait for the end; 0: a minute
}

// How long cancelling takes.
const (
	cancelWait  = time.Minute
	cancelQuiet = 2 * time.Second        // until it is said that the step goes on
	betweenAsks = 250 * time.Millisecond // two signals at once would be taken for one
	cancelLook  = 50 * time.Millisecond
)

// askedFile remembers that a process has been asked, since asking it again would stop the step that it is at. It is in
// .ralph, where no commit takes it up.
const askedFile = "runs/cancelled"

// Run cancels the run and says how it ended. An error says why nothing was done, or that the run goes on.
func (c *Cancel) Run(ctx context.Context) error {
	c.Begin()
	if c.Task != "" {
		if _, err := (&Status{Session: c.Session, Task: c.Task}).find(ctx); err != nil {
			return err
		}
	}
	dir, owner, err := c.holder(ctx)
	if err != nil {
		return err
	}
	if owner.PID == 0 {
		c.Log("nothing to cancel: no run is at work in %s", dir)
		return nil
	}
	if !owner.Alive && !owner.Elsewhere {
		c.Log(
			"nothing to cancel: process %d, which had %s, is gone; the next ralph run takes up what it left",
			owner.PID, dir,
		)
		return nil
	}
	look := &Status{Session: c.Session, Task: c.inTree(owner.Dir)}
	st, err := look.Look(ctx)
	if err != nil {
		return err
	}
	if c.Task != "" && st.Task != c.Task {
		c.Log(
			"nothing to cancel: the run at work in %s is of %s, not of %s", dir, cmp.Or(st.Task, "another task"),
			c.Task,
		)
		return nil
	}
	if err := c.ask(ctx, dir, owner); err != nil {
		return err
	}
	if err := c.await(ctx, dir, owner.PID); err != nil {
		return err
	}
	_ = os.Remove(filepath.Join(dir, ".ralph", askedFile))
	return c.tell(ctx, look)
}

// holder is the directory that somebody has, and who; the first of ours when nobody has any.
func (c *Cancel) holder(ctx context.Context) (dir string, o journal.Owner, err error) {
	homes := c.RunHomes(ctx)
	for _, home := range homes {
		if o, err = journal.LockOwner(home); err != nil {
			return home, o, invalid.Errorf("%w", err)
		}
		if o.PID > 0 {
			break
		}
	}
	home, tree, err := c.holderOfTree(homes[len(homes)-1], o.PID > 0 && o.Alive)
	switch {
	case err != nil:
		return homes[0], o, err
	case tree.PID > 0:
		return home, tree, nil
	case o.PID > 0:
		return o.Dir, o, nil
	}
	return homes[0], o, nil
}

// holderOfTree is who works in a tree of its own beside a clone, on the task that was named or on the only one there is.
// busy says that somebody has the clone itself: without a name that one is meant. PID is 0 when there is nobody.
func (c *Cancel) holderOfTree(top string, busy bool) (dir string, o journal.Owner, err error) {
	in := c.Session
	in.Dir = top
	if c.Task == "" && busy {
		return "", o, nil
	}
	var found []string
	for _, task := range in.Trees() {
		tree, err := in.TreeOf(task)
		if err != nil || c.Task != "" && task != c.Task {
			continue
		}
		at, err := journal.LockOwner(tree.Dir)
		if err != nil {
			return "", o, invalid.Errorf("%w", err)
		}
		if at.PID > 0 && at.Alive {
			found, dir, o = append(found, task), at.Dir, at
		}
	}
	if len(found) > 1 {
		return "", o, invalid.Errorf("several runs are at work here: %s; say which: ralph cancel %s",
			strings.Join(found, ", "), found[0])
	}
	if len(found) == 1 {
		c.Task = found[0]
	}
	return dir, o, nil
}

// inTree is the task when its run works in a tree of its own at dir; empty: it works in the clone.
func (c *Cancel) inTree(dir string) string {
	if c.Task != "" && filepath.Base(dir) == c.Task {
		return c.Task
	}
	return ""
}

// ask sends the signals, to a ralph that holds the lock and to nobody else.
func (c *Cancel) ask(ctx context.Context, dir string, owner journal.Owner) error {
	before := c.asked(dir, owner.PID)
	if !before {
		if err := c.signal(dir, owner.PID); err != nil {
			return err
		}
		c.remember(dir, owner.PID)
	}
	c.Log("process %d was asked to stop", owner.PID)
	if !c.Now {
		return nil
	}
	select {
	case <-time.After(betweenAsks):
	case <-ctx.Done():
		return ctx.Err()
	}
	if now, err := journal.LockOwner(dir); err != nil || now.PID != owner.PID {
		return nil //nolint:nilerr // it is gone already
	}
	return c.signal(dir, owner.PID)
}

func (c *Cancel) signal(dir string, pid int) error {
	return proc.Ask(pid, func(name string) error {
		owner, err := journal.LockOwner(dir)
		if err == nil && !owner.Holds { // it may have been giving it back just now
			time.Sleep(cancelLook)
			owner, err = journal.LockOwner(dir)
		}
		lock := filepath.Join(owner.Dir, journal.LockFile)
		switch {
		case err != nil:
			return err
		case owner.Elsewhere:
			return fmt.Errorf(
				"the run in %s is of another container or machine, where process %d is to be found: cancel it there",
				dir, pid,
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
func (c *Cancel) await(ctx context.Context, dir string, pid int) error {
	wait := c.Wait
	if wait <= 0 {
		wait = cancelWait
	}
	begun, told := time.Now(), c.Now
	for {
		owner, err := journal.LockOwner(dir)
		if err != nil || owner.PID != pid || !owner.Alive {
			return err
		}
		switch past := time.Since(begun); {
		case past > wait:
			return fmt.Errorf("process %d is still at work after %s: ralph cancel --now stops it at once", pid, safetext.Duration(wait))
		case past > cancelQuiet && !told:
			told = true
			c.Log("…still finishing its step; --now stops it at once")
		}
		select {
		case <-time.After(cancelLook):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// tell says how the run ended.
func (c *Cancel) tell(ctx context.Context, look *Status) error {
	look.Task = c.Task
	st, err := look.Look(ctx)
	if err != nil {
		return err
	}
	c.Log("%s: %s", st.Task, st.Line())
	if st.State != string(loop.Done) && st.Next != "" {
		c.Log("%s", st.Next)
	}
	return nil
}

// asked reports whether the process has been asked before. remember keeps it.
func (c *Cancel) asked(dir string, pid int) bool {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer root.Close()
	info, err := root.Lstat(filepath.Join(".ralph", askedFile))
	if err != nil || !info.Mode().IsRegular() || info.Size() > 100 {
		return false
	}
	text, err := root.ReadFile(filepath.Join(".ralph", askedFile))
	return err == nil && string(text) == mark(dir, pid)
}

func (c *Cancel) remember(dir string, pid int) {
	err := makeRuns(dir) // a run of a prompt below the top has its own elsewhere
	if err == nil {
		err = files.Replace(filepath.Join(dir, ".ralph", askedFile), []byte(mark(dir, pid)))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.Log("remembering that process %d was asked: %v", pid, err)
	}
}

// makeRuns makes the directory that askedFile is in.
func makeRuns(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return root.MkdirAll(filepath.Join(".ralph", filepath.Dir(askedFile)), 0o755)
}

// mark tells a holder of the lock from a later one of the same number.
func mark(dir string, pid int) string {
	info, err := os.Lstat(filepath.Join(dir, journal.LockFile))
	if err != nil {
		return fmt.Sprintf("%d\n", pid)
	}
	return fmt.Sprintf("%d %d\n", pid, info.ModTime().UnixNano())
}
