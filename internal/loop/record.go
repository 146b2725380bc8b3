package loop

import (
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
)

// RecordType names what a record tells.
type RecordType string

// The records of a journal, in the order in which a run may first write them.
const (
	Started   RecordType = "started"   // a run began: its task, base and limits
	Resumed   RecordType = "resumed"   // another process resumed the run
	Baselined RecordType = "baselined" // the checks were run on the base commit
	TurnBegun RecordType = "turning"   // an agent turn begins
	Turned    RecordType = "turned"    // it ended
	Paused    RecordType = "paused"    // the run waits before it takes the same turn again
	Committed RecordType = "committed" // whatever it changed is a commit
	Judged    RecordType = "judged"    // the checks have spoken about that commit
	Corrected RecordType = "corrected" // of a plan: its file says again what the harness knows
	Hinted    RecordType = "hinted"    // the run has taken in what someone said to it while it worked
	WentBack  RecordType = "back"      // the newest commits are given up for one that was done
	Warned    RecordType = "warned"    // the run's soft time limit is over
	Posted    RecordType = "posted"    // something was published: comment, pull request
	Ended     RecordType = "ended"     // the run has an outcome
)

// Record is one fact of a run. Exactly one of the pointers is set, the one that Type names. A journal is a file of
// records, one JSON object a line; only ever appended to.
type Record struct {
	Type      RecordType `json:"type"`
	At        time.Time  `json:"at"`
	Iteration int        `json:"iteration,omitempty"` // 1-based; 0 for facts of the whole run

	Start    *Start     `json:"start,omitempty"`
	Resume   *Resume    `json:"resume,omitempty"`
	Hint     *Hint      `json:"hint,omitempty"`
	Back     *Back      `json:"back,omitempty"`
	Baseline []Verdict  `json:"baseline,omitempty"`
	Mode     Mode       `json:"mode,omitempty"`
	Story    string     `json:"story,omitempty"` // of a plan: the story that the turn is for
	Role     task.Role  `json:"role,omitempty"`  // who takes the turn; empty: the coder
	Tier     Tier       `json:"tier,omitempty"`  // of a turn that the run was stuck before
	Warning  string     `json:"warning,omitempty"`
	Turn     *Turn      `json:"turn,omitempty"`
	Pause    *Pause     `json:"pause,omitempty"`
	Commit   *Commit    `json:"commit,omitempty"`
	Verdicts []Verdict  `json:"verdicts,omitempty"`
	Post     *Post      `json:"post,omitempty"`
	End      *End       `json:"end,omitempty"`
	Lease    *time.Time `json:"lease,omitempty"` // until when the writer holds the run; any record may renew it
}

// Start is the first record of a run.
type Start struct {
	Run        string `json:"run"`  // "20261121-053000-7f3a"
	Task       string `json:"task"` // "issue-42"
	Issue      int    `json:"issue,omitempty"`
	Asked      string `json:"asked,omitempty"` // login of who asked; co-author of the commits
	Base       string `json:"base"`            // commit the run began from, full hash
	BaseBranch string `json:"onto"`            // branch the pull request goes to: "main"
	Branch     string `json:"branch"`          // "ralph/issue-42"; empty for a prompt
	Again      string `json:"again,omitempty"` // on a laptop, the command line that resumes the run; empty if unknown
	Agent      string `json:"agent"`           // "claude"
	Assignment
	Hint          string   `json:"hint,omitempty"`
	Checks        []string `json:"checks"` // commands, in the order they run
	Review        bool     `json:"review"`
	MaxIterations int      `json:"max_iterations"`
	Owner         string   `json:"owner"`              // who holds the lease: a process's name
	RunURL        string   `json:"run_url,omitempty"`  // the workflow run
	Detected      string   `json:"detected,omitempty"` // why these checks, when no setting names them
	// NoSandbox says that someone switched it off: agents and checks can do what their user can.
	NoSandbox bool `json:"no_sandbox,omitempty"`
	// MustPass says that what fails on the base commit must pass at the end and cannot be accepted.
	MustPass bool `json:"must_pass,omitempty"`
	// Accept are concerns that the requester accepts in advance.
	Accept []Acceptance `json:"accept,omitempty"`
	// Plan is what a run of a plan begins with; nil: the run has none.
	Plan *Planned `json:"plan,omitempty"`
	// Earlier is what earlier runs of the same issue have spent.
	Earlier *Usage `json:"earlier,omitempty"`
	// DryRun says that nothing of the run leaves its process.
	DryRun bool `json:"dry_run,omitempty"`
	// Fresh says that the run begins at the base although its branch holds an earlier run's work, which is archived.
	Fresh bool `json:"fresh,omitempty"`
	// Shared is what the checks have of a user's clone that is in no commit, as it was before the first turn; nil if that
	// was not recorded.
	Shared []Shared `json:"shared,omitzero"`
	// MergeBase is the commit that the work of other tasks was merged onto to make Base; empty: Base itself.
	MergeBase string `json:"ground,omitempty"`
	// BuiltOn is that work.
	BuiltOn []Work `json:"built_on,omitempty"`
	// LeftOut names a user's files that were modified when the run began, from the top: it commits nothing of them, and
	// leaves them as they are.
	LeftOut []string `json:"left_out,omitempty"`
}

// Assignment is what a run works on, as its request had it. A new request with another text replaces all of it.
type Assignment struct {
	Title string `json:"title,omitempty"`
	Spec  string `json:"spec,omitempty"` // the task's text, sanitised; a resumed run works from it
	// Completion is what "done" means, resolved when the run started and not changed after; nil for a run without criteria.
	Completion *task.Completion `json:"completion,omitempty"`
	// RequestKey is a hash of the request apart from the text: criteria, roles and how promises are verified, before they
	// are resolved. Another hash is another request; empty: only the text.
	RequestKey string `json:"asking,omitempty"`
	// Pipeline is who acts, in order; empty: only the coder.
	Pipeline []task.Role `json:"pipeline,omitempty"`
	// Caps is how many turns each role may take; a role without one may take as many as the run.
	Caps map[task.Role]int `json:"caps,omitempty"`
}

// Name returns what people call the task: its id, or the quoted first words of a prompt.
func (s Start) Name() string {
	if s.Branch == "" && s.Title != "" {
		return safetext.Quoted(s.Title)
	}
	return s.Task
}

// Work is what the run of another task has done.
type Work struct {
	Task   string `json:"task"`
	Commit string `json:"commit"`
}

// Shared is a path that the checks have besides the commit.
type Shared struct {
	Path   string `json:"path"`   // from the top
	Digest string `json:"digest"` // "sha256:…" of what it holds
}

// Feedback is what people's reviews of the pull request, or other workflows, ask to have changed.
type Feedback struct {
	By    string   `json:"by"`             // login of who asked; empty: other workflows
	Text  string   `json:"text,omitempty"` // the review's own words, sanitised
	Items []Remark `json:"items,omitempty"`
}

// Remark is one thread of a review.
type Remark struct {
	ID   int64  `json:"id"` // of the comment that an answer is given to
	By   string `json:"by"`
	Path string `json:"path,omitempty"`
	Line int    `json:"line,omitempty"` // 0: the whole file
	Text string `json:"text"`           // the thread's words by people who may write, sanitised, oldest first
}

// Planned is a plan as it was when its run began, or when someone had edited it before the run continued.
type Planned struct {
	Dir        string    `json:"dir"`  // "ralph": where its files are, from the top of the worktree
	File       string    `json:"file"` // "ralph/tasks.json"
	Plan       plan.Plan `json:"tasks"`
	Tree       string    `json:"tree"` // of the commit that holds the plan's file
	SkipReview bool      `json:"skip_review,omitempty"`
	ReviewCap  int       `json:"review_cap"`
	FailAtCap  bool      `json:"fail_at_cap,omitempty"`
	// Record is what was on record of the stories by then: Plan holds no approval that it does not have.
	Record []plan.RecordedReview `json:"record,omitzero"`
}

// Rules are those that the run is held to; nil has those of a run without a plan.
func (p *Planned) Rules() plan.Rules {
	if p == nil {
		return plan.Rules{ReviewCap: plan.DefaultReviewCap}
	}
	return plan.Rules{SkipReview: p.SkipReview, ReviewCap: p.ReviewCap, FailAtCap: p.FailAtCap}
}

// Resume says that another process resumed the run, and what changed with that.
type Resume struct {
	Owner         string `json:"owner"`
	Hint          string `json:"hint,omitempty"`
	MaxIterations int    `json:"max_iterations,omitempty"` // how many more iterations; 0: the limit stands
	Retry         bool   `json:"retry,omitempty"`          // asked for after an outcome, which is thereby taken back
	RunURL        string `json:"run_url,omitempty"`
	Asked         string `json:"asked,omitempty"` // login of who asked for it to continue; empty: no one, it continued by itself
	// Accept are concerns that the requester accepts.
	Accept []Acceptance `json:"accept,omitempty"`
	// Feedback is what the run continues for: a review of its work.
	Feedback   *Feedback `json:"feedback,omitempty"`
	Assignment           // of a new request with another text; empty: as it was
	// Plan replaces the plan, when someone had edited it since.
	Plan *Planned `json:"plan,omitempty"`
	// Shared replaces what the checks have besides the commit, when someone has accepted a change of it; nil: as it was.
	Shared []Shared `json:"shared,omitempty"`
}

// Post is where something was published. Fields that are not set leave what was known.
type Post struct {
	IssueComment int64 `json:"issue_comment,omitempty"`
	PullComment  int64 `json:"pull_comment,omitempty"`
	PostedPull
	Linked bool `json:"linked,omitempty"` // the issue's comment is the line that leads to the pull request
	// Failure is the comment with the failure report of the newest outcome.
	Failure int64 `json:"failure,omitempty"`
	// NotifyComment is the comment that notifies the requester of the newest outcome, if it is not the failure report.
	NotifyComment int64 `json:"told,omitempty"`
	// Requested is the login of the requested reviewer of the newest outcome.
	Requested string `json:"requested,omitempty"`
	// Checked is the number of the newest end that has a check run.
	Checked int `json:"checked,omitempty"`
	// Each is the newest iteration that has a comment of its own.
	Each int `json:"each,omitempty"`
	// Answered are the review comments that have an answer.
	Answered []int64 `json:"answered,omitempty"`
	// Finished says that the newest outcome is shown everywhere; a run that has ended without it was cut off while it
	// told.
	Finished bool `json:"finished,omitempty"`
}

// PostedPull is the pull request of a run.
type PostedPull struct {
	Pull     int    `json:"pull,omitempty"` // its number
	PullNode string `json:"pull_node,omitempty"`
	PullURL  string `json:"pull_url,omitempty"`
	Draft    *bool  `json:"draft,omitempty"`
	Closed   *bool  `json:"closed,omitempty"` // it was closed when the end was reported
}

// Pause is a wait for something that passes by itself: a usage limit's reset, a model's servers.
type Pause struct {
	Until  time.Time `json:"until"`
	Reason string    `json:"reason"` // one sentence
}

// End is a run's outcome with its reason, and where the work of a failed run was kept.
type End struct {
	Outcome       Outcome   `json:"outcome"`
	Reason        string    `json:"reason"`
	FailureBranch string    `json:"failure_branch,omitempty"`
	Until         time.Time `json:"until,omitzero"` // of Waiting: when the run may continue by itself; zero: when someone answers
	// ForPull says that all is done and pushed, and that the run waits until its pull request can be opened.
	ForPull bool `json:"for_pull,omitempty"`
	// Conflicts are files in which work that is done conflicts with the branch it goes to, as that was at the end: at most
	// 20.
	Conflicts []string `json:"conflicts,omitempty"`
	// Patch is the file with the work of the run if not all of it could be pushed, from the job's workspace; empty: all is
	// on the remote.
	Patch string `json:"patch,omitempty"`
}

// NewerError says that a record is of a type that this version does not know.
type NewerError struct{ Type RecordType }

func (e *NewerError) Error() string {
	return fmt.Sprintf("a record of the unknown type %q; it was written by a newer ralph", e.Type)
}

// Valid says what is missing from a record that was read from outside; nil when it can be folded.
func (r Record) Valid() error {
	missing := map[RecordType]bool{
		Started: r.Start == nil, Resumed: r.Resume == nil, Hinted: r.Hint == nil, WentBack: r.Back == nil,
		Turned:    r.Turn == nil,
		Committed: r.Commit == nil, Paused: r.Pause == nil, Posted: r.Post == nil, Ended: r.End == nil,
		Baselined: false, TurnBegun: false, Corrected: r.Commit == nil, Judged: false, Warned: r.Warning == "",
	}
	empty, known := missing[r.Type]
	if !known {
		return &NewerError{r.Type}
	}
	if empty {
		return fmt.Errorf("a %s record without its content", r.Type)
	}
	return nil
}

// Mode is what an iteration is for.
type Mode = plan.Mode

// The modes of an iteration.
const (
	Implement = plan.Implement
	Review    = plan.Review
	ReviewFix = plan.ReviewFix
)

// Hint is something that someone with write access says to a run.
type Hint struct {
	ID   string `json:"id,omitempty"` // the same however often the hint is delivered: the run takes it in once
	By   string `json:"by,omitempty"` // login, or who else it is
	Text string `json:"text"`
}

// Back is why a run went back to the iteration that was done before the turn for a hint.
type Back struct {
	Reason string `json:"reason"`           // one sentence
	Branch string `json:"branch,omitempty"` // the branch with the later commits; empty: no later commits
}

// Tier is how far a run that spins has been escalated.
type Tier int

// The tiers. The last is no turn but the end: outcome stuck.
const (
	Moving   Tier = iota // nothing is repeated
	Shift                // the prompt asks for another approach
	Expand               // the same, with the files that the failure says are missing
	HardStop             // it has not helped
)

// Commit is what an iteration changed.
type Commit struct {
	SHA   string `json:"sha"`
	Tree  string `json:"tree"`
	Empty bool   `json:"empty,omitempty"` // the iteration changed nothing; SHA is the commit before
	// Files changed by this iteration, at most 50; MoreFiles counts the rest.
	Files     []FileChange `json:"files,omitempty"`
	MoreFiles int          `json:"more_files,omitempty"`
	// NoDiff says that the tree is the base commit's tree: the whole run has changed nothing.
	NoDiff bool `json:"no_diff,omitempty"`
	// Unchecked says that no one looked whether anything changed: the run has no tree and commits nothing.
	Unchecked bool `json:"unseen,omitempty"`
	// Plan is what happened to the plan in the iteration; nil for a run without one.
	Plan *Advance `json:"plan,omitempty"`
	// Note says what was out of the ordinary, for the report: "the agent had rewritten history; its files were kept".
	Note string `json:"note,omitempty"`
	// Onto is where the branch had moved on the remote: the run's commits were put on top of that. Empty: it had not.
	Onto string `json:"onto,omitempty"`
	// Base is the commit of the base branch that the change starts from, if a newer one than the run's was merged; else
	// empty.
	Base string `json:"base,omitempty"`
	// Declined is what the remote, in its own words, does not take of what the commit holds: SHA is empty then, the files
	// stay for the next turn to commit without that, and no other check runs. Empty: nothing.
	Declined string `json:"declined,omitempty"`
	// Refused is why the remote did not take the commit, which then is nowhere but where it was made; empty: it did, or
	// there is no remote.
	Refused string `json:"refused,omitempty"`
}

// Advance is what one iteration made of its plan, as the harness accepted it.
type Advance struct {
	Stories []plan.Story `json:"stories,omitempty"` // those that are new or changed, each whole
	// Handed says that the story went one step on: handed in for review, reviewed, or handed in again.
	Handed bool `json:"handed,omitempty"`
	// Opinion is the verdict of a review iteration; nil: it gave none that counts.
	Opinion *plan.Opinion `json:"opinion,omitempty"`
	// Accepted are findings that a review iteration accepts by name.
	Accepted []Acceptance `json:"accepted,omitempty"`
	// Violations are the rules that the agent's edits broke. Any of them fails the iteration.
	Violations []plan.Violation `json:"violations,omitempty"`
	// Reverted are the files that the harness put back.
	Reverted []string `json:"reverted,omitempty"`
	// Agents is the commit of what the agent left, when the harness has made one of its own on top of it.
	Agents string `json:"agents,omitempty"`
}

// FileChange is one changed file with its line counts; both are -1 for a binary file.
type FileChange struct {
	Path    string `json:"path"`
	Added   int    `json:"added"`
	Deleted int    `json:"deleted"`
}
