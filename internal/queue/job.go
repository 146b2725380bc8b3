package queue

import (
	"errors"
	"fmt"
	"time"
)

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
