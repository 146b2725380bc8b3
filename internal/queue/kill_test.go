//go:build unix

package queue_test

import (
	"cmp"
	"database/sql"
	"math/rand/v2"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/queue"
)

// TestKilledProcesses kills processes that take work, at any moment and again and again. No job is lost, none runs
// twice at once, none of one key beside another, and what was killed goes on soon.
func TestKilledProcesses(t *testing.T) {
	kills := 3
	if os.Getenv("RALPH_TEST_EVERY_FAULT") != "" {
		kills = 100
	}
	onBoth(t, func(t *testing.T, at place) {
		o, shut, err := at.options()
		if err != nil {
			t.Fatal(err)
		}
		defer shut()
		notes := notesOf(o)
		if _, err := notes.Exec(notesTable); err != nil {
			t.Fatal(err)
		}
		q, err := queue.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		defer q.Close()
		stop := feed(t, q, 25)
		workers := []*process{startWorker(t, at)}
		if at.url != "" {
			workers = append(workers, startWorker(t, at))
		}
		killed := map[int]int64{} // by pid
		for range kills {
			time.Sleep(time.Duration(rand.IntN(800)) * time.Millisecond)
			i := rand.IntN(len(workers))
			workers[i].kill()
			killed[workers[i].Process.Pid] = workers[i].killed
			workers[i] = startWorker(t, at)
		}
		jobs := stop()
		until(t, "all jobs have ended", func() bool {
			d, err := q.Depth(t.Context())
			return err == nil && d.Waiting+d.Running+d.Delayed == 0
		})
		for _, w := range workers {
			w.drain(t)
		}
		list, err := q.Jobs(t.Context(), queue.Filter{States: []queue.State{queue.Done}, Limit: jobs + 1})
		if err != nil || len(list.Jobs) != jobs {
			t.Errorf("%d jobs, %d done, %v", jobs, len(list.Jobs), err)
		}
		judge(t, read(t, notes), jobs, killed)
	})
}

// judge holds the notes to what must never happen, and says how long takeovers took.
func judge(t *testing.T, notes []note, jobs int, killed map[int]int64) {
	t.Helper()
	finished, last := map[string]int{}, map[string]note{}
	cut, longest := 0, time.Duration(0)
	var takeovers []time.Duration
	for _, n := range notes { // in the order in which they began
		before, seen := last[n.key]
		if seen {
			over := before.left
			if over == 0 {
				over = killed[before.pid]
			}
			if over == 0 || n.begun < over {
				t.Errorf("%s of %s began %d µs before %s ended", n.job, n.key, over-n.begun, before.job)
			}
			if before.left == 0 && before.job == n.job {
				took := time.Duration(n.begun-over) * time.Microsecond
				takeovers, longest = append(takeovers, took), max(longest, took)
			}
		}
		last[n.key] = n
		if n.finished {
			finished[n.job]++
		}
		if n.left == 0 {
			cut++
		}
	}
	twice := 0
	for _, n := range finished {
		if n > 1 {
			twice++ // it had ended, and its process was killed before that was stored
		}
	}
	slices.Sort(takeovers)
	t.Logf("%d jobs, %d attempts, %d of them cut off by %d kills, %d done twice one after the other", jobs, len(notes),
		cut, len(killed), twice)
	if len(takeovers) > 0 {
		t.Logf("takeover: median %v, longest %v", takeovers[len(takeovers)/2], longest)
	}
	if len(finished) != jobs {
		t.Errorf("%d of %d jobs have finished", len(finished), jobs)
	}
	if longest > 60*time.Second {
		t.Errorf("a takeover took %v", longest)
	}
}

func read(t *testing.T, db *sql.DB) (all []note) {
	t.Helper()
	rows, err := db.Query(`SELECT job, key, attempt, pid, begun, left_at, finished FROM notes ORDER BY begun`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var n note
		var finished int
		if err := rows.Scan(&n.job, &n.key, &n.attempt, &n.pid, &n.begun, &n.left, &finished); err != nil {
			t.Fatal(err)
		}
		n.finished = finished == 1
		all = append(all, n)
	}
	slices.SortFunc(all, func(a, b note) int { return cmp.Compare(a.begun, b.begun) })
	return all
}

// TestFrozenProcess stops a process that works, until another one has taken over, and lets it go on. It ends its
// work at once, and what it says of it counts no more.
func TestFrozenProcess(t *testing.T) {
	at := onPostgres(t)
	o, shut, err := at.options()
	if err != nil {
		t.Fatal(err)
	}
	defer shut()
	notes := notesOf(o)
	if _, err := notes.Exec(notesTable); err != nil {
		t.Fatal(err)
	}
	q, err := queue.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	frozen := startWorker(t, at)
	enqueue(t, q, queue.Job{ID: "long", Key: "k", Body: []byte("5m")},
		queue.Job{ID: "next", Key: "k", Body: []byte("1ms")})
	until(t, "it runs", func() bool { return len(read(t, notes)) == 1 })
	_ = frozen.Process.Signal(syscall.SIGSTOP)
	stopped := time.Now()
	startWorker(t, at)
	until(t, "the other one has taken over", func() bool { return len(read(t, notes)) == 2 })
	took := time.Since(stopped)
	woken := time.Now().UnixMicro()
	_ = frozen.Process.Signal(syscall.SIGCONT)
	until(t, "it leaves its work", func() bool { return read(t, notes)[0].left != 0 })
	first := read(t, notes)[0]
	late := time.Duration(first.left-woken) * time.Microsecond
	t.Logf("taken over after %v; work ended %v after it was woken", took, late)
	if first.finished || first.pid != frozen.Process.Pid || late > 5*time.Second {
		t.Errorf("%+v", first)
	}
	if took < quick.Dead/2 {
		t.Errorf("a living process was taken for dead after %v", took)
	}
	if i, err := q.Job(t.Context(), "long"); err != nil || i.State != queue.Running || i.Attempt != 2 || i.Kills != 1 {
		t.Errorf("%+v, %v", i, err)
	}
	until(t, "it is back", func() bool {
		all, err := q.Executors(t.Context())
		return err == nil && len(all) == 2
	})
	if found, err := q.Cancel(t.Context(), "long", "enough"); err != nil || !found {
		t.Fatal(found, err)
	}
	becomes(t, q, "next", queue.Done)
}
