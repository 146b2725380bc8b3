package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/launch"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
)

// States of a run's row besides web's and the outcomes of loop.
const (
	declined  = "declined"  // nothing was done: the requester is not authorized, or the run has changed
	continued = "continued" // it waited, and a later request continues with it
	failedRun = string(loop.Failed)
)

// What a job's row is before a run has begun.
const (
	answerJob = "answer" // of a command that is done in seconds
	sweepJob  = "sweep"
)

// detail is what a run's row holds beside what lists can be asked by.
type detail struct {
	web.Shown
	Job       string    `json:"job,omitempty"`      // the id of the job that continues with it; empty: the run's own
	Known     int       `json:"known,omitempty"`    // how many records of the journal are stored
	Permitted permitted `json:"permitted,omitzero"` // as decided
	// Stops says that the job stops the runs of its issue, once it is known that its requester may.
	Stops bool `json:"stops,omitempty"`
	// Claim is of the runner that works on it.
	Claim launch.Claim `json:"claim,omitzero"`
}

// detailOf is the detail of a row. One that cannot be read is of a newer version, and left out.
func detailOf(r store.Run) (d detail) {
	_ = json.Unmarshal(r.Detail, &d)
	return d
}

func (d detail) text() json.RawMessage {
	text, _ := json.Marshal(d) // of strings and numbers
	return text
}

// permitted are the permissions that a decision rests on, in the row of its run.
type permitted struct {
	At     time.Time         `json:"at,omitzero"`
	Levels map[string]string `json:"levels,omitempty"` // by login in lower case: "write"
}

// settledError is why a job needs no process: its outcome is known.
type settledError struct{ state, why string }

func (e *settledError) Error() string { return e.why }

// unwantedError is of a run that was stopped before it started.
type unwantedError struct{ by string }

func (e unwantedError) Error() string { return "stopped by " + e.by + " before it started" }

// Is implements what errors.Is asks.
func (e unwantedError) Is(target error) bool { return target == launch.ErrUnwanted }

// jobOf is the id of the job that the next process of a run does, and the delivery that it is about; "": the job
// searches the repository for runs to resume.
func jobOf(row store.Run) (id, delivery string) {
	if later := detailOf(row).Job; later != "" {
		return later, ""
	}
	return row.ID, row.Delivery
}

// keyOf is the key of runs of one issue that wait for each other. Those with other keys are kept apart by their lease.
func keyOf(repository string, issue int) string {
	return fmt.Sprintf("%s#%d", strings.ToLower(repository), issue)
}

// eventOf is what a delivery tells.
func eventOf(d store.Delivery) (event.Event, error) {
	return github.ParseEvent(github.Delivery{Name: d.Event, Payload: d.Payload, Repository: d.Repository, At: d.Received})
}

// accountOf is whose a repository is.
func accountOf(repository string) string {
	return repositoryOf(repository).Owner
}

// repositoryOf is a repository by its "owner/name".
func repositoryOf(name string) event.Repo {
	owner, short, _ := strings.Cut(name, "/")
	return event.Repo{Owner: owner, Name: short}
}

// killed has a run whose process died wait: a little longer each time, and not forever.
func killed(row *store.Run, why string, now time.Time) {
	row.Kills++
	row.State, row.Reason = web.Queued, why
	if row.Kills >= mostKills {
		row.State, row.Times.Ended = failedRun, now
		row.Reason = "its process was ended again and again; what it has done is on its branch. " + why
	} else if over := row.Kills - patience; over > 0 { // whatever kills it gets less to kill
		row.Times.Resume = now.Add(time.Duration(over*over) * time.Second)
	}
}

const (
	mostKills = 10 // of processes of one run in a row without any progress
	patience  = 3  // kills in a row are no one's fault: a machine that restarts again and again kills all that runs
)

const (
	afterFailed  = 5 * time.Second
	longestPause = 5 * time.Minute
)

// pauseAfter is how long what was tried n times in vain waits.
func pauseAfter(n int) time.Duration {
	return min(afterFailed<<min(max(n-1, 0), 10), longestPause)
}

// stopRun stops a run that waits for a place or works.
func stopRun(ctx context.Context, s *store.Store, run store.Run, by string) error {
	if run.State == web.Queued {
		ended, err := s.EndQueued(ctx, run.ID, string(loop.Interrupted), unwantedError{by}.Error())
		if ended || err != nil {
			return err
		}
	}
	return s.Say(ctx, store.Word{Run: run.ID, Kind: web.Stop, Person: by, Text: "asked to stop"}) // it may have begun just now
}
