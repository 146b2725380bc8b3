// Package queue keeps jobs in a database and runs them: each once at a time, one of a key at a time, fairly between
// tenants, on any number of machines, and again after a process has died. It is the door to DBOS.
//
// Jobs wait and are claimed in tables of our own. DBOS records every attempt as a workflow and runs schedules once
// over all processes; its queues know no fairness, and the end of a workflow is taken from a process that was taken
// for dead.
package queue

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
)

// Version is of what is stored with a job. A process runs jobs of its own version and older ones; newer ones wait
// for a newer process. Raise it when an older program could not do a job that this one enqueues.
const Version = 1

// Options say where jobs are kept and how they run. Exactly one of SQLite and Pool is set. The handle is the queue's
// alone from then on: Close closes it, since DBOS does. A SQLite file has a single process with a started Queue, and
// needs a busy timeout. A pool needs at least 8 connections.
type Options struct {
	SQLite    *sql.DB
	Pool      *pgxpool.Pool
	Executor  string // names this machine to people; each start adds letters of its own
	Slots     int    // jobs at once in this process; 1 if 0
	PerTenant int    // jobs of one tenant at once, over all processes; 0 for no limit
	Kills     int    // how often in a row, without Progressed, a job may be killed or fail before it is given up; 25 if 0

	// Do does a job; attempt counts from 1. Without Do the queue takes no work: it enqueues, cancels and lists. Do
	// must return within ten seconds after its context ends (context.Cause says why: CancelledError, ErrOvertaken,
	// ErrHandedOn), and nothing of what it has started may live on. An error counts as a kill, and the job waits a
	// little longer.
	Do func(ctx context.Context, job Job, attempt int) (Result, error)
	// GaveUp hears of jobs that became Failed. A process that dies just then does not call it: list those, too.
	GaveUp func(id string)

	Log    *slog.Logger
	Clock  func() time.Time // for NotBefore and what people read; deaths are not told by it
	Timing Timing
}

// Timing has defaults for every field that is 0.
type Timing struct {
	Poll time.Duration // 1 s: how late a job of another process is seen
	Look time.Duration // 500 ms: how late a cancel of another process is seen
	Beat time.Duration // 2 s between heartbeats
	Stop time.Duration // 33 s without a stored heartbeat, and this process ends its own work
	Dead time.Duration // 45 s without a heartbeat, and others take over; 2 to 6 s where they see that it has ended
}

// Queue is an open queue. All methods may be called at once.
type Queue struct {
	Options
	Timing
	db        *database
	workflows *workflows // nil without Do
	executor  string     // of this start
	loops     sync.WaitGroup
	turns     sync.WaitGroup
	claims
	signals
	observations
}

// claims is what this process has claimed.
type claims struct {
	mu       sync.Mutex
	active   map[string]*active // by job id
	lost     bool               // gives everything up
	renewed  time.Time          // when the last stored heartbeat began
	expiry   *time.Timer        // fires when the next heartbeat is too late
	claiming sync.Mutex         // before mu
	draining atomic.Bool
	unsure   atomic.Bool // a claim may be stored that we do not know of
}

// signals are how the parts of a Queue reach each other.
type signals struct {
	wake, soon chan struct{}
	root       context.Context // of all jobs
	stopped    context.Context // ends when Close has waited long enough
	stop       context.CancelFunc
	quit       context.CancelFunc // ends the loops
}

// observations is what the goroutine of heartbeats knows of other processes.
type observations struct{ others map[string]*observed }

// Open makes the tables where they are missing. Nothing runs before Start, but jobs can be enqueued.
func Open(ctx context.Context, o Options) (*Queue, error) {
	if (o.SQLite == nil) == (o.Pool == nil) {
		return nil, errors.New("opening the queue: exactly one of SQLite and Pool must be set")
	}
	q := &Queue{Options: o, Timing: o.Timing.filled(), db: &database{DB: o.SQLite}}
	if o.Pool != nil {
		q.db = &database{DB: stdlib.OpenDBFromPool(o.Pool), postgres: true}
	}
	if q.Log == nil {
		q.Log = slog.New(slog.DiscardHandler)
	}
	q.Slots = max(q.Slots, 1)
	if q.Kills <= 0 {
		q.Kills = 25
	}
	q.executor = o.Executor + "-" + rand.Text()[:10]
	q.active, q.others = map[string]*active{}, map[string]*observed{}
	q.wake, q.soon = make(chan struct{}, 1), make(chan struct{}, 1)
	q.root = context.WithoutCancel(ctx)
	q.stopped, q.stop = context.WithCancel(q.root)
	err := q.db.create(ctx, func() (err error) {
		if o.Do != nil {
			q.workflows, err = openWorkflows(q.root, q.Options, q.executor)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("opening the queue: %w", err)
	}
	return q, nil
}

func (t Timing) filled() Timing {
	for _, d := range []struct {
		of      *time.Duration
		without time.Duration
	}{
		{&t.Poll, time.Second}, {&t.Look, 500 * time.Millisecond}, {&t.Beat, 2 * time.Second},
		{&t.Stop, 33 * time.Second}, {&t.Dead, 45 * time.Second},
	} {
		if *d.of <= 0 {
			*d.of = d.without
		}
	}
	return t
}

// Every has do run by a cron expression of six fields, seconds first, once over all processes; before Start only.
// What a process leaves unfinished by dying is not made up for. A time that passed while no process ran is left
// out.
func (q *Queue) Every(name, cron string, do func(context.Context) error) error {
	if q.workflows == nil {
		return errors.New("a queue without Do runs no schedule")
	}
	q.workflows.schedule(name, cron, do)
	return nil
}

// Start takes work until Drain or Close. What an earlier process has left on SQLite goes on at once.
func (q *Queue) Start(ctx context.Context) error {
	if q.workflows == nil {
		return errors.New("a queue without Do takes no work")
	}
	if err := q.workflows.launch(); err != nil {
		return fmt.Errorf("starting the queue: %w", err)
	}
	all := "1 = 1"
	if q.db.postgres {
		all = "1 = 0"
	}
	if err := q.takeOver(ctx, all); err != nil {
		return fmt.Errorf("taking up jobs of before: %w", err)
	}
	if err := q.enter(ctx); err != nil {
		return fmt.Errorf("entering this process: %w", err)
	}
	var loop context.Context
	loop, q.quit = context.WithCancel(q.root)
	q.renewed = time.Now()
	q.expiry = time.AfterFunc(q.Stop, func() { q.lose("no heartbeat could be stored") })
	if q.db.postgres {
		q.loops.Go(func() { q.beats(loop) })
	} else {
		q.expiry.Stop()
	}
	q.loops.Go(func() { q.work(loop) })
	q.loops.Go(func() { q.looks(loop) })
	return nil
}

// Job is one piece of work that waits, runs and ends. ID names it once and for all: a second Enqueue of the same ID
// does nothing. Of all jobs with one Key, only one runs at a time, on any machine.
type Job struct {
	ID        string
	Key       string    // "owner/name#42"
	Tenant    string    // whose share of the machines it takes: an installation
	Priority  int       // the smaller runs first, among jobs of one tenant and among jobs of one key
	NotBefore time.Time // zero: at once
	Body      []byte    // opaque; no secrets, it is stored as it is
}

// Result says what becomes of a job after Do. The zero Result: it is done.
type Result struct {
	Again  time.Time // run it again, not before then; it holds nothing while it waits
	Killed bool      // the work was killed, not finished: run it again, soon, at most Options.Kills times in a row
	Why    string    // one sentence for people; no secrets
}

// State is how a job stands.
type State string

// The states of a job. A job with a NotBefore to come is Waiting too.
const (
	Waiting   State = "waiting"
	Running   State = "running"
	Done      State = "done"      // Do has returned a result that asks for nothing more
	Cancelled State = "cancelled" // by Cancel; Info.Why says why
	Failed    State = "failed"    // killed or failed too often in a row; Info.Why says how it ended last
)

// Info is a job as it stands. Body is only filled by Queue.Job.
type Info struct {
	Job
	State    State
	Attempt  int       // how often Do was started, 0 before the first time
	Kills    int       // how often in a row it was killed or failed without progress
	Executor string    // who runs it
	Cancel   string    // why it shall stop, while it still runs
	Created  time.Time // of Enqueue
	Started  time.Time // of the last attempt; zero before
	Ended    time.Time // of Done, Cancelled and Failed
	Why      string
}

// ErrOvertaken is the cause of the end of Do's context when this process can no longer be sure that the job is its
// own: it could not reach the database for Options.Stop, or others have taken the job over. What Do returns is not
// stored then, unless the job is still ours.
var ErrOvertaken = errors.New("another process may have taken over this job")

// ErrHandedOn is the cause of the end of Do's context when this process stops. The job goes on elsewhere, or here
// after the next start, with the next attempt.
var ErrHandedOn = errors.New("this process stops and hands the job on")

// CancelledError is the cause of the end of Do's context after Cancel.
type CancelledError struct{ Why string }

func (e *CancelledError) Error() string { return fmt.Sprintf("cancelled: %s", e.Why) }
