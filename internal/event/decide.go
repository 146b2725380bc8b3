package event

// Standing is how the run of a task stands when somebody asks for something.
type Standing string

// The standings of a run.
const (
	None      Standing = "none"      // there was never one
	Running   Standing = "running"   // somebody works on it
	Abandoned Standing = "abandoned" // its process died, and its lease is over
	Waiting   Standing = "waiting"   // for an answer, a limit's reset, or other workflows
	Halted    Standing = "halted"    // cancelled or stopped by somebody
	Failed    Standing = "failed"    // a limit stopped it, or something went wrong
	Finished  Standing = "finished"  // done
)

// Doing is what becomes of a request.
type Doing string

// What a request can come to.
const (
	Begin  Doing = "begin"   // a new run
	GoOn   Doing = "go on"   // the run goes on where its journal stands
	Again  Doing = "again"   // its outcome is taken back, and it gets more iterations
	Halt   Doing = "stop"    // whoever works on it is told to stop
	Close  Doing = "close"   // nobody works on it: its outcome becomes interrupted, so that nothing takes it up
	Tell   Doing = "tell"    // one comment, and nothing else
	Derive Doing = "derive"  // a plan, posted as a comment
	TakeUp Doing = "take up" // a sweep
	Drop   Doing = "drop"    // nothing, and whoever asked is told why
	Ignore Doing = "ignore"  // nothing, and only the log tells why
)

// Decision is what becomes of a request, and why.
type Decision struct {
	Do  Doing
	Why string // one sentence, without its full stop
}
