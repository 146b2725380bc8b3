package bot

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
)

// Reads is what a decision rests on: the event, and what has been read of GitHub and the remote so far.
type Reads struct {
	Event event.Event
	Rules event.Rules
	Job   Job

	Gathered bool // Facts are there
	Facts    event.Facts

	Located bool // it was searched for the run; Request then says which pull request it is about
	Request event.Request
	Run     loop.State
	Known   bool // there is a run

	Listed bool // Runs are there: the newest run of every task
	Runs   []loop.State
}

// Job is the process that asks.
type Job struct {
	Attempt int64  // 2 when GitHub, or a server, runs the job again
	URL     string // of the workflow run
	Owner   string // as a lease names it
	Now     time.Time
	// Served says that a server runs the job: again only when its process was killed, never since someone asks for that.
	Served bool
	// Anew says that no run of an earlier attempt can be continued with: the request stands as it is.
	Anew bool
}

// Step is what is done about an event. The first three ask for something to be read before it can be decided.
type Step string

// The steps.
const (
	ReadFacts Step = "read facts" // the people of the event and their permissions
	ReadRun   Step = "read run"   // the run that it is about
	ReadRuns  Step = "read runs"  // all runs: the job is run again

	DoNothing  Step = "nothing"  // only the log tells why
	Refuse     Step = "refuse"   // someone may not ask
	Answer     Step = "answer"   // the command is unknown: with the commands that exist
	Reject     Step = "reject"   // with what is wrong with the request
	Decline    Step = "decline"  // no run starts, and an answer gives the reason
	Help       Step = "help"     // one comment
	Status     Step = "status"   // one comment
	Sweep      Step = "sweep"    // what no process works on is resumed
	DerivePlan Step = "plan"     // a plan is derived and posted
	Stop       Step = "stop"     // a run is stopped, or closed
	PassHint   Step = "hint"     // a hint goes to a run
	Fix        Step = "fix"      // what reviews ask for
	Builds     Step = "builds"   // what other workflows found
	GoOnPlan   Step = "plan run" // with the run of a plan in the repository
	ReportEnd  Step = "tell end" // of a run that was cut off while it told how it ended
	TakeUp     Step = "resume"   // a run that an earlier attempt of the job started
	Over       Step = "over"     // the run of an earlier attempt has ended, and that was reported
	Work       Step = "work"     // a run starts or resumes
)

// Decision is what happens to an event, and why. A dry run prints it; Do does it.
type Decision struct {
	Step    Step
	Why     string // one sentence without its full stop; empty where Row says it
	Request event.Request
	Facts   event.Facts
	Run     loop.State
	Known   bool           // there is a run
	Row     event.Decision // the row of docs/internals/requests.md that decides; zero before it is known which run it is about
	Refusal *event.Refusal // of Refuse
	Err     error          // of Answer and Reject; known before it is known who may ask
	Reads   Reads          // what it rests on
}

// Decide says what happens to an event. It reads nothing but its argument: where that is not enough, the step says what
// to read.
func Decide(r Reads) Decision {
	request, skip, usage := event.Read(r.Event, r.Rules)
	d := Decision{Request: request, Facts: r.Facts, Run: r.Run, Known: r.Known, Reads: r}
	if r.Located {
		d.Request = r.Request
	}
	if skip != nil {
		return d.because(DoNothing, skip.Reason)
	}
	if usage != nil {
		d.Err = usage
	}
	if !r.Gathered {
		return d.because(ReadFacts, "")
	}
	if why, own := event.IsOwn(r.Event, r.Facts.Self); own {
		return d.because(DoNothing, why)
	}
	// a job that is run again is a new request
	if why, withdrawn := r.Facts.Withdrawn(r.Event); withdrawn && r.Job.Attempt <= 1 {
		return d.because(DoNothing, why)
	}
	if refusal := event.Authorize(r.Event, r.Facts, r.Rules); refusal != nil {
		d.Refusal = refusal
		return d.because(Refuse, refusal.Reason)
	}
	if usage != nil {
		return d.because(Answer, usage.Error())
	}
	if !r.Located {
		return d.because(ReadRun, "")
	}
	return d.ofRun()
}

func (d Decision) because(step Step, why string) Decision {
	d.Step, d.Why = step, why
	return d
}

// ofRun decides what is authorized, once it is known which run it is about.
func (d Decision) ofRun() Decision {
	d.Row = event.Decide(d.Request, runStatus(d.Run, d.Known, d.Reads.Job.Owner, d.Reads.Job.Now), d.Reads.Rules)
	if d.startsNothing() {
		return d.because(Decline, d.Row.Why)
	}
	if again, ok := d.forRerun(); ok {
		return again
	}
	step, known := steps[d.Request.Verb]
	switch {
	case known && slices.Contains(idle, d.Row.Do):
		return d.because(Decline, d.Row.Why)
	case known:
		return d.because(step, "")
	case d.Known && d.Run.Start.Issue == 0 && d.Request.PlanFile == "":
		return d.onPlan()
	}
	return d.because(Work, "")
}

// steps are those of the verbs that neither start nor resume a run.
var steps = map[event.Verb]Step{event.Help: Help, event.Status: Status, event.Sweep: Sweep, event.Plan: DerivePlan,
	event.Stop: Stop, event.Hint: PassHint, event.Fix: Fix, event.OnCIResult: Builds}

// idle are the doings that start nothing.
var idle = []event.Doing{event.Drop, event.Ignore}

// startsNothing reports whether nothing starts, whatever the status of the run.
func (d Decision) startsNothing() bool {
	for _, at := range event.Standings {
		if event.Decide(d.Request, at, d.Reads.Rules) != event.Decide(d.Request, event.Standings[0], d.Reads.Rules) {
			return false
		}
	}
	return slices.Contains(idle, d.Row.Do)
}

// forRerun is for a job that runs again. It resumes the run that the earlier attempt started, or reports an outcome
// that was not reported everywhere; for a stop, also that of a run that another job started. ok is false if neither
// exists. Then the request counts as it is: to run a finished job again is a new request.
func (d Decision) forRerun() (Decision, bool) {
	r := d.Reads
	if r.Job.Attempt <= 1 || r.Job.Anew || d.Request.Event.Issue == nil ||
		slices.Contains([]event.Verb{event.Plan, event.Help, event.Status, event.Hint}, d.Request.Verb) {
		return d, false
	}
	if !r.Listed {
		return d.because(ReadRuns, ""), true
	}
	for _, s := range r.Runs {
		own := samePage(s.RunURL, r.Job.URL)
		switch {
		case s.Start.Issue != d.Request.Event.Issue.Number || alive(s, r.Job.Now) || !own && d.Request.Verb != event.Stop:
		case s.End != nil && !s.Post.Finished:
			d.Run, d.Known = s, true
			return d.because(ReportEnd, ""), true
		case s.End == nil && d.Request.Verb != event.Stop:
			d.Run, d.Known = s, true
			return d.because(TakeUp, ""), true
		case own && r.Job.Served && s.End != nil:
			d.Run, d.Known = s, true
			return d.because(Over, "an earlier process of this job has done it and told its end"), true
		}
	}
	return d, false
}

// samePage reports whether two addresses are those of one job, whichever of several servers shows its page.
func samePage(a, b string) bool {
	one, err := url.Parse(a)
	other, failed := url.Parse(b)
	return err == nil && failed == nil && one.Path != "" && one.Path == other.Path
}

// onPlan decides on a request that was made on the pull request of a plan in the repository.
func (d Decision) onPlan() Decision {
	r := d.Request
	if d.Run.Start.Plan == nil || r.Fresh || r.Verb == event.Approve {
		d.Err = invalid.Errorf("pull request #%d is of %s, not of an issue; a dispatch of the workflow starts it fresh",
			r.Event.On, d.Run.Start.Task)
		return d.because(Reject, d.Err.Error())
	}
	return d.because(GoOnPlan, "")
}

// runStatus is the status of a run for a new request. A run that this job holds itself is abandoned: it can be resumed.
func runStatus(s loop.State, known bool, owner string, now time.Time) event.RunStatus {
	switch {
	case !known:
		return event.None
	case s.End == nil && now.Before(s.Lease) && s.Owner != owner:
		return event.Running
	case s.End == nil:
		return event.Abandoned
	}
	switch s.End.Outcome {
	case loop.Done:
		return event.Finished
	case loop.Waiting:
		return event.Waiting
	case loop.Interrupted:
		return event.Halted
	}
	return event.Failed
}

// alive reports whether someone holds a run.
func alive(s loop.State, now time.Time) bool { return s.End == nil && now.Before(s.Lease) }

// about reports whether an event is about a run.
func about(ev event.Event, s loop.State) bool {
	switch {
	case ev.Build != nil:
		return s.Post.Pull != 0 && ev.Build.Branch == s.Start.Branch && strings.EqualFold(ev.Build.SHA, s.Tip)
	case ev.Issue.Pull:
		return s.Post.Pull == ev.Issue.Number
	}
	return s.Start.Issue == ev.Issue.Number
}

// heldError is a request without effect and its reason: another job has the run, or nothing is left to do.
type heldError struct{ reason string }

func (e *heldError) Error() string { return e.reason }
