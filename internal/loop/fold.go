package loop

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/task"
)

// Fold makes the state of a journal.
func Fold(records []Record) State {
	var s State
	for _, r := range records {
		s = s.With(r)
	}
	return s
}

// fold is a state while a record is added to it. It never writes into what the state before it shares.
type fold struct{ State }

// With is the state after one more record. The state it is called on is not changed.
func (before State) With(r Record) State {
	s := &fold{before}
	s.At = r.At
	s.Records++
	if r.Lease != nil {
		s.Lease = *r.Lease
	}
	if r.Commit != nil && r.Commit.Refused != "" { // it is nowhere but where it was made: nothing can continue from it
		return s.State
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
	return s.State
}

func (s *fold) start(start Start, at time.Time) {
	s.Start, s.StartedAt = start, at
	s.MaxIterations = start.MaxIterations
	s.Owner, s.RunURL, s.Asked = start.Owner, start.RunURL, start.Asked
	s.plan(start.Plan)
	s.accept(start.Accept)
	s.takeHint(Hint{By: start.Asked, Text: start.Hint}, at)
}

func (s *fold) resume(r Resume, at time.Time) {
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
		s.Feedback = nil // the new request says what it is for
	}
	if r.Retry || r.Feedback != nil {
		s.Reopened, s.HintTurn, s.DoneAt, s.Back = len(s.Iterations), false, 0, nil
	}
	s.askAgain(r, ended)
	if r.Feedback != nil {
		s.Post.Answered = nil // a thread that continues is answered again
		s.Feedback, s.feedbackSeenAt = r.Feedback, 0
		if last := s.LastJudged(); last != nil {
			s.feedbackSeenAt = last.N
		}
	}
	if r.Title != "" || r.Spec != "" {
		s.Start.Assignment = r.Assignment
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
// for an answer from outside, one could not pass before a person had fixed something, or there was no money left for a
// reviewer. A request that says what to change needs a turn.
func (s *fold) askAgain(r Resume, ended *End) {
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
func (s *fold) turned(r Record) {
	it := &Iteration{N: r.Iteration, Role: task.Coder, Turn: *r.Turn, At: r.At.Add(-r.Turn.Duration), Since: s.Head()}
	if t := s.Turning; t != nil {
		it.Mode, it.Role, it.Story, it.Tier = t.Mode, t.Role, t.Story, t.Tier
	}
	s.Turning = nil
	s.Usage = s.Usage.Plus(r.Turn.Usage)
	s.Waits = it.Turn.waits()
	if slices.ContainsFunc(s.Iterations, func(it *Iteration) bool { return it.Turn.Claim.Left != "" }) {
		it.Turn.Claim.Left = "" // the agent reads it once
	}
	if s.FailInRow++; !it.Turn.Class.Transient() {
		s.FailInRow = 0
	} else {
		s.readHints(it.N, 0) // no model has
	}
	its := append(make([]*Iteration, 0, len(s.Iterations)+1), s.Iterations...)
	if n := len(its); n > 0 && its[n-1].N == it.N {
		if its[n-1].Story == it.Story { // what the turn before has left is a part of it
			it.Since = its[n-1].Since
		}
		its = its[:n-1]
	}
	its = append(its, it)
	if old := len(its) - 1 - Window; old >= 0 {
		its[old] = its[old].withoutOutputs()
	}
	s.Iterations = its
}

func (s *fold) committed(c Commit) {
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
	s.help(last)
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
func (s *fold) help(it *Iteration) {
	words := it.helpless()
	it.unable = words != "" && (s.Unable != 1 || it.Turn.Reports || words == s.unable)
	if !it.unable {
		s.Unable, s.unable = 0, ""
		return
	}
	s.Unable, s.unable = s.Unable+1, words
	s.readHints(it.N, 0)
}

func (s *fold) judged(r Record) {
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
func (s *fold) editLast() *Iteration {
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
	p.IssueComment, p.PullComment = cmp.Or(q.IssueComment, p.IssueComment), cmp.Or(q.PullComment, p.PullComment)
	p.Pull, p.PullNode, p.PullURL = cmp.Or(q.Pull, p.Pull), cmp.Or(q.PullNode, p.PullNode), cmp.Or(q.PullURL, p.PullURL)
	p.Draft, p.Closed = cmp.Or(q.Draft, p.Draft), cmp.Or(q.Closed, p.Closed)
	p.Linked, p.Finished = p.Linked || q.Linked, p.Finished || q.Finished
	p.Failure, p.NotifyComment = cmp.Or(q.Failure, p.Failure), cmp.Or(q.NotifyComment, p.NotifyComment)
	p.Requested = cmp.Or(q.Requested, p.Requested)
	p.Checked, p.Each = max(p.Checked, q.Checked), max(p.Each, q.Each)
	p.Answered = slices.Concat(p.Answered, q.Answered)
	return p
}

// plan takes a plan up as it is.
func (s *fold) plan(p *Planned) {
	if p != nil {
		s.Plan, s.PlanDue, s.tree = new(p.Plan), false, p.Tree
		s.planned = len(s.Iterations) // the plan's record holds what they have done
	}
}

// advance adopts what an iteration made of the plan. A turn that does not count hands nothing on.
func (s *fold) advance(it *Iteration) {
	a := it.Commit.Plan
	if s.Plan == nil || a == nil {
		return
	}
	if before := s.Plan.Story(it.Story); before != nil {
		it.before = new(*before)
	}
	s.replan(a.Stories...)
	if a.Handed {
		s.accept(a.Accepted)
	}
	if a.Handed && !s.counts(*it) {
		s.takeBack(*it)
	}
}

func (s *fold) replan(stories ...plan.Story) {
	if len(stories) > 0 {
		s.Plan = new(s.Plan.With(stories...))
	}
}

// hold keeps a story where it was when the checks have said no to what handed it on; one that waits for its answer has
// not. An approval of a tree that fails does not count: the next iteration has to fix what failed.
func (s *fold) hold(it Iteration) {
	// in the list's order: what was written into the plan's file must fold to the same
	failure := it.blocked(func(string) bool { return true })
	if s.Plan == nil || it.Commit == nil || it.Commit.Plan == nil || !it.Commit.Plan.Handed {
		return
	}
	waits := it.unanswered()
	switch {
	case failure == nil:
		s.restore(it)
		return
	case waits != nil && len(waits.Concerns) == 0: // what has to be accepted is not, as long as no one says so
		return
	}
	story := s.Plan.Story(it.Story)
	switch {
	case story == nil:
	case it.Mode != Review:
		s.takeBack(it)
	case story.ReviewStatus == plan.Approved:
		held := *story
		held.Passes, held.ReviewStatus = false, plan.ChangesRequested
		held.ReviewFeedback = fmt.Sprintf("The check %q failed after the review: %s", failure.Check, failure.Reason)
		s.replan(held)
		s.PlanDue = true
	}
}

// restore hands a story on that was held until someone had accepted what was found: the checks pass now.
func (s *fold) restore(it Iteration) {
	for _, handed := range it.Commit.Plan.Stories {
		now := s.Plan.Story(handed.ID)
		if handed.ID == it.Story && now != nil && (now.Passes != handed.Passes || now.ReviewStatus != handed.ReviewStatus) {
			s.replan(handed)
			s.PlanDue = true
		}
	}
}

// takeBack undoes what an iteration did to its story's standing.
func (s *fold) takeBack(it Iteration) {
	story := s.Plan.Story(it.Story)
	if story == nil || it.before == nil {
		return
	}
	held, before := *story, it.before
	held.Passes, held.ReviewStatus, held.ReviewCount, held.ReviewFeedback = before.Passes, before.ReviewStatus,
		before.ReviewCount, before.ReviewFeedback
	s.replan(held)
	s.PlanDue = true
}

func (s *fold) corrected(c Commit) {
	s.Tip, s.tree, s.PlanDue = c.SHA, c.Tree, false
}

// accept adds what a person accepts, which is what is open now: "all" stands for that, and a name for what has it. Where
// nothing has, it stands for whatever will.
func (s *fold) accept(list []Acceptance) {
	if len(list) == 0 {
		return
	}
	var open []Concern
	if last := s.Last(); last != nil && last.Judged {
		open = s.Open(last.Verdicts)
	}
	all := slices.Clone(s.Accepted)
	for _, a := range list {
		before := len(all)
		for _, c := range open {
			if a.names(c) {
				all = append(all, a.Of(c))
			}
		}
		if len(all) == before {
			all = append(all, a)
		}
	}
	s.Accepted = all
}

func (s *fold) takeHint(h Hint, at time.Time) {
	if h.Text != "" && !slices.Contains(s.HintIDs(), h.ID) {
		to := ""
		if last := s.Last(); last != nil && last.Turn.waits() && s.Turning == nil {
			to = last.Turn.Claim.Text
		}
		s.Hints = append(slices.Clone(s.Hints), TakenHint{Hint: h, At: at, To: to})
	}
}

// readHints moves the hints that were first read in one iteration to another one; 0: unread.
func (s *fold) readHints(from, to int) {
	s.Hints = slices.Clone(s.Hints)
	for i := range s.Hints {
		if s.Hints[i].ReadIn == from {
			s.Hints[i].ReadIn = to
		}
	}
}

// beginTurn notes a turn. One after an iteration that is done is the turn for a hint. In a run without a branch there
// is nothing to go back to, so that it continues from there like any other.
func (s *fold) beginTurn(r Record) {
	if last := s.Last(); s.Turning == nil && last != nil && last.N > s.Reopened && s.finished(*last) {
		s.HintTurn = true
		if s.Start.Branch != "" {
			s.DoneAt = last.N
		}
	}
	s.Turning = &Turning{Iteration: r.Iteration, Mode: r.Mode, Role: cmp.Or(r.Role, task.Coder), Story: r.Story, Tier: r.Tier,
		At: r.At}
	s.Pause = nil
	s.readHints(0, r.Iteration)
}

// goBack makes the iteration that was done the newest again.
func (s *fold) goBack(b *Back) {
	s.Hints = slices.Clone(s.Hints)
	for i := range s.Hints {
		s.Hints[i].Undone = s.Hints[i].Undone || s.Hints[i].ReadIn > s.DoneAt
	}
	n := slices.IndexFunc(s.Iterations, func(it *Iteration) bool { return it.N == s.DoneAt })
	s.Iterations = s.Iterations[:n+1]
	if done := s.Last(); done != nil {
		s.Tip, s.tree = done.Commit.SHA, done.Commit.Tree
	}
	s.EmptyInRow, s.FailInRow, s.Unable, s.Waits, s.Pause, s.Turning = 0, 0, 0, false, nil, nil
	s.Back, s.DoneAt = b, 0
}
