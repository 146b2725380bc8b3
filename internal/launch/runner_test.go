//go:build unix

package launch

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/work"
)

const runnerName = "runner"

// lossy are runners some of whose answers are lost.
type lossy struct {
	*Runners
	lose atomic.Int64 // how many of the next
}

// ServeHTTP implements http.Handler.
func (l *lossy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if l.lose.Add(-1) >= 0 {
		l.Runners.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}
	l.Runners.ServeHTTP(w, r)
}

// runnersOf has the runners of a GitHub do jobs. Each job that is started calls begin with what its environment has.
func runnersOf(t *testing.T, gh *fake.GitHub, begin func(number int64, r work.Runner)) *lossy {
	t.Helper()
	n := &lossy{Runners: &Runners{Key: []byte("of the server"), Log: func(string, ...any) {}, Clock: time.Now}}
	server := httptest.NewServer(n)
	t.Cleanup(server.Close)
	noError(t, gh.AddRepo(owner, runnerName, "main"))
	gh.SetPrivate(owner, runnerName, true)
	if _, err := gh.CommitFiles(owner, runnerName, "main", "runner", map[string]string{
		".github/workflows/runner.yml": "on: {workflow_dispatch: {inputs: {request: {type: string}}}}\n"}); err != nil {
		t.Fatal(err)
	}
	secret, err := rsa.GenerateKey(rand.Reader, 2048)
	noError(t, err)
	gh.AddApp(fake.App{ID: 7, Slug: "ralph", Owner: owner, InstallationID: 70, Key: &secret.PublicKey})
	key, err := github.ReadKey(string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY",
		Bytes: x509.MarshalPKCS1PrivateKey(secret)})))
	noError(t, err)
	at := github.Server{APIURL: gh.APIURL(), WebURL: gh.URL(), Sleep: func(context.Context, time.Duration) error { return nil }}
	app, err := github.OpenApp(github.AppOptions{Server: at, ID: 7, Key: key})
	noError(t, err)
	n.Address = server.URL
	n.App = func(context.Context) (*github.App, error) { return app, nil }
	n.Workflow = at.Workflow(event.Repo{Owner: owner, Name: runnerName}, "runner.yml", server.URL, time.Now)
	var runs atomic.Int64
	gh.OnDispatch(func(_, _ string, d fake.Dispatched) {
		number := runs.Add(1)
		begin(number, work.Runner{Server: server.URL, Request: d.Inputs["request"],
			Token: func(_ context.Context, audience string) (string, error) {
				return gh.JobToken(fake.RunnerJob{Owner: owner, Name: runnerName, Workflow: "runner.yml", Run: number}, audience), nil
			}})
	})
	return n
}

// keeps keeps the claim of a job.
type keeps struct {
	mu  sync.Mutex
	now Claim
}

func (k *keeps) claim() Claim {
	k.mu.Lock()
	defer k.mu.Unlock()
	c := k.now
	c.Keep = func(c Claim) error {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.now = c
		return nil
	}
	return c
}

// TestRunnerDoesEachJobOnce: of five hundred jobs that are asked for at once, GitHub refuses fifty, and starts fifty
// without saying so; it starts each twice. Each is done once, or it is told why not.
func TestRunnerDoesEachJobOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var mu sync.Mutex
	done, turned := map[string]int{}, 0
	play := func(r work.Runner) {
		link, err := r.Join(context.Background())
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			if turned++; !errors.Is(err, work.ErrGone) {
				t.Errorf("a second job: %v", err)
			}
			return
		}
		var order work.Order
		for status := http.StatusLocked; status == http.StatusLocked; { // until there is one
			status = asks(t, link, work.OrderPath, nil, &order)
		}
		done[order.Job]++
		asks(t, link, work.SyncPath, work.Sync{Messages: []work.ToServer{{Number: 1, End: &work.End{Outcome: loop.Done}}}}, &work.Synced{})
	}
	n := runnersOf(t, w.gh, func(number int64, r work.Runner) {
		play(r)
		r.Token = func(_ context.Context, audience string) (string, error) { // GitHub starts it twice
			return w.gh.JobToken(fake.RunnerJob{Owner: owner, Name: runnerName, Workflow: "runner.yml", Run: 10_000 + number}, audience), nil
		}
		play(r)
	})
	w.gh.Fail(fake.Fault{Match: "POST /repos/*/*/actions/workflows/*/dispatches", Status: 422, Times: 50})
	w.gh.Fail(fake.Fault{Match: "POST /repos/*/*/actions/workflows/*/dispatches", DropAfter: true, Nth: 51, Times: 50})
	const jobs = 500
	var all sync.WaitGroup
	var refused atomic.Int64
	for i := range jobs {
		all.Go(func() {
			job := w.labeled(fmt.Sprintf("job-%d", i), 2)
			job.Claim = (&keeps{}).claim()
			r, err := n.Start(t.Context(), job)
			if why := (*github.DispatchError)(nil); errors.As(err, &why) {
				refused.Add(1)
				return
			}
			if err != nil {
				t.Errorf("%d: %v", i, err)
				return
			}
			if end, err := r.Wait(); err != nil || end.Outcome != loop.Done {
				t.Errorf("%d: %+v, %v", i, end, err)
			}
		})
	}
	all.Wait()
	w.await("the second jobs", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return turned >= jobs-50
	})
	mu.Lock()
	defer mu.Unlock()
	for job, times := range done {
		if times != 1 {
			t.Errorf("%s was done %d times", job, times)
		}
	}
	if refused.Load() != 50 || len(done) != jobs-50 {
		t.Errorf("%d refused, %d done", refused.Load(), len(done))
	}
}

// asks is how a server answers a job.
func asks(t *testing.T, link work.Link, path string, say, hear any) int {
	body, err := json.Marshal(say)
	if err != nil {
		t.Error(err)
	}
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, link.Address+path, bytes.NewReader(body))
	req.Header.Set("Authorization", "Bearer "+link.Bearer)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Error(err)
		return 0
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(hear); err != nil && resp.StatusCode == http.StatusOK {
		t.Error(err)
	}
	return resp.StatusCode
}

// endsServer ends the server that asks for a token.
type endsServer struct {
	Tokens
	end func()
}

// Make implements Tokens.
func (e endsServer) Make(ctx context.Context) (work.Token, error) {
	e.end()
	return work.Token{}, ctx.Err()
}

// TestRunner: after a runner that was killed another one does the job. What it does is told as by a process of this
// machine, and goes on where the connection breaks, and where the server is started anew: no turn is taken again.
func TestRunner(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.agent = w.script("agent", "n=$(wc -c < "+w.shared("begun")+"); echo -n x >> "+filepath.Join(w.dir, "begun")+
		"; while [ $n = 0 ] && [ ! -e "+filepath.Join(w.dir, "go")+" ]; do sleep 0.05; done\n"+fixer)
	ended := make(chan error, 1)
	n := runnersOf(t, w.gh, func(number int64, r work.Runner) {
		if number == 1 { // it is killed as soon as it has the job
			_, _ = r.Join(context.Background())
			return
		}
		environ := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir, "ACTIONS_ID_TOKEN_REQUEST_TOKEN=secret", "INPUT_REQUEST=" + r.Request}
		ended <- r.Run(context.Background(), environ, func() time.Time { return time.Now().UTC() })
	})
	kept := &keeps{}
	job := w.labeled("5f1e-1", 1)
	job.Models = Models{Environ: []string{"ANTHROPIC_API_KEY=of-the-server"}}
	job.Claim = kept.claim()
	n.Patience = time.Second
	r, err := n.Start(t.Context(), job)
	noError(t, err)
	died := (*DiedError)(nil)
	if _, err := r.Wait(); !errors.As(err, &died) || kept.claim().Nonce != "" {
		t.Fatalf("%v, %+v", err, kept.claim())
	}
	n.Patience = time.Minute
	job.Order.Attempt, job.Claim = 2, kept.claim()
	if r, err = n.Start(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	w.await("the first turn", func() bool { return w.turns("begun") == 1 })
	n.lose.Store(2)
	w.await("what was asked again", func() bool { return n.lose.Load() < 0 })
	before := kept.claim()
	r.HandOn()
	if end, err := r.Wait(); err != nil || !end.HandedOn || kept.claim().Name != before.Name || before.Name == "" {
		t.Fatalf("%+v, %v, %+v", end, err, kept.claim())
	}
	ctx, end := context.WithCancel(t.Context())
	whole := job.Tokens
	job.Claim, job.Order.Attempt, job.Tokens = kept.claim(), 3, endsServer{whole, end}
	if _, err := n.Start(ctx, job); !errors.Is(err, context.Canceled) || kept.claim().Name != before.Name {
		t.Fatalf("a server that ends as the runner connects: %v, %+v", err, kept.claim())
	}
	job.Claim, job.Order.Attempt, job.Tokens = kept.claim(), 4, whole
	if r, err = n.Start(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	noError(t, os.WriteFile(filepath.Join(w.dir, "go"), nil, 0o600))
	w.must(r, loop.Done)
	if err := <-ended; err != nil {
		t.Errorf("the runner's job: %v", err)
	}
	if started := len(w.gh.Dispatches(owner, runnerName)); kept.claim().Nonce != "" || w.turns("begun") != 2 || started != 2 {
		t.Errorf("%+v; %d turns in %d jobs", kept.claim(), w.turns("begun"), started)
	}
	w.mu.Lock()
	for i := 1; i <= len(w.records); i++ {
		if _, there := w.records[i]; !there {
			t.Errorf("record %d is missing", i)
		}
	}
	if !slices.Contains(w.types, loop.Ended) || strings.Contains(w.output.String(), "of-the-server") {
		t.Errorf("%v", w.types)
	}
	w.mu.Unlock()
	// a repository gets no less than the sandbox in which everything holds, on a runner neither
	if _, err := w.gh.CommitFiles(owner, name, "main", "no sandbox", map[string]string{".ralph/settings.json": `{"sandbox": "off"}`}); err != nil {
		t.Fatal(err)
	}
	w.issue = w.addIssue()
	job = w.labeled("5f1e-2", 1)
	job.Order.Allow.Sandbox, job.Order.Environ, job.Claim = "", nil, (&keeps{}).claim()
	if r, err = n.Start(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	if end, err := r.Wait(); err != nil || end.Outcome != loop.Invalid || !strings.Contains(end.Reason+end.Problem, "sandbox") {
		t.Errorf("with sandbox off: %+v, %v", end, err)
	}
}
