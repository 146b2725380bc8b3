//go:build unix

package bot

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake"
)

// writesOf is how many writes a journey makes when nothing goes wrong, and what there is afterwards.
func writesOf(t *testing.T, j journey) (n int, after string) {
	t.Helper()
	w := newJourney(t, true)
	event, payload := j.ask(w)
	w.gh.ResetCalls()
	w.must(j.want)(w.hasten(event, payload))
	n = w.writes()
	w.clean()
	return n, w.dump()
}

// writes is how many writes GitHub has carried out.
func (w *world) writes() (n int) {
	for _, c := range append(w.gh.Calls(), w.gh.GitCalls()...) {
		if c.Write {
			n++
		}
	}
	return n
}

// mostPutOff is how many updates of a comment may fall together with the next one in one journey and not in another:
// what is put off until the comment was quiet depends on the time that turns take.
const mostPutOff = 2

// diesAfter runs the job of an event in a process of its own, which is killed with SIGKILL when its nth write to GitHub
// has been carried out, before the answer. Nothing that anybody sees happens from then to the next write, so that it is
// a kill before that one too. It is not killed when it ends with fewer writes, since updates were put off.
func (w *world) diesAfter(nth int, event string, payload []byte) (killed bool) {
	w.t.Helper()
	var out strings.Builder
	job := w.process("never", event, payload)
	job.Stdout, job.Stderr = &out, &out
	var begun sync.WaitGroup
	begun.Add(1)
	before := w.writes()
	w.gh.Fail(fake.Fault{Write: true, Nth: nth, Then: func() {
		begun.Wait()
		_ = job.Process.Kill() // what comes of it is looked at below
	}})
	noError(w.t, job.Start())
	begun.Done()
	err := job.Wait()
	w.gh.ClearFaults()
	killed = err != nil && err.Error() == "signal: killed"
	if made := w.writes() - before; !killed && (made >= nth || made < nth-mostPutOff) {
		w.t.Errorf("the job was not killed at write %d, and made %d: %v\n%s", nth, made, err, out.String())
	}
	return killed
}

// starts are how a journey goes on after a kill: by the job run again, or not. What a sweep can go on with is tried
// both ways in turn, or in make every both ways each time. After the last write there is nothing left to do, and a
// job that is run again asks anew.
func (j journey) starts(nth, writes int) []bool {
	switch {
	case strings.HasPrefix(j.name, "a sweep") || nth == writes:
		return []bool{false}
	case !strings.HasPrefix(j.name, "a label"): // nobody else knows of the comment
		return []bool{true}
	case every():
		return []bool{false, true}
	}
	return []bool{nth/2%2 == 0}
}

// TestKilledBetweenAnyTwoWrites: wherever a job dies, the next start leads to what there would have been: the sweep of
// another machine, or GitHub's "re-run job", which alone knows of a comment that nobody has taken up yet.
func TestKilledBetweenAnyTwoWrites(t *testing.T) {
	t.Parallel()
	var jobs []func()
	for _, j := range some(1, journeys...) {
		writes, want := writesOf(t, j)
		for nth := 1; nth <= writes; nth++ {
			if !every() && (writes-nth)%12 != 0 {
				continue
			}
			for _, rerun := range j.starts(nth, writes) {
				jobs = append(jobs, func() {
					w := newJourney(t, true)
					event, payload := j.ask(w)
					if !w.diesAfter(nth, event, payload) {
						return
					}
					w.late += 2 * time.Hour
					what := fmt.Sprintf("%s, killed after write %d of %d", j.name, nth, writes)
					if rerun {
						what += ", run again"
						if result, err := w.again(event, payload); err != nil {
							t.Errorf("%s: outcome %q (%s), %v", what, result.Outcome, result.Reason, err)
						}
					}
					w.clean()
					if left := differs(w.dump(), want); left != "" {
						t.Errorf("%s: afterwards\n%s", what, left)
					}
				})
			}
		}
	}
	beside(t, jobs)
}
