package queue_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ralph-loop/ralph/internal/fake/postgres"
	"github.com/ralph-loop/ralph/internal/queue"
)

// patience is how long a busy machine may take for what takes a moment.
const patience = 60 * time.Second

// quick makes deaths and cancels visible sooner than in production.
var quick = queue.Timing{
	Poll: 200 * time.Millisecond, Look: 100 * time.Millisecond, Beat: 200 * time.Millisecond,
	Stop: 4 * time.Second, Dead: 6 * time.Second,
}

// place is a database that several queues can be opened on.
type place struct {
	url string // Postgres, or "" for the file
	dir string
}

// onBoth runs a test on SQLite and on Postgres.
func onBoth(t *testing.T, test func(t *testing.T, at place)) {
	t.Run("sqlite", func(t *testing.T) { test(t, place{dir: t.TempDir()}) })
	t.Run("postgres", func(t *testing.T) { test(t, place{url: postgres.Start(t)}) })
}

// onPostgres is for what only several processes can do.
func onPostgres(t *testing.T) place { return place{url: postgres.Start(t)} }

// options opens handles on the database and says how to close them.
func (p place) options() (queue.Options, func(), error) {
	o := queue.Options{Executor: "test", Timing: quick, Log: slog.New(slog.NewTextHandler(logTo(), nil))}
	if p.url != "" {
		config, err := pgxpool.ParseConfig(p.url)
		if err != nil {
			return o, nil, err
		}
		config.MaxConns = 10
		o.Pool, err = pgxpool.NewWithConfig(context.Background(), config)
		if err != nil {
			return o, nil, err
		}
		return o, o.Pool.Close, nil
	}
	// As internal/store opens its file.
	at := url.URL{Scheme: "file", Path: filepath.Join(p.dir, "ralph.db")}
	at.RawQuery = url.Values{"_txlock": {"immediate"}, "_pragma": {"busy_timeout(8000)", "journal_mode(WAL)",
		"synchronous(FULL)", "foreign_keys(1)"}}.Encode()
	db, err := sql.Open("sqlite", at.String())
	if err != nil {
		return o, nil, err
	}
	db.SetMaxOpenConns(6)
	o.SQLite = db
	return o, func() { db.Close() }, nil
}

func logTo() io.Writer {
	if os.Getenv("RALPH_TEST_LOG") != "" {
		return os.Stderr
	}
	return io.Discard
}

// open opens a queue; change sets its options, and before runs ahead of Start. Without Do it is not started.
func (p place) open(t *testing.T, change func(*queue.Options), before ...func(*queue.Queue)) *queue.Queue {
	t.Helper()
	o, _, err := p.options()
	if err != nil {
		t.Fatal(err)
	}
	change(&o)
	q, err := queue.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range before {
		f(q)
	}
	if o.Do != nil {
		if err := q.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if err := q.Close(); err != nil {
			t.Error(err)
		}
	})
	return q
}

// journal notes what Do was called with.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) add(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fmt.Sprintf(format, args...))
}

func (j *journal) all() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]string{}, j.lines...)
}

// until waits for a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// becomes waits until a job has a state.
func becomes(t *testing.T, q *queue.Queue, id string, want queue.State) queue.Info {
	t.Helper()
	var info queue.Info
	until(t, fmt.Sprintf("%s is %s", id, want), func() bool {
		var err error
		if info, err = q.Job(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		return info.State == want
	})
	return info
}

func enqueue(t *testing.T, q *queue.Queue, jobs ...queue.Job) {
	t.Helper()
	for _, j := range jobs {
		if j.Tenant == "" {
			j.Tenant = "tenant"
		}
		if fresh, err := q.Enqueue(t.Context(), j); err != nil || !fresh {
			t.Fatalf("enqueuing %s: fresh %v, %v", j.ID, fresh, err)
		}
	}
}
