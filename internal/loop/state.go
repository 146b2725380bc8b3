package loop

import (
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/task"
)

// State is what the records of a run add up to. It is only ever made by folding records.
type State struct {
	Start         Start
	StartedAt     time.Time
	ResumedAt     time.Time    // zero when never resumed
	Reopened      int          // iterations up to this one end the run no more: it was asked for again after them
	Retries       int          // how often the run was asked for again after an outcome
	Endings       int          // how many outcomes the run has had
	Asked         string       // login of who asked for the run last; empty: no one knows
	Hints         []TakenHint  // oldest first
	HintTurn      bool         // a turn was taken only for a hint since the run was last asked for
	DoneAt        int          // the iteration that was done before that turn, as long as the run can go back; 0: none
	Back          *Back        // that it went back; nil: it did not
	Accepted      []Acceptance // what people have accepted, oldest first
	MaxIterations int
	Baseline      []Verdict
	Baselined     bool
	// Plan is the plan as far as it counts, which is not always what its file says; nil for a run without one.
	Plan *plan.Plan
	// PlanDue says that the plan's file in the newest commit says something else than Plan.
	PlanDue bool
	planned int // of Iterations, those before the plan was last taken up with its record
	// Turning is set while a turn runs, and stays set when its process died.
	Turning *Turning
	// Iterations counted so far, by number. Outputs are kept for the last Window of them only. An iteration in it is never
	// changed, only replaced, so that states share them and a long run costs no more a step than a short one.
	Iterations []*Iteration
	EmptyInRow int // turns that said and changed nothing, retried without counting
	// turns in a row that failed for a reason that passes by itself, since the last one or the last resume
	FailInRow   int
	Unable      int    // turns in a row in which the agent did nothing; more than 1: it cannot work
	unable      string // what it said
	Waits       bool   // the last turn waits for a human, who has not answered yet
	Pause       *Pause // what is waited for before the same turn is taken again; nil: nothing
	Warning     string // that the soft time limit is over, with how much is left; empty: it is not
	Tip         string // newest commit of the run; empty before the first
	tree        string // of Tip
	Usage       Usage  // of every turn and review
	UsageBefore Usage  // what Usage was when the run was last asked for again: limits count from there
	// Feedback is the newest review of the run's work that the run was resumed for; nil: none.
	Feedback       *Feedback
	feedbackSeenAt int // the newest iteration that had been judged by then
	Post           Post
	End            *End
	Owner          string
	Lease          time.Time // until when Owner holds the run
	RunURL         string
	At             time.Time // of the newest record
	Records        int
}

// Turning is a turn that has begun.
type Turning struct {
	Iteration int
	Mode      Mode
	Role      task.Role
	Story     string
	Tier      Tier
	At        time.Time
}

// Fold makes the state of a journal.
func Fold(records []Record) State {
	var s State
	for _, r := range records {
		s = s.With(r)
	}
	return s
}

// With is the state after one more record. The state it is called on is not changed.
func (s State) With(r Record) State {
	s.At = r.At
	s.Records++
	if r.Lease != nil {
		s.Lease = *r.Lease
	}
	if r.Commit != nil && r.Commit.Refused != "" { // it is nowhere but where it was made: nothing can continue from it
		return s
	}
	switch r.Type {
	case Started:
		s.start(*r.Start, r.At)
	case Resumed:
		s.resume(*r.Resume, r.At)
	case Baselined:
		s.Baseline, s.Baselined = r.Baseline, true
	case TurnBegun:
		s.beginTurn(r)
	case Hinted:
		s.takeHint(*r.Hint, r.At)
	case WentBack:
		s.goBack(r.Back)
	case Warned:
		s.Warning = r.Warning
	case Paused:
		s.Pause = r.Pause
	case Turned:
		s.turned(r)
	case Committed:
		s.committed(*r.Commit)
	case Judged:
		s.judged(r)
	case Corrected:
		s.corrected(*r.Commit)
	case Posted:
		s.Post = s.Post.with(*r.Post)
	case Ended:
		s.End = r.End
		s.Endings++
		s.Lease = time.Time{}
	}
	return s
}

func (s *State) start(start Start, at time.Time) {
	s.Start, s.StartedAt = start, at
	s.MaxIterations = start.MaxIterations
	s.Owner, s.RunURL, s.Asked = start.Owner, start.RunURL, start.Asked
	s.plan(start.Plan)
	s.accept(start.Accept)
	s.takeHint(Hint{By: start.Asked, Text: start.Hint}, at)
}

func (s *State) resume(r Resume, at time.Time) {
	s.ResumedAt, s.Owner, s.RunURL = at, r.Owner, r.RunURL
	ended := s.End
	s.End = nil
	s.accept(r.Accept)
	s.EmptyInRow, s.FailInRow, s.Unable, s.Waits, s.Pause, s.Warning = 0, 0, 0, false, nil, ""
	// they report the outcome before
	s.Post.Linked, s.Post.Finished, s.Post.Failure, s.Post.NotifyComment, s.Post.Requested = false, false, 0, 0, ""
	if r.Asked != "" {
		s.Asked = r.Asked
	}
	s.takeHint(Hint{By: r.Asked, Text: r.Hint}, at)
	if r.Retry {
		s.Retries++
		s.UsageBefore = s.Usage
		s.Feedback = nil // whoever asks again says what for
	}
	if r.Retry || r.Feedback != nil {
		s.Reopened, s.HintTurn, s.DoneAt, s.Back = len(s.Iterations), false, 0, nil
	}
	s.askAgain(r, ended)
	if r.Feedback != nil {
		s.Post.Answered = nil // a thread that continues is answered again
		s.Feedback, s.feedbackSeenAt = r.Feedback, 0
		if last := s.lastJudged(); last != nil {
			s.feedbackSeenAt = last.N
		}
	}
	if r.Title != "" || r.Spec != "" {
		s.Start.Title, s.Start.Spec = r.Title, r.Spec
		s.Start.Completion, s.Start.Pipeline, s.Start.Caps, s.Start.RequestKey = r.Completion, r.Pipeline, r.Caps, r.Asking
	}
	if r.Plan != nil {
		s.Start.Plan = r.Plan
		s.plan(r.Plan)
	}
	if r.Shared != nil {
		s.Start.Shared = r.Shared
	}
	if r.MaxIterations > 0 {
		s.MaxIterations = len(s.Iterations) + r.MaxIterations
	}
}

// askAgain has the newest iteration judged again, without a turn, when its checks had not all been asked: one waited
// for an answer from outside, one could not pass before a person had put something right, or there was no money left
// for a reviewer. Whoever says what to change wants a turn.
func (s *State) askAgain(r Resume, ended *End) {
	last := s.Last()
	change := r.Hint != "" || r.Feedback != nil
	// what could not be committed has ended nothing yet
	if last != nil && last.Commit == nil && last.Turn.Class == OK && !change {
		s.Reopened = min(s.Reopened, len(s.Iterations)-1)
	}
	if last == nil || !last.Judged {
		return
	}
	waits := last.unanswered() != nil
	switch {
	case change && (waits || r.Feedback != nil), waits && last.Mode == Review && !last.Claimed(): // a review is a turn there
		s.Reopened = len(s.Iterations)
	case change:
	case waits, r.Retry && ended != nil && last.unasked(ended.Outcome), len(r.Accept) > 0 && last.Claimed():
		s.editLast().Judged = false
		s.Reopened = min(s.Reopened, len(s.Iterations)-1)
	}
}

// unasked reports whether an iteration that ended its run can be judged again as it is.
func (it Iteration) unasked(ended Outcome) bool {
	return ended == Invalid && it.Unfixable() != nil || ended == Budget && it.Passed() && !it.Done()
}

// turned adds the iteration, or puts it in the place of one that did not count.
func (s *State) turned(r Record) {
	it := &Iteration{N: r.Iteration, Role: task.Coder, Turn: *r.Turn, At: r.At.Add(-r.Turn.Duration), since: s.Head()}
	if t := s.Turning; t != nil {
		it.Mode, it.Role, it.Story, it.Tier = t.Mode, t.Role, t.Story, t.Tier
	}
	s.Turning = nil
	s.Usage = s.Usage.Plus(r.Turn.Usage)
	s.Waits = it.Turn.waits()
	if slices.ContainsFunc(s.Iterations, func(it *Iteration) bool { return it.Turn.Claim.Left != "" }) {
		it.Turn.Claim.Left = "" // it is told once
	}
	if s.FailInRow++; !it.Turn.Class.Transient() {
		s.FailInRow = 0
	} else {
		s.readHints(it.N, 0) // no model has
	}
	its := append(make([]*Iteration, 0, len(s.Iterations)+1), s.Iterations...)
	if n := len(its); n > 0 && its[n-1].N == it.N {
		if its[n-1].Story == it.Story { // what the turn before has left is a part of it
			it.since = its[n-1].since
		}
		its = its[:n-1]
	}
	its = append(its, it)
	if old := len(its) - 1 - Window; old >= 0 {
		its[old] = its[old].withoutOutputs()
	}
	s.Iterations = its
}

func (s *State) committed(c Commit) {
	if c.SHA != "" {
		s.Tip, s.tree = c.SHA, c.Tree
	}
	last := s.editLast()
	if last == nil {
		return
	}
	last.Commit = &c
	if last.Turn.ByWords && !c.Empty && !c.Unchecked {
		last.Turn.Class, last.Turn.Reason, s.FailInRow = OK, "", 0
	}
	s.help(*last)
	if c.Onto != "" { // the work of others is not given up
		s.DoneAt = 0
	}
	if last.Turn.Class == Empty && (c.Empty || c.Unchecked) {
		s.EmptyInRow++
	} else {
		s.EmptyInRow = 0
	}
	s.advance(last)
}

// help counts the turns in a row in which the agent did nothing. One that does not report what it does, and says
// something else than before, has worked.
func (s *State) help(it Iteration) {
	words := it.helpless()
	if words == "" || s.Unable == 1 && !it.Turn.Reports && words != s.unable {
		s.Unable, s.unable = 0, ""
		return
	}
	s.Unable, s.unable = s.Unable+1, words
	s.readHints(it.N, 0)
}

func (s *State) judged(r Record) {
	last := s.editLast()
	if last == nil {
		return
	}
	last.Judged, last.Verdicts = true, r.Verdicts
	last.Took = r.At.Sub(last.At)
	s.hold(*last)
	for _, v := range r.Verdicts {
		if v.Usage != nil {
			s.Usage = s.Usage.Plus(*v.Usage)
		}
		if v.Usage != nil && !v.Waits && (v.Check == ReviewCheck || v.Role.ReadOnly()) {
			s.readHints(0, last.N)
		}
	}
}

// editLast puts a copy of the last iteration in its place, to be changed: folding never writes into a state that
// someone else holds.
func (s *State) editLast() *Iteration {
	n := len(s.Iterations)
	if n == 0 {
		return nil
	}
	its := append(make([]*Iteration, 0, n+1), s.Iterations...)
	last := *its[n-1]
	its[n-1] = &last
	s.Iterations = its
	return &last
}

func (p Post) with(q Post) Post {
	if q.IssueComment != 0 {
		p.IssueComment = q.IssueComment
	}
	if q.PullComment != 0 {
		p.PullComment = q.PullComment
	}
	if q.Pull != 0 {
		p.Pull = q.Pull
	}
	if q.PullNode != "" {
		p.PullNode = q.PullNode
	}
	if q.PullURL != "" {
		p.PullURL = q.PullURL
	}
	if q.Draft != nil {
		p.Draft = q.Draft
	}
	if q.Closed != nil {
		p.Closed = q.Closed
	}
	p.Linked = p.Linked || q.Linked
	p.Finished = p.Finished || q.Finished
	if q.Failure != 0 {
		p.Failure = q.Failure
	}
	if q.NotifyComment != 0 {
		p.NotifyComment = q.NotifyComment
	}
	if q.Requested != "" {
		p.Requested = q.Requested
	}
	if q.CheckRun != 0 {
		p.CheckRun, p.CheckedSHA = q.CheckRun, q.CheckedSHA
	}
	p.Each = max(p.Each, q.Each)
	p.Answered = slices.Concat(p.Answered, q.Answered)
	return p
}

// WorkBranch is a branch that holds commits of a run for whoever reads of it: on the remote, or of a run on a laptop in
// the clone. Only a state makes one, of what its record knows to be there, so that no report can name a branch that
// no one has. The zero value is none.
type WorkBranch struct{ name string }

// Name is "ralph/issue-42"; empty: there is no branch.
func (b WorkBranch) Name() string { return b.name }

// Branch is the run's own branch, once a commit of the run is on it. In a dry run there is none: what it commits goes
// with its checkout.
func (s State) Branch() WorkBranch {
	if s.Tip == "" || s.Tip == s.Start.Base || s.Start.DryRun {
		return WorkBranch{}
	}
	return WorkBranch{s.Start.Branch}
}

// GivenUp is the branch that keeps what a run did before it went back to an earlier commit.
func (s State) GivenUp() WorkBranch {
	if s.Back == nil || s.Start.DryRun {
		return WorkBranch{}
	}
	return WorkBranch{s.Back.Branch}
}

// Kept is the branch that keeps the work of a run that has ended: the failure branch where there is one, else its own.
func (s State) Kept() WorkBranch {
	if s.End != nil && s.End.FailureBranch != "" && !s.Start.DryRun {
		return WorkBranch{s.End.FailureBranch}
	}
	return s.Branch()
}
