package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
)

const (
	lookForRuns = time.Second // runs that waited for a time are due meanwhile
	endGrace    = 15 * time.Second
	answersHere = 4 // answers given at the same time
)

// errHandedOn is the cause of the end of a run's context when this server stops: the next one continues with it.
var errHandedOn = errors.New("this server stops")

// pool works on the waiting runs, some at the same time. A run is a row of the database: what this process has taken is
// running there, so the next start finds what a kill has left.
type pool struct {
	s               *store.Store
	work            func(ctx context.Context, row store.Run) // stores what happens to it
	slots           int
	perInstallation int // 0: any number
	log             *slog.Logger
	waker

	mu      sync.Mutex
	running map[string]store.Run
	served  map[string]int64 // the last turn of each group, see groups
	turn    int64

	runs   context.Context // of what runs
	handOn context.CancelCauseFunc
	busy   sync.WaitGroup
}

func newPool(s *store.Store, slots, perInstallation int, log *slog.Logger) *pool {
	p := &pool{s: s, slots: max(slots, 1), perInstallation: perInstallation, log: log, waker: make(waker, 1),
		running: map[string]store.Run{}, served: map[string]int64{}}
	p.runs, p.handOn = context.WithCancelCause(context.Background())
	return p
}

// waker has a loop look now. It holds one.
type waker chan struct{}

func (w waker) wake() {
	select {
	case w <- struct{}{}:
	default:
	}
}

// count is how many answers this process gives, or how many other jobs it works on.
func (p *pool) count(answers bool) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, row := range p.running {
		if (row.Kind == answerJob) == answers {
			n++
		}
	}
	return n
}

// resume has what a killed server was working on wait again.
func (p *pool) resume(ctx context.Context, now time.Time) error {
	left, err := p.s.Runs(ctx, store.Filter{States: []string{web.Running}, Limit: 1000})
	for _, row := range left {
		killed(&row, "the server that ran it was killed", now)
		p.log.Warn("a run was left by a server that has died", "run", row.ID, "kills", row.Kills, "state", row.State)
		err = errors.Join(err, p.s.PutRun(ctx, row))
	}
	return err
}

// run takes runs until ctx ends.
func (p *pool) run(ctx context.Context) {
	tick := time.NewTicker(lookForRuns)
	defer tick.Stop()
	for ctx.Err() == nil {
		if err := p.fill(ctx); err != nil && ctx.Err() == nil {
			p.log.Warn("no run can be taken; trying again", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-p.waker:
		case <-tick.C:
		}
	}
}

// fill takes as many jobs as there is room for. Answers wait for each other alone.
func (p *pool) fill(ctx context.Context) error {
	for _, answers := range []bool{true, false} {
		most := p.slots
		if answers {
			most = answersHere
		}
		if p.count(answers) >= most {
			continue
		}
		waiting, err := p.s.Due(ctx, answers)
		if err != nil {
			return err
		}
		for p.count(answers) < most {
			i := p.next(waiting)
			if i < 0 {
				break
			}
			row, err := p.s.Take(ctx, waiting[i].ID)
			waiting = slices.Delete(waiting, i, i+1)
			if errors.Is(err, store.ErrNotFound) { // someone has stopped it just now
				continue
			} else if err != nil {
				return err
			}
			p.begin(row)
		}
	}
	return nil
}

// groups are those that take turns: installations, the repositories of each, the people of each.
func groups(row store.Run) [3]string {
	installation := fmt.Sprint(row.Installation)
	return [3]string{installation, installation + " " + row.Repository, installation + " " + row.Repository + " " + row.Person}
}

// next is the index of the run whose turn it is, -1 for none: of the installation that has the fewest running, of
// several such of the one whose last turn was the longest ago; and so of its repositories, and of their people.
func (p *pool) next(waiting []store.Run) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	keys, works := map[string]bool{}, map[string]int64{}
	for _, row := range p.running {
		keys[row.Key] = true
		if row.Kind == answerJob {
			continue
		}
		for _, g := range groups(row) {
			works[g]++
		}
	}
	best, least := -1, []int64(nil)
	for i, row := range waiting {
		of := groups(row)
		if keys[row.Key] || p.perInstallation > 0 && row.Kind != answerJob && works[of[0]] >= int64(p.perInstallation) {
			continue
		}
		keys[row.Key] = true // the first of its key
		var rank []int64
		for _, g := range of {
			rank = append(rank, works[g], p.served[g])
		}
		if best < 0 || slices.Compare(rank, least) < 0 {
			best, least = i, rank
		}
	}
	return best
}

// begin works on a run next to the others.
func (p *pool) begin(row store.Run) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running[row.ID] = row
	if row.Kind != answerJob {
		p.turn++
		for _, g := range groups(row) {
			p.served[g] = p.turn
		}
	}
	p.busy.Go(func() {
		defer p.end(row)
		p.work(p.runs, row)
	})
}

// end gives a run's place back. What has made its work panic counts as a kill.
func (p *pool) end(row store.Run) {
	if why := recover(); why != nil {
		p.log.Error("the work on a run has panicked", "run", row.ID, "panic", why, "stack", string(debug.Stack()))
		killed(&row, fmt.Sprintf("panic: %v", why), time.Now())
		if err := p.s.PutRun(context.Background(), row); err != nil {
			p.log.Error("the outcome of a run is not stored", "run", row.ID, "error", err)
		}
	}
	p.mu.Lock()
	delete(p.running, row.ID)
	idle := len(p.running) == 0
	p.mu.Unlock()
	if p.wake(); idle {
		proc.FreeMemory()
	}
}

// drain waits until nothing runs any more or ctx ends, and hands the rest on. An error says how many did not end.
func (p *pool) drain(ctx context.Context) error {
	over := make(chan struct{})
	go func() {
		p.busy.Wait()
		close(over)
	}()
	select {
	case <-over:
		return nil
	case <-ctx.Done():
	}
	p.handOn(errHandedOn)
	select {
	case <-over:
		return nil
	case <-time.After(endGrace):
		return fmt.Errorf("draining: %d runs did not end within %s", p.count(false), endGrace)
	}
}
