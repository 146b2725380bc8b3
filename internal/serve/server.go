// Package serve is ralph for every repository that its GitHub App is installed on: it keeps what GitHub delivers,
// decides what asks for work, and has a process of its own do each piece. server.go is the page to begin with.
package serve

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/launch"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
	"github.com/ralph-loop/ralph/internal/work"
)

// parts are what everything here stands on.
type parts struct {
	o  Options
	s  *store.Store
	in *installed
}

// Server is ralph for an organisation.
type Server struct {
	*parts
	pool   *pool
	worker *worker
	outbox *outbox
	pages  *web.Server
	setup  *setup
	m      *metrics
	ready  *readiness
	http   *http.Server
	loops  sync.WaitGroup
}

// Run serves until ctx ends, then drains: nothing new is begun, and what runs may continue until hard ends. told hears the
// addresses once everything is ready.
func Run(ctx, hard context.Context, o Options, told func(Addresses)) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.Listen)
	if err != nil {
		return invalid.Mark(fmt.Errorf("listening on %s: %w: name another address with --listen", o.Listen, err))
	}
	defer listener.Close()
	if o.Public == nil {
		o.Public = &url.URL{Scheme: "http", Host: listener.Addr().String()}
	}
	if err := keptOpen(o, listener.Addr()); err != nil {
		return err
	}
	for _, f := range reached(o.Public) {
		o.Log.Warn(f.What, "advice", f.Advice)
	}
	s, err := store.Open(ctx, store.Options{Dir: o.Data, Keys: o.Keys, Clock: o.Clock})
	if err != nil {
		return err
	}
	defer func() {
		if err := s.Close(); err != nil {
			o.Log.Error("closing the database", "error", err)
		}
	}()
	sv, err := open(ctx, o, s)
	if err != nil {
		return err
	}
	return sv.serve(ctx, hard, listener, told)
}

// open makes the parts. Nothing runs yet.
func open(ctx context.Context, o Options, s *store.Store) (*Server, error) {
	sv := &Server{parts: &parts{o, s, &installed{o: o, s: s}}}
	if _, err := sv.in.current(ctx); err != nil && !errors.Is(err, errNoApp) {
		return nil, err
	}
	sv.m = newMetrics(o.Version, known{sv.figures, o.Log})
	if err := sv.openPool(ctx); err != nil {
		return nil, err
	}
	sv.ready = &readiness{probes: sv.probes(), token: o.MetricsToken,
		looks: lookups[[]condition]{clock: o.Clock, keeps: func([]condition) time.Duration { return checkAge }}}
	sv.outbox = &outbox{parts: sv.parts, askers: sv.worker.askers, wrote: sv.in.wrote, begin: sv.pool.wake,
		woken: make(chan struct{}, 1)}
	if err := sv.openPages(); err != nil {
		return nil, err
	}
	sv.http = &http.Server{Handler: sv.routes(), ReadHeaderTimeout: readTime, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug)}
	return sv, nil
}

// openPool makes what does the runs.
func (sv *Server) openPool(ctx context.Context) error {
	o := sv.o
	mirrors, err := launch.OpenMirrors(filepath.Join(o.Data, "mirrors"), o.Mirrors, o.Environ, sv.logf)
	if err != nil {
		return err
	}
	workspace := filepath.Join(o.Data, "work")
	if err := errors.Join(os.MkdirAll(workspace, 0o711), os.Chmod(workspace, 0o711)); err != nil {
		return fmt.Errorf("making a place for checkouts: %w", err)
	}
	sv.worker = &worker{parts: sv.parts, m: sv.m, models: launch.Models{Environ: o.Environ}, notices: newNotices(o.Environ, o.Log),
		askers: &askers{parts: sv.parts, may: lookups[github.Access]{clock: o.Clock}},
		room:   func(least int64) error { return room(o.Data, least, freeBytes) },
		launcher: &launch.Process{Program: o.Program, Environ: o.Environ, Limits: o.Limits, Grace: handOnGrace,
			Mirrors: mirrors, Log: sv.logf, Clock: o.Clock}}
	sv.worker.base = o.Base
	sv.worker.base.Workspace = workspace
	if o.Runner != "" {
		if err := sv.openRunners(ctx); err != nil {
			return err
		}
	}
	sv.pool = newPool(sv.s, o.Slots, o.PerInstallation, o.Log)
	sv.pool.work = sv.worker.run
	return nil
}

// handOnGrace is how long a process that is handed on may take: others take its job over soon after.
const handOnGrace = 9 * time.Second

func (sv *Server) openPages() error {
	p, from := newPeople(sv.parts), source{sv.parts, newExaminer(sv.o.Clock, sv.doctorOf)}
	sv.setup = &setup{Server: sv}
	pages, err := web.New(web.Options{
		Runs: sv.s, Lists: sv.s, Repositories: from, Access: p, Sessions: p, SignIn: p, Setup: sv.setup,
		Actions: &actions{sv.parts, sv.outbox.again},
		Public:  sv.o.Public, Open: sv.o.Open, GitHub: sv.o.GitHub.Web(), Version: sv.o.Version, Clock: sv.o.Clock, Log: sv.o.Log,
	})
	sv.pages = pages
	return err
}

// routes are all addresses of this process.
func (sv *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", alive)
	mux.Handle("GET /readyz", sv.ready)
	mux.Handle("GET /metrics", onlyNear(sv.m, sv.o.MetricsToken))
	mux.Handle("/webhook", promhttp.InstrumentHandlerDuration(sv.m.answers, &intake{keep: sv.s.Deliver, secrets: sv.in.secrets, wake: sv.outbox.wake,
		count: sv.m.count, log: sv.o.Log.Warn, clock: sv.o.Clock, reading: newReading()}))
	if sv.worker.runners != nil {
		mux.Handle(work.RunnersPath, sv.worker.runners)
	}
	mux.Handle("/", sv.pages)
	return mux
}

// serve runs until ctx ends, and drains.
func (sv *Server) serve(ctx, hard context.Context, listener net.Listener, told func(Addresses)) error {
	looping, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	if err := sv.pool.resume(ctx, sv.o.Clock()); err != nil {
		return err
	}
	left, err := sv.s.Sealed(ctx, sealedToken) // before any job gets one
	if err != nil {
		return err
	}
	redeliver := func() { _ = sv.redeliver(looping) }
	sv.outbox.back = func() { sv.loops.Go(redeliver) } // GitHub was told meanwhile to deliver again
	for _, loop := range []func(){redeliver, func() { sv.revokeLeft(looping, left) }, func() { sv.pool.run(looping) }, func() { sv.outbox.run(looping) },
		func() {
			if app, err := sv.in.current(looping); err == nil { // what the App does itself asks for nothing
				_, _ = app.Login(looping) // a job asks again where no one answers now
			}
		}} {
		sv.loops.Go(loop)
	}
	table, err := sv.timetable(looping)
	if err != nil {
		return err
	}
	defer func() { <-table.Stop().Done() }()
	failed := make(chan error, 1)
	go func() { failed <- sv.http.Serve(listener) }()
	told(sv.addresses(ctx))
	sv.o.Notify("READY=1")
	proc.FreeMemory() // what the start has needed
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	sv.o.Notify("STOPPING=1")
	return errors.Join(err, sv.drain(hard, end))
}

// drain ends everything: intake and pages first, then the jobs, which may continue until hard ends.
func (sv *Server) drain(hard context.Context, end func()) error {
	sv.o.Log.Info("draining: nothing new is started", "running", sv.pool.count(false))
	sv.pages.Close()
	soon, cancel := context.WithTimeout(context.WithoutCancel(hard), readTime)
	defer cancel()
	err := sv.http.Shutdown(soon)
	end()
	sv.loops.Wait()
	patient, done := context.WithTimeout(hard, sv.o.Drain)
	defer done()
	quiet := context.AfterFunc(patient, func() { sv.o.Log.Info("what still runs is handed on", "running", sv.pool.count(false)) })
	defer quiet()
	err = errors.Join(err, sv.pool.drain(patient))
	sv.worker.notices.telling.Wait() // each place has seconds
	return err
}

func (sv *Server) logf(format string, args ...any) { sv.o.Log.Info(fmt.Sprintf(format, args...)) }

// usualPrefix is what the branches of a workflow's runs begin with, unless its input says otherwise.
const usualPrefix = "ralph/"

// ours reports whether what others made of a commit is about a run, as far as the newest runs tell. Which branch the run
// of a workflow has, only that workflow knows. The suites of GitHub Actions and of this App have the check of ralph itself;
// workflows report their end by an event of their own.
func (p *parts) ours(ev event.Event) bool {
	if app := ev.Build.App; app == "github-actions" || app != "" && p.in.wrote(app+"[bot]") {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), readTime)
	defer cancel()
	runs, err := p.s.Runs(ctx, store.Filter{Repositories: []string{ev.Repo.String()}, Limit: 1000})
	return err != nil || slices.ContainsFunc(runs, func(r store.Run) bool {
		return detailOf(r).Branch == ev.Build.Branch ||
			r.State == web.Dispatched && strings.HasPrefix(ev.Build.Branch, usualPrefix)
	})
}

// openRunners makes what has runners do the jobs.
func (sv *Server) openRunners(ctx context.Context) error {
	key, err := sv.s.Unseal(ctx, sealedRunners)
	if errors.Is(err, store.ErrNotFound) {
		key = []byte(rand.Text() + rand.Text())
		err = sv.s.Seal(ctx, sealedRunners, key)
	}
	address := strings.TrimSuffix(sv.o.Public.String(), "/")
	sv.worker.runners = &launch.Runners{Address: address, Key: key, Log: sv.logf, Clock: sv.o.Clock, App: sv.in.current,
		Workflow: sv.o.GitHub.Workflow(repositoryOf(sv.o.Runner), runnerFile, address, sv.o.Clock)}
	return err
}
