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
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/robfig/cron/v3"

	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/launch"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
	"github.com/ralph-loop/ralph/internal/work"
)

// revokeLeft revokes the tokens of those names, which a killed server has left. GitHub may have ended them already.
func (sv *Server) revokeLeft(ctx context.Context, names []string) {
	for _, name := range names {
		app, err := sv.in.current(ctx)
		var token []byte
		if err == nil {
			token, err = sv.s.Unseal(ctx, name)
		}
		if err == nil {
			_ = app.Revoke(ctx, github.Token{Value: string(token)})
			err = sv.s.Remove(ctx, name)
		}
		if err != nil {
			sv.o.Log.Warn("a token of a killed server ends only by itself, within the hour", "error", err)
		}
	}
}

// Server is ralph for an organization.
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

// Run serves until ctx ends, then drains: nothing new is begun, and what runs may continue until hard ends. told hears
// the addresses once everything is ready.
func Run(ctx, hard context.Context, o Options, told func(Addresses)) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.Listen)
	if err != nil {
		return invalid.Mark(fmt.Errorf("listening on %s: %w: name another address with --listen", o.Listen, err))
	}
	defer listener.Close()
	if o.Public == nil {
		o.Public = &url.URL{Scheme: "http", Host: listener.Addr().String()}
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
	sv.pool = newPool(s, o.Slots, o.PerInstallation, o.Log)
	sv.m = newMetrics(o.Version, known{sv.parts, sv.pool})
	if err := sv.openWorker(ctx); err != nil {
		return nil, err
	}
	sv.ready = &readiness{probes: sv.probes(), token: o.MetricsToken,
		looks: lookups[[]condition]{clock: o.Clock, keeps: checkAge}}
	sv.outbox = &outbox{parts: sv.parts, askers: sv.worker.askers, wrote: sv.in.wrote, begin: sv.pool.wake,
		waker: make(waker, 1)}
	if err := sv.openPages(); err != nil {
		return nil, err
	}
	sv.http = &http.Server{Handler: sv.routes(), ReadHeaderTimeout: readTime, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug)}
	return sv, nil
}

// openWorker makes what does the runs.
func (sv *Server) openWorker(ctx context.Context) error {
	o := sv.o
	mirrors, err := launch.OpenMirrors(filepath.Join(o.Data, "mirrors"), o.Mirrors, o.Environ, sv.logf)
	if err != nil {
		return err
	}
	workspace := filepath.Join(o.Data, "work")
	if err := errors.Join(os.MkdirAll(workspace, 0o711), os.Chmod(workspace, 0o711)); err != nil {
		return fmt.Errorf("making a place for checkouts: %w", err)
	}
	sv.worker = &worker{
		recording: recording{parts: sv.parts, m: sv.m, notices: newNotices(o.Environ, o.Log),
			room: func(least int64) error { return room(o.Data, least) }},
		models: launch.Models{Environ: o.Environ}, askers: &askers{parts: sv.parts, may: lookups[string]{clock: o.Clock}},
		launcher: &launch.Process{Program: o.Program, Environ: o.Environ, Grace: handOnGrace,
			Mirrors: mirrors, Log: sv.logf, Clock: o.Clock}}
	sv.worker.base = o.Base
	sv.worker.base.Workspace = workspace
	if o.Runner != "" {
		if err := sv.openRunners(ctx); err != nil {
			return err
		}
	}
	sv.pool.work = sv.worker.run
	return nil
}

// handOnGrace is how long a process that is handed on may take: others take its job over soon after.
const handOnGrace = 9 * time.Second

func (sv *Server) openPages() error {
	p := newPeople(sv.parts)
	sv.setup = &setup{parts: sv.parts, runners: sv.worker.runners, workspace: sv.worker.base.Workspace}
	pages, err := web.New(web.Options{
		Runs: sv.s, Lists: sv.s, Repositories: newSource(sv.parts, sv.worker.models), Access: p, Sessions: p, SignIn: p, Setup: sv.setup,
		Actions: &actions{sv.parts, sv.outbox.again},
		Public:  sv.o.Public, GitHub: sv.o.GitHub.Web(), Version: sv.o.Version, Clock: sv.o.Clock, Log: sv.o.Log,
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
	sv.outbox.back = func() { sv.loops.Go(redeliver) } // failed deliveries are requested again
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

// addresses are where people go.
func (sv *Server) addresses(ctx context.Context) Addresses {
	a := Addresses{Pages: sv.o.Public.String()}
	if _, err := sv.in.current(ctx); errors.Is(err, errNoApp) {
		sv.setup.code = rand.Text()
		a.Setup = fmt.Sprintf("%s/setup/code?code=%s", a.Pages, sv.setup.code)
	}
	return a
}

const (
	redeliverFor = 3 * 24 * time.Hour // as long as GitHub keeps deliveries
	forgetAfter  = 30 * 24 * time.Hour
	sweptHourly  = 24 * time.Hour
)

// redeliver has GitHub send again what did not arrive. What arrived twice is one delivery.
func (sv *Server) redeliver(ctx context.Context) error {
	app, err := sv.in.current(ctx)
	if errors.Is(err, errNoApp) {
		return nil
	}
	if err != nil {
		return err
	}
	missing, err := app.FailedDeliveries(ctx, sv.o.Clock().Add(-redeliverFor))
	for _, d := range missing {
		if !heard(d.Event) {
			continue
		}
		if _, known := sv.s.Delivery(ctx, d.GUID); known == nil { // it was stored, and the answer was lost
			continue
		}
		sv.o.Log.Info("a delivery did not arrive and is requested again", "delivery", d.GUID, "event", d.Event,
			"status", d.Status)
		err = errors.Join(err, app.Redeliver(ctx, d.ID))
	}
	if err != nil && ctx.Err() == nil {
		sv.o.Log.Warn("ralph requested deliveries that did not arrive", "error", err)
	}
	return err
}

// sweep searches each repository that had a run lately for runs whose process died unseen, and for labels whose
// delivery was lost. What a workflow has done for a day is searched every hour, since this server does not know until
// when its run waits.
func (sv *Server) sweep(ctx context.Context) error {
	runs, err := sv.s.Runs(ctx, store.Filter{Since: sv.o.Clock().Add(-forgetAfter), Limit: 1000})
	if err != nil {
		return err
	}
	now, swept := sv.o.Clock().UTC(), map[string]bool{}
	for _, run := range runs {
		waits := run.State == web.Dispatched && now.Sub(run.Times.Created) < sweptHourly
		if swept[run.Repository] || now.Hour()%6 != 0 && !waits {
			continue
		}
		swept[run.Repository] = true
		err = errors.Join(err, sv.s.Add(ctx, store.Run{ID: fmt.Sprintf("sweep-%s-%d", run.ID, now.Unix()/60), Kind: sweepJob,
			Repository: run.Repository, Installation: run.Installation, Key: run.Repository + "#sweep", State: web.Queued}))
	}
	sv.pool.wake()
	return err
}

// timetable has done now and then what nothing else asks for.
func (sv *Server) timetable(ctx context.Context) (*cron.Cron, error) {
	table := cron.New(cron.WithLocation(time.UTC))
	for at, do := range map[string]func(context.Context) error{
		"*/10 * * * *": sv.redeliver, "17 * * * *": sv.sweep, "41 3 * * *": sv.forget,
	} {
		if _, err := table.AddFunc(at, func() {
			if err := do(ctx); err != nil && ctx.Err() == nil {
				sv.o.Log.Warn("what is done now and then was not done", "error", err)
			}
		}); err != nil {
			return nil, err
		}
	}
	table.Start()
	return table, nil
}

// forget removes what is old.
func (sv *Server) forget(ctx context.Context) error {
	before := func(kind string) time.Time { return sv.o.Clock().AddDate(0, 0, -sv.o.Keep[kind]) }
	return sv.s.Forget(ctx, store.Retention{Deliveries: before("deliveries"), Records: before("records"),
		Runs: before("runs"), Audit: before("audit")})
}
