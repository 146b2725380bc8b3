package proc

import "time"

func orElse(d, other time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return other
}

// killing is how long ending what is left may take: of a tree that grows while it is cut, or that does not react to
// KILL.
const killing = 3 * time.Second

// stop ends the process: INT to it alone, TERM to the whole tree, each with its time, then KILL. It returns when the
// process has been waited for, or does not even die of KILL for a time (killing).
func (r *running) stop() {
	if r.spec.Interrupt > 0 {
		interrupt(r.innermost())
		r.within(r.spec.Interrupt, func() bool { return true })
	}
	r.tree.terminate()
	if r.within(r.spec.Grace, r.tree.gone) {
		return
	}
	r.end()
}

// end kills the whole tree, and waits for the process itself.
func (r *running) end() {
	r.tree.cut()
	over := time.NewTimer(killing)
	defer over.Stop()
	select {
	case <-r.done:
	case <-over.C: // it is in uninterruptible sleep, or is not ours to kill
	}
}

// within waits until the process has ended and the rest is gone, and reports whether that was in time.
func (r *running) within(limit time.Duration, gone func() bool) bool {
	over := time.NewTimer(limit)
	defer over.Stop()
	pause := time.Millisecond
	look := time.NewTimer(pause)
	defer look.Stop()
	for done := r.done; ; {
		select {
		case <-over.C:
			return false
		case <-r.spec.Hurry:
			return false
		case <-done:
			done = nil // the rest of the tree still has its time
		case <-look.C:
			if done == nil && gone() {
				return true
			}
			pause = min(2*pause, 20*time.Millisecond)
			look.Reset(pause)
		}
	}
}

// End ends processes that were spared, with everything that came of them: TERM, and KILL when the grace is over (0:
// DefaultGrace). It returns when they are gone, or a few seconds after the grace when the system does not let them end.
// Ids of processes that have ended since they were spared are skipped.
func End(pids []int, grace time.Duration) {
	active.add(1)
	defer active.add(-1)
	t, err := take(pids)
	if err != nil {
		return // nothing was ever spared
	}
	defer t.close()
	t.terminate()
	over, pause := time.Now().Add(orElse(grace, DefaultGrace)), time.Millisecond
	for !t.gone() && time.Now().Before(over) {
		time.Sleep(pause)
		pause = min(2*pause, 20*time.Millisecond)
	}
	t.kill()
}
