package loop

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
)

// State is what the records of a run add up to. It is only ever made by folding records.
type State struct {
	Start         Start
	StartedAt     time.Time
	ResumedAt     time.Time    // zero when never resumed
	Reopened      int          // iterations up to this one no longer end the run: a new request came after them
	Retries       int          // how many requests came after an outcome
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
	planned int // of Iterations, those before the plan was last set
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
	Pause       *Pause // the wait before the same turn is taken again; nil: no wait
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

// WorkBranch is a branch that holds commits of a run for its readers: on the remote, or of a run on a laptop in the
// clone. Only a state makes one, of what its record knows to be there, so that no report can name a branch that no one
// has. The zero value is no branch.
type WorkBranch struct{ name string }

// Name is "ralph/issue-42"; empty: there is no branch.
func (b WorkBranch) Name() string { return b.name }

// Branch is the run's own branch, once a commit of the run is on it. A dry run has no branch: its commits are removed
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

// HasAccepted reports whether a person has accepted a concern.
func (s State) HasAccepted(c Concern) bool { return accepts(s.Accepted, c) }

// Open are the concerns of verdicts that no person has accepted, each once, in their order. Two checks may say something
// of one name.
func (s State) Open(verdicts []Verdict) []Concern {
	var open []Concern
	for _, v := range verdicts {
		if v.Skipped != "" || v.Pass {
			continue
		}
		for _, c := range v.Concerns {
			named := slices.ContainsFunc(open, func(o Concern) bool { return o.Name == c.Name && o.Message == c.Message })
			if !named && !accepts(s.Accepted, c) {
				open = append(open, c)
			}
		}
	}
	return open
}

// ToAccept are the concerns that the run waits for a person to accept; none when it waits for anything else, or has not
// come to that.
func (s State) ToAccept() []Concern {
	last := s.Last()
	if last == nil || !last.Judged {
		return nil
	}
	if v := last.unanswered(); v != nil {
		return v.Concerns
	}
	return nil
}

// Findings are the concerns of the newest iteration that was judged which no person has accepted, whatever else it failed
// by.
func (s State) Findings() []Concern {
	if last := s.LastJudged(); last != nil {
		return s.Open(last.Verdicts)
	}
	return nil
}

// AcceptedBy are those of a verdict's concerns that a person has accepted; rest says whether others remain.
func (s State) AcceptedBy(v Verdict) (accepted []Acceptance, rest bool) {
	for _, c := range v.Concerns {
		i := acceptance(s.Accepted, c)
		if i < 0 {
			rest = true
			continue
		}
		a := s.Accepted[i]
		a.Name = c.Name
		accepted = append(accepted, a)
	}
	return accepted, rest
}

// WorkOn is the newest iteration that worked on a story of the plan and was judged; otherwise the zero value.
func (s State) WorkOn(story string) Iteration {
	if it := newest(s.Iterations, func(it *Iteration) bool { return it.Story == story && it.Mode != Review && it.Judged }); it != nil {
		return *it
	}
	return Iteration{}
}

// Taken are the acceptances by which the newest judged attempt stands, one of each name, as they were given.
func (s State) Taken() (list []Acceptance) {
	it := s.LastJudged()
	if it == nil {
		return nil
	}
	open := map[string]bool{}
	for _, v := range it.Verdicts {
		for _, c := range v.Concerns {
			open[c.Name] = true
		}
	}
	for _, v := range it.Verdicts {
		for _, a := range v.Accepted {
			if open[a.Name] {
				list = append(list, a)
				delete(open, a.Name)
			}
		}
	}
	return list
}

// counts reports whether an iteration is an attempt: a stopped turn is not, nor one that waits, whose model was not to
// be had or in which the agent did nothing, nor an empty one that may be retried.
func (s State) counts(it Iteration) bool {
	c := it.Turn.Class
	if c == Stopped || c.Transient() || it.Turn.waits() || it.unable {
		return false
	}
	return c != Empty || !it.Commit.Empty && !it.Commit.Unchecked || s.EmptyInRow >= maxEmpty
}

// feedbackDue reports whether no iteration has been judged since the run was resumed for a review.
func (s State) feedbackDue() bool {
	if s.Feedback == nil {
		return false
	}
	last := s.LastJudged()
	return last == nil || last.N <= s.feedbackSeenAt
}

// Spent is what the run has spent since it was last asked for.
func (s State) Spent() Usage { return s.Usage.Minus(s.UsageBefore) }

// OnIssue is what everything that was ever done on the run's issue has spent.
func (s State) OnIssue() Usage {
	if s.Start.Earlier == nil {
		return s.Usage
	}
	return s.Usage.Plus(*s.Start.Earlier)
}

// Last is the newest iteration, nil before the first.
func (s State) Last() *Iteration {
	if len(s.Iterations) == 0 {
		return nil
	}
	return s.Iterations[len(s.Iterations)-1]
}

// newest is the newest iteration of a kind; nil without one.
func newest(its []*Iteration, kind func(*Iteration) bool) *Iteration {
	for _, it := range slices.Backward(its) {
		if kind(it) {
			return it
		}
	}
	return nil
}

// sinceAsked are the iterations since the last request for the run.
func (s State) sinceAsked() []*Iteration { return s.Iterations[min(s.Reopened, len(s.Iterations)):] }

// Settled reports whether everything that the agent has changed is in a commit.
func (s State) Settled() bool {
	last := s.Last()
	return s.Turning == nil && (last == nil || last.Commit != nil)
}

// Of writes an iteration's number with how many there may be: "2/5".
func (s State) Of(n int) string {
	if s.MaxIterations == 0 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d/%d", n, s.MaxIterations)
}

// Head is the commit that the next iteration builds on.
func (s State) Head() string {
	if s.Tip != "" {
		return s.Tip
	}
	return s.Start.Base
}

// ChangeBase is the commit that the run's change starts from: its base, or a newer commit of the base branch that was
// merged since.
func (s State) ChangeBase() string {
	if it := newest(s.Iterations, func(it *Iteration) bool { return it.Commit != nil && it.Commit.Base != "" }); it != nil {
		return it.Commit.Base
	}
	return s.Start.Base
}

// NoDiff reports whether the run has changed nothing against its base.
func (s State) NoDiff() bool {
	it := newest(s.Iterations, func(it *Iteration) bool { return it.Commit != nil })
	return it == nil || it.Commit.NoDiff
}

// JudgedWith are the paths that the checks had besides the commit, from the top of the clone.
func (s State) JudgedWith() []string {
	return safetext.Map(s.Start.Shared, func(given Shared) string { return given.Path })
}

// Failure is the newest verdict that blocked, nil when nothing did.
func (s State) Failure() *Verdict {
	if it := s.LastJudged(); it != nil {
		return it.Failure()
	}
	return nil
}

// LastJudged is the newest iteration that the checks have judged; nil before the first one.
func (s State) LastJudged() *Iteration {
	return newest(s.Iterations, func(it *Iteration) bool { return it.Judged })
}

// Judged are the iterations that the checks have judged, oldest first.
func (s State) Judged() []*Iteration {
	return slices.DeleteFunc(slices.Clone(s.Iterations), func(it *Iteration) bool { return !it.Judged })
}

// Writers are the roles of the run that take turns of their own, in order; at least the coder. The others judge inside
// an iteration.
func (s State) Writers() []task.Role {
	writers := slices.DeleteFunc(slices.Clone(s.Start.Pipeline), task.Role.ReadOnly)
	if len(writers) == 0 {
		return []task.Role{task.Coder}
	}
	return writers
}

// Verified reports whether anything but the agent's own word says that the work is done: a hard check that looks at it
// has passed, or a reviewer approves. What has a branch always has one of them.
func (s State) Verified() bool {
	last := s.LastJudged()
	return s.Start.Branch != "" || last != nil && slices.ContainsFunc(last.Verdicts, func(v Verdict) bool {
		return v.Pass && v.Skipped == "" && v.Severity == Hard && v.Check != AgentCheck && v.Check != ClaimCheck &&
			v.Check != SCMCheck
	})
}

// Rules are what a run of a plan is held to.
func (s State) Rules() plan.Rules { return s.Start.Plan.Rules() }

// finished reports whether the run is done: an iteration that passed, and of a plan every story approved, or a person has
// accepted that nothing needs doing.
func (s State) finished(it Iteration) bool {
	return it.Done() && (s.Plan == nil || s.Plan.Complete(s.Rules()) || it.NothingToDo())
}

// AtCap lists the stories that no one approved but the cap of reviews.
func (s State) AtCap() []string {
	if s.Plan == nil {
		return nil
	}
	return s.Plan.AtCap()
}

// HeadTree is the tree of Head; empty when no record has told it.
func (s State) HeadTree() string { return s.tree }

// Promise is what a role's criteria ask it to promise; empty when they name nothing but what any claim of the role
// stands for.
func (s State) Promise(r task.Role) string {
	r = cmp.Or(r, task.Coder)
	of := s.Start.Completion.For(r)
	if of == nil || strings.EqualFold(strings.TrimSpace(of.Promise), r.Promise()) {
		return ""
	}
	return strings.TrimSpace(of.Promise)
}

// HintIDs are those of the hints that were said to the run while it worked.
func (s State) HintIDs() (ids []string) {
	for _, h := range s.Hints {
		if h.ID != "" {
			ids = append(ids, h.ID)
		}
	}
	return ids
}

// Unread reports whether a hint waits for an agent or a reviewer.
func (s State) Unread() bool {
	return slices.ContainsFunc(s.Hints, func(h TakenHint) bool { return h.ReadIn == 0 })
}

// Claims are the signs by which a role may claim to be done: what a <response> holds, empty when none counts, and the
// promises, nil for those that count without criteria. completion is the setting completionResponse. Where the role's
// criteria name a promise, only that does.
func (s State) Claims(r task.Role, completion string) (response string, promises []string) {
	r = cmp.Or(r, task.Coder)
	switch promise := s.Promise(r); {
	case promise != "":
		return "", []string{promise}
	case s.Start.Completion.For(r) != nil:
		return completion, []string{usualPromise, r.Promise()}
	}
	return completion, nil
}

// Judgments counts the verdicts that a check by a model has given since the last request for the run. One that failed
// at its cap has asked no one.
func (s State) Judgments(check string) int {
	n := 0
	for _, it := range s.sinceAsked() {
		for _, v := range it.Verdicts {
			if v.Check == check && v.Skipped == "" && v.Usage != nil {
				n++
			}
		}
	}
	return n
}

// OnRecord is what the run's record says of the stories of its plan: who approved which, in how many reviews, and where
// the work on those that are not approved began.
func (s State) OnRecord() []plan.RecordedReview {
	if s.Plan == nil || s.Start.Plan == nil {
		return nil
	}
	var out []plan.RecordedReview
	for _, story := range s.Plan.Stories {
		if o, known := s.onRecord(story); known {
			out = append(out, o)
		}
	}
	return out
}

// onRecord is what is known of one story.
func (s State) onRecord(story plan.Story) (o plan.RecordedReview, known bool) {
	for _, earlier := range s.Start.Plan.Record {
		if earlier.Story == story.ID {
			o, known = earlier, true
		}
	}
	o.Story = story.ID
	by := o.By
	for _, it := range s.Iterations[s.planned:] {
		if it.Story != story.ID {
			continue
		}
		known = true
		handed := it.Commit != nil && it.Commit.Plan != nil && it.Commit.Plan.Handed
		switch {
		case it.Mode == Review && handed:
			by, o.Run, o.At, o.From, o.Who = plan.ByReview, s.Start.Run, it.At, "", "" // when the story has passed, see below
		case it.Mode != Review && o.From == "":
			o.From = it.Since
		}
		if it.Mode != Review && handed && s.Rules().SkipReview {
			by, o.Run, o.At, o.Who = plan.Unexamined, s.Start.Run, it.At, ""
		}
	}
	o.Reviews = story.ReviewCount
	if !story.Passes || !known {
		o.By, o.Who, o.Run, o.At, o.Criteria = plan.Nobody, "", "", time.Time{}, ""
		return o, known
	}
	o.By, o.Criteria = by, story.Digest()
	if by == plan.ByReview && story.AtCap() {
		o.By = plan.ByCap
	}
	if o.By == plan.ByCap {
		o.Open = strings.TrimSpace(strings.TrimPrefix(story.ReviewFeedback, plan.AtCap))
	}
	return o, true
}

// OnRecord is what was on record of the stories when the run began, with what their plan leaves open.
func (p *Planned) OnRecord() []plan.RecordedReview {
	out := slices.Clone(p.Record)
	for i := range out {
		if story := p.Plan.Story(out[i].Story); story != nil && story.AtCap() {
			out[i].Open = strings.TrimSpace(strings.TrimPrefix(story.ReviewFeedback, plan.AtCap))
		}
	}
	return out
}

// TakenUp is the commit before the work on a story since its last review; empty: no one has worked on it since.
func (s State) TakenUp(id string) string {
	if s.Plan == nil || s.Start.Plan == nil {
		return ""
	}
	story := s.Plan.Story(id)
	if story == nil {
		return ""
	}
	o, _ := s.onRecord(*story)
	return o.From
}

// ApprovedLast reports whether the newest review of a story approved it, and something else kept it from being
// approved.
func (s State) ApprovedLast(id string) bool {
	it := newest(s.Iterations, func(it *Iteration) bool {
		return it.Story == id && it.Mode == Review && it.Commit != nil && it.Commit.Plan != nil && it.Commit.Plan.Handed
	})
	return it != nil && it.Commit.Plan.Opinion != nil && it.Commit.Plan.Opinion.Approve
}

// ReviewCost is what a review of the run's plan has cost so far, on average, in US dollars; 0: no one knows.
func (s State) ReviewCost() float64 {
	spent, n := 0.0, 0
	for _, it := range s.Iterations {
		if it.Mode == Review && it.Turn.Usage.CostUSD > 0 {
			spent, n = spent+it.Turn.Usage.CostUSD, n+1
		}
	}
	if n == 0 {
		return 0
	}
	return spent / float64(n)
}

// maxEmpty is how many turns in a row may say and change nothing before one counts.
const maxEmpty = 3

// TakenHint is a hint that a run has taken in.
type TakenHint struct {
	Hint
	At     time.Time
	To     string // the agent's question that it answers; empty: none
	ReadIn int    // the iteration whose agent or reviewer was the first to read it; 0: none yet
	Undone bool   // what was done about it was not approved, and the run went back to what it had before
}
