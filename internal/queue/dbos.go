package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	_ "github.com/dbos-inc/dbos-transact-golang/dbos/driver/sqlite" // lets DBOS read SQLite's errors
)

// workflows is DBOS: every attempt of a job is a workflow there with one step, and schedules run once over all
// processes.
type workflows struct {
	dbos.Context
	attempts  sync.Map // workflow id → func() string, for those that this process has claimed
	schedules []dbos.ScheduleSpec
	clocked   map[string]func(context.Context) error // by the name of the schedule
}

// openWorkflows makes DBOS's tables where they are missing. Nothing runs before launch.
func openWorkflows(ctx context.Context, o Options, executor string) (*workflows, error) {
	handle, err := dbos.NewContext(ctx, dbos.Config{
		AppName: "ralph", ApplicationVersion: strconv.Itoa(Version), ExecutorID: executor,
		SQLiteSystemDB: o.SQLite, SystemDBPool: o.Pool, Logger: slog.New(quiet{o.Log.Handler()}),
		NotificationCoalesceInterval: time.Second, // nobody waits for a notification; the default looks each 10 ms
	})
	if err != nil {
		return nil, err
	}
	w := &workflows{Context: handle, clocked: map[string]func(context.Context) error{}}
	if v, e := handle.GetApplicationVersion(), handle.GetExecutorID(); v != strconv.Itoa(Version) || e != executor {
		_ = w.close(time.Second)
		return nil, errors.New("DBOS__APPVERSION or DBOS__VMID is set: unset both, " +
			"ralph names its versions and processes itself")
	}
	dbos.RegisterWorkflow(handle, w.attempt, dbos.WithWorkflowName("attempt"))
	dbos.RegisterWorkflow(handle, w.tick, dbos.WithWorkflowName(clockedWorkflow))
	return w, nil
}

// schedule adds a function that runs by the clock; before launch only. All of them are one workflow, as DBOS tells
// workflows apart by their function.
func (w *workflows) schedule(name, cron string, do func(context.Context) error) {
	w.clocked[name] = do
	w.schedules = append(w.schedules, dbos.ScheduleSpec{ScheduleName: name, Schedule: cron, WorkflowName: clockedWorkflow,
		Context: name})
}

const clockedWorkflow = "every"

// tick is the workflow of the schedules.
func (w *workflows) tick(ctx dbos.Context, in dbos.ScheduledWorkflowInput) (string, error) {
	name, err := dbos.DecodeScheduleContext[string](in)
	do, known := w.clocked[name]
	if err != nil || !known {
		return "", fmt.Errorf("the schedule %q is of another version", name)
	}
	return "", do(ctx)
}

// launch starts DBOS and puts the schedules up. DBOS starts no attempt of an earlier process: each has its own name.
func (w *workflows) launch() error {
	if err := dbos.Launch(w.Context); err != nil {
		return err
	}
	if len(w.schedules) == 0 {
		return nil
	}
	return dbos.ApplySchedules(w.Context, w.schedules)
}

// attempt is the workflow. An attempt runs only in the process that has claimed it.
func (w *workflows) attempt(ctx dbos.Context, id string) (string, error) {
	do, ours := w.attempts.LoadAndDelete(id)
	if !ours {
		return "", errors.New("the process that had claimed this attempt is gone")
	}
	once := func(context.Context) (string, error) { return do.(func() string)(), nil }
	return dbos.RunAsStep(ctx, once, dbos.WithStepName("do"))
}

// run has do run as the workflow of that id and returns when it has ended. An error says that do has not run.
func (w *workflows) run(id string, do func() string) error {
	w.attempts.Store(id, do)
	defer w.attempts.Delete(id)
	handle, err := dbos.RunWorkflow(w.Context, w.attempt, id, dbos.WithWorkflowID(id))
	if err != nil {
		return err
	}
	_, err = handle.GetResult()
	return err
}

// abandon marks what these executors left unfinished, so that nobody looks for its end. It runs nowhere.
func (w *workflows) abandon(executors []string) error {
	for _, executor := range executors {
		left, err := dbos.ListWorkflows(w.Context, dbos.WithFilterExecutorIDs(executor),
			dbos.WithFilterLoadInput(false), dbos.WithFilterLoadOutput(false),
			dbos.WithFilterStatus(dbos.WorkflowStatusPending))
		if err != nil {
			return fmt.Errorf("listing what %s has left: %w", executor, err)
		}
		var ids []string
		for _, l := range left {
			ids = append(ids, l.ID)
		}
		if len(ids) == 0 {
			continue
		}
		if err := dbos.CancelWorkflows(w.Context, ids); err != nil {
			return fmt.Errorf("marking what %s has left: %w", executor, err)
		}
	}
	return nil
}

// forget deletes workflows that ended before a time, some hundred at once.
func (w *workflows) forget(ctx context.Context, before time.Time) error {
	for ctx.Err() == nil {
		old, err := dbos.ListWorkflows(w.Context, dbos.WithFilterCompletedBefore(before), dbos.WithFilterLimit(500),
			dbos.WithFilterLoadInput(false), dbos.WithFilterLoadOutput(false),
			dbos.WithFilterStatus(dbos.WorkflowStatusSuccess, dbos.WorkflowStatusError, dbos.WorkflowStatusCancelled))
		if err != nil || len(old) == 0 {
			return err
		}
		var ids []string
		for _, o := range old {
			ids = append(ids, o.ID)
		}
		if err := dbos.DeleteWorkflows(w.Context, ids); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// stopTaking lets DBOS take nothing from queues any more; what runs goes on.
func (w *workflows) stopTaking() { dbos.ListenQueues(w.Context, "draining") }

// close ends DBOS, the schedules' functions that still run, and the handle of the database.
func (w *workflows) close(limit time.Duration) error { return dbos.Shutdown(w.Context, limit) }

// quiet leaves out what DBOS says of its everyday work.
type quiet struct{ slog.Handler }

func (q quiet) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && q.Handler.Enabled(ctx, level)
}
func (q quiet) WithAttrs(attrs []slog.Attr) slog.Handler { return quiet{q.Handler.WithAttrs(attrs)} }
func (q quiet) WithGroup(name string) slog.Handler       { return quiet{q.Handler.WithGroup(name)} }
