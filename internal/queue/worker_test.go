package queue_test

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/ralph-loop/ralph/internal/queue"
)

// workerVariable makes this test binary a process that takes work: from the database that it names.
const workerVariable = "RALPH_TEST_QUEUE_WORKER"

func TestMain(m *testing.M) {
	if at, ok := os.LookupEnv(workerVariable); ok {
		if err := worker(at); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// worker takes work until its standard input ends. It drains then.
func worker(at string) error {
	p := place{dir: at}
	if strings.HasPrefix(at, "postgres:") {
		p = place{url: at}
	}
	o, shut, err := p.options()
	if err != nil {
		return err
	}
	defer shut()
	notes := notesOf(o)
	o.Slots, o.PerTenant, o.Kills, o.Executor = 4, 6, 100000, "worker"
	o.Do = func(ctx context.Context, job queue.Job, attempt int) (queue.Result, error) {
		return noted(ctx, notes, job, attempt)
	}
	q, err := queue.Open(context.Background(), o)
	if err != nil {
		return err
	}
	if err := q.Start(context.Background()); err != nil {
		return err
	}
	fmt.Println("ready")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	limit, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if err := q.Drain(limit); err != nil {
		return err
	}
	return q.Close()
}

// note is what one attempt has written: when it began, and when it ended or was told to.
type note struct {
	job, key     string
	attempt, pid int
	begun, left  int64 // microseconds; left is 0 if it was killed
	finished     bool  // it ended by itself
}

const notesTable = `CREATE TABLE IF NOT EXISTS notes (job TEXT, key TEXT, attempt BIGINT, pid BIGINT, begun BIGINT,
	left_at BIGINT DEFAULT 0, finished BIGINT DEFAULT 0)`

func notesOf(o queue.Options) *sql.DB {
	if o.Pool != nil {
		return stdlib.OpenDBFromPool(o.Pool)
	}
	return o.SQLite
}

// noted is a Do that takes as long as the body says, and notes it.
func noted(ctx context.Context, notes *sql.DB, job queue.Job, attempt int) (queue.Result, error) {
	long, err := time.ParseDuration(string(job.Body))
	if err != nil {
		return queue.Result{}, err
	}
	_, err = notes.ExecContext(ctx, fmt.Sprintf(
		`INSERT INTO notes (job, key, attempt, pid, begun) VALUES ('%s', '%s', %d, %d, %d)`,
		job.ID, job.Key, attempt, os.Getpid(), time.Now().UnixMicro()))
	if err != nil {
		return queue.Result{Killed: true, Why: err.Error()}, nil
	}
	finished := 1
	select {
	case <-time.After(long):
	case <-ctx.Done():
		finished = 0
	}
	_, err = notes.Exec(fmt.Sprintf(`UPDATE notes SET left_at = %d, finished = %d WHERE job = '%s' AND attempt = %d`,
		time.Now().UnixMicro(), finished, job.ID, attempt))
	return queue.Result{Killed: finished == 0}, err
}

// process is a worker that the test may kill.
type process struct {
	*exec.Cmd
	stdin  *os.File
	killed int64 // when, in microseconds
}

func startWorker(t *testing.T, at place) *process {
	t.Helper()
	where := at.url
	if where == "" {
		where = at.dir
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), workerVariable+"="+where)
	cmd.Stderr = os.Stderr
	in, keep, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin = in
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	p := &process{Cmd: cmd, stdin: keep}
	t.Cleanup(func() { _ = p.Process.Kill(); _ = p.Wait(); keep.Close() })
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("the worker said %q: %v", line, err)
	}
	return p
}

func (p *process) kill() {
	_ = p.Process.Signal(syscall.SIGKILL)
	_ = p.Wait()
	p.killed = time.Now().UnixMicro()
}

// drain lets the process end by itself.
func (p *process) drain(t *testing.T) {
	t.Helper()
	p.stdin.Close()
	if err := p.Wait(); err != nil {
		t.Fatal(err)
	}
}

// feed enqueues short jobs on many keys as long as few wait, until stop is called, which says how many there were.
func feed(t *testing.T, q *queue.Queue, keys int) (stop func() int) {
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	n := 0
	group.Go(func() {
		for ctx.Err() == nil {
			d, err := q.Depth(ctx)
			for ; err == nil && d.Waiting < 40 && ctx.Err() == nil; d.Waiting++ {
				job := queue.Job{ID: fmt.Sprint("job", n), Key: fmt.Sprint("key", n%keys), Tenant: fmt.Sprint("t", n%5),
					Body: fmt.Appendf(nil, "%dms", rand.IntN(150))}
				if n%7 == 0 {
					job.NotBefore = time.Now().Add(time.Duration(rand.IntN(1000)) * time.Millisecond)
				}
				// not ctx: what is stored while feeding is stopped has to be counted
				if _, err = q.Enqueue(t.Context(), job); err == nil {
					n++
				}
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
	return func() int { cancel(); group.Wait(); return n }
}
