// Package status says where a run of a laptop stands, or a plan, for people at a terminal and for programs.
package status

import (
	"cmp"
	_ "embed" // the text
	"fmt"
	"slices"
	"strings"
	"sync"
	"text/template"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
)

// A Moment is a time that may not be known: null in JSON.
type Moment struct{ time.Time }

// MarshalJSON implements json.Marshaler.
func (m Moment) MarshalJSON() ([]byte, error) {
	if m.IsZero() {
		return []byte("null"), nil
	}
	return m.Time.MarshalJSON()
}

// RunStatus is where a run of a laptop stands, for people (Text) and for programs (as JSON, docs/reports.md). Every
// field is always there.
type RunStatus struct {
	// State is an outcome of a run that has ended, or: running; paused, which continues by itself; dead, when the process is
	// gone that worked on it; none, when there is no run.
	State  string `json:"state"`
	Doing  string `json:"doing"`  // what it does now; empty when it does nothing
	Reason string `json:"reason"` // why it ended, or waits
	Next   string `json:"next"`   // what to do to stop it, or to continue

	Whereabouts
	LockStatus
	Turn
	Spending
	Checked int             `json:"checked_iteration"` // the iteration that Checks speak of
	Checks  []StandingCheck `json:"checks"`
	Criteria
	PlanStories
}

// Whereabouts are where a run is, and since when.
type Whereabouts struct {
	Directory     string `json:"directory"`
	Run           string `json:"run"`
	RunDir        string `json:"run_dir"` // its journal and reports, from the directory
	Task          string `json:"task"`
	Title         string `json:"title"`
	Agent         string `json:"agent"`
	Branch        string `json:"branch"`
	FailureBranch string `json:"failure_branch"`
	StateFile     string `json:"state_file"` // from the directory; empty without one
	StartedAt     Moment `json:"started_at"`
	UpdatedAt     Moment `json:"updated_at"`
	Until         Moment `json:"until"` // of waiting and paused: when it may continue
}

// LockStatus is what the directory's lock says.
type LockStatus struct {
	LockPID   int  `json:"lock_pid"`   // the process that the directory's lock names; 0: there is no lock
	LockAlive bool `json:"lock_alive"` // it lives and holds the lock
	LockIsRun bool `json:"lock_is_run"`
}

// Turn is the present turn, or the last one, and how often the run repeats itself.
type Turn struct {
	Iteration     int    `json:"iteration"`
	MaxIterations int    `json:"max_iterations"` // 0: no limit
	Role          string `json:"role"`           // who takes the turn, or took the last one
	Mode          string `json:"mode"`
	StuckCount    int    `json:"stuck_count"`
	Repeats       string `json:"repeats"` // what was repeated so often
	Shifts        int    `json:"strategy_shifts"`
	Warning       string `json:"warning"` // that the time will soon be over
}

// Spending is what the run has spent.
type Spending struct {
	CostUSD      float64 `json:"cost_usd"`
	InputTokens  int64   `json:"input_tokens"` // with those from and to the cache
	OutputTokens int64   `json:"output_tokens"`

	cost string // in words
}

// Criteria are what "done" means, and what happened to the promises.
type Criteria struct {
	Outcome       string            `json:"outcome"`
	Acceptance    []string          `json:"acceptance_criteria"`
	Roles         []StandingRole    `json:"roles"`
	Verifications []report.Verified `json:"verifications"`
}

// PlanStories are the stories of a plan.
type PlanStories struct {
	Story     string          `json:"story"` // that the iteration is for
	Stories   []StandingStory `json:"stories"`
	ReviewCap int             `json:"review_cap"` // how many reviews a story may have; 0 without a plan

	tally string // how many are approved, in words
}

// StandingStory is how far a story of a plan has come.
type StandingStory struct {
	ID       string `json:"id"`
	Title    string `json:"title"`
	State    string `json:"state"` // open, waits for review, changes requested, approved, auto-approved at the cap, done
	Done     bool   `json:"done"`
	AtCap    bool   `json:"at_cap"` // no one approved it but the cap of reviews
	Reviews  int    `json:"reviews"`
	Feedback string `json:"feedback"` // what its review asked for
}

// StandingCheck is what one check said.
type StandingCheck struct {
	Check   string  `json:"check"`
	Result  string  `json:"result"` // pass, fail, warning or skipped
	Reason  string  `json:"reason"`
	Hash    string  `json:"error_hash"`
	Flaky   bool    `json:"flaky"`
	Seconds float64 `json:"duration_seconds"`
}

// StandingRole is what a role has to promise, how that is verified, and how often it has had its turn or its say.
type StandingRole struct {
	Role          task.Role   `json:"role"`
	Promise       string      `json:"promise"`
	Method        task.Method `json:"verification_method"`
	MaxIterations int         `json:"max_iterations"` // 0: as many as the run
	Iterations    int         `json:"iterations"`
}

// Lock is what is known of the lock of a run's directory.
type Lock struct {
	PID   int  // 0: no lock
	Alive bool // the process lives and holds it
}

// NoRun is the standing where nothing has run; why says where that is, in a sentence.
func NoRun(directory, why string, lock Lock) RunStatus {
	return RunStatus{State: "none", Reason: why, Whereabouts: Whereabouts{Directory: directory},
		LockStatus: LockStatus{LockPID: lock.PID, LockAlive: lock.Alive}, Checks: []StandingCheck{},
		Criteria:    Criteria{Acceptance: []string{}, Roles: []StandingRole{}, Verifications: []report.Verified{}},
		PlanStories: PlanStories{Stories: []StandingStory{}}}
}

// NewRunStatus says where a run stands. What only the file system tells, Directory, RunDir and StateFile, is the caller's to
// add.
func NewRunStatus(v report.View, lock Lock) RunStatus {
	s := v.State
	out := RunStatus{
		Whereabouts: Whereabouts{Run: s.Start.Run, Task: v.Redacted(s.Start.Task), Title: v.Redacted(s.Start.Title),
			Agent: v.Redacted(s.Start.Agent), Branch: v.Redacted(s.Start.Branch), StartedAt: Moment{s.StartedAt.UTC()},
			UpdatedAt: Moment{s.At.UTC()}},
		LockStatus: LockStatus{LockPID: lock.PID, LockAlive: lock.Alive,
			LockIsRun: lock.Alive && s.End == nil && s.Owner == fmt.Sprintf("process %d", lock.PID)},
		Turn: Turn{StuckCount: s.StuckCount(), Shifts: s.Shifts(), Warning: v.Redacted(s.Warning), MaxIterations: s.MaxIterations},
		Spending: Spending{CostUSD: s.Usage.CostUSD, InputTokens: s.Usage.Tokens() - s.Usage.Output,
			OutputTokens: s.Usage.Output, cost: wording.UsageText(s.Usage)},
		Checks:      standingChecks(v),
		Criteria:    Criteria{Acceptance: []string{}, Roles: standingRoles(v), Verifications: []report.Verified{}},
		PlanStories: PlanStories{Stories: standingStories(v), tally: report.Tally(s)},
	}
	if rules := s.Rules(); s.Plan != nil && !rules.SkipReview {
		out.ReviewCap = rules.ReviewCap
	}
	if spin := s.Spins(); spin.Stuck() {
		out.Repeats = v.Redacted(spin.What)
	}
	if it := v.State.LastJudged(); it != nil {
		out.Checked = it.N
	}
	if c := s.Start.Completion; c != nil {
		out.Outcome = v.Redacted(c.Outcome)
		for _, criterion := range c.Acceptance {
			out.Acceptance = append(out.Acceptance, v.Redacted(criterion))
		}
	}
	for _, result := range report.Verifications(s) {
		result.Reason = v.Redacted(result.Reason)
		out.Verifications = append(out.Verifications, result)
	}
	out.turn(s)
	out.Story = v.Redacted(out.Story)
	out.how(v)
	return out
}

// turn says which iteration the run is at, and whose turn it is or was.
func (st *RunStatus) turn(s loop.State) {
	if last := s.Last(); last != nil {
		st.Iteration, st.Role, st.Mode, st.Story = last.N, string(last.Role), string(last.Mode), last.Story
	}
	if t := s.Turning; t != nil {
		st.Iteration, st.Role, st.Mode, st.Story = t.Iteration, string(t.Role), string(t.Mode), t.Story
	}
}

// how says in which state the run is, what it does there, and what to do about it.
func (st *RunStatus) how(v report.View) {
	s := v.State
	st.Next = v.Next()
	switch {
	case s.End != nil:
		st.State, st.Reason = string(s.End.Outcome), v.Redacted(s.End.Reason)
		st.FailureBranch, st.Until = v.Redacted(s.End.FailureBranch), Moment{s.End.Until.UTC()}
	case !st.LockIsRun:
		st.State, st.Reason = "dead", "the process that worked on it is gone"
		st.Next = v.InPlain().Resume()
	case s.Pause != nil:
		st.State, st.Reason, st.Until = "paused", v.Redacted(s.Pause.Reason), Moment{s.Pause.Until.UTC()}
		st.Doing = "waits, and resumes automatically"
	default:
		st.State, st.Doing = "running", v.InPlain().Doing()
	}
}

func standingStories(v report.View) []StandingStory {
	list := []StandingStory{}
	if v.State.Plan == nil {
		return list
	}
	for _, st := range v.State.Plan.Stories {
		list = append(list, StandingStory{ID: v.Redacted(st.ID), Title: v.Redacted(st.Title), State: wording.StoryState(st),
			Done: st.Done(v.State.Rules()), AtCap: st.AtCap(),
			Reviews: st.ReviewCount, Feedback: v.Redacted(st.ReviewFeedback)})
	}
	return list
}

func standingChecks(v report.View) []StandingCheck {
	list := []StandingCheck{}
	it := v.State.LastJudged()
	if it == nil {
		return list
	}
	for _, c := range it.Verdicts {
		said := StandingCheck{Check: v.Redacted(c.Check), Result: report.Result(c), Reason: v.Redacted(cmp.Or(c.Skipped, c.Reason)),
			Flaky: c.Flaky, Seconds: c.Duration.Seconds()}
		if !c.Pass && c.Skipped == "" {
			said.Hash = c.Hash
		}
		list = append(list, said)
	}
	return list
}

// standingRoles are those who act in the run or have criteria, in the order in which they follow each other.
func standingRoles(v report.View) []StandingRole {
	s := v.State
	list := []StandingRole{}
	for _, r := range task.Roles {
		criteria := s.Start.Completion.For(r)
		if criteria == nil && !slices.Contains(s.Start.Pipeline, r) {
			continue
		}
		role := StandingRole{Role: r, Promise: r.Promise(), MaxIterations: s.Start.Caps[r]}
		if criteria != nil {
			role.Promise, role.Method = cmp.Or(v.Redacted(criteria.Promise), role.Promise), criteria.Method
			role.MaxIterations = max(role.MaxIterations, criteria.MaxIterations)
		}
		role.Iterations = safetext.CountFunc(s.Judged(), func(it *loop.Iteration) bool {
			return it.Role == r || r.ReadOnly() && judgedBy(it, r)
		})
		list = append(list, role)
	}
	return list
}

// judgedBy reports whether a role that takes no turns has had its say about an iteration.
func judgedBy(it *loop.Iteration, r task.Role) bool {
	return slices.ContainsFunc(it.Verdicts, func(c loop.Verdict) bool {
		return c.Skipped == "" && (c.Role == r || r == task.Reviewer && c.Check == loop.ReviewCheck)
	})
}

// mostStories and mostVerifications are how many of them a terminal shows; the JSON has all.
const (
	mostStories       = 12
	mostVerifications = 10
)

//go:embed run.txt
var runText string

var runTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("run").Funcs(template.FuncMap{
		"line": func(name string, text ...string) string {
			if text := strings.TrimSpace(strings.Join(text, " ")); text != "" {
				return fmt.Sprintf("%-11s %s\n", name, text)
			}
			return ""
		},
		"brief":    func(most int, text string) string { return wording.Brief(text, most) },
		"joined":   func(parts ...string) string { return wording.JoinedBy(" — ", parts...) },
		"words":    func(parts ...string) string { return wording.JoinedBy(" ", parts...) },
		"string":   func(v any) string { return fmt.Sprint(v) },
		"feedback": func(text string) string { return strings.TrimPrefix(text, plan.AtCap) },
		"atCap":    func() string { return plan.AtCap },
		"count":    safetext.Count,
		"clock":    wording.Clock,
	}).Parse(runText))
})

// Text is the standing for people at a terminal. What others wrote is on one line each, and not yet made harmless for a
// terminal.
func (st RunStatus) Text() string {
	if st.State == "none" {
		return st.Reason + "\n"
	}
	open := slices.DeleteFunc(slices.Clone(st.Stories), func(s StandingStory) bool { return s.Done && !s.AtCap })
	earlier, more := max(0, len(st.Verifications)-mostVerifications), max(0, len(open)-mostStories)
	return filled(runTemplate(), struct {
		RunStatus

		Cost, Tally   string
		Open          []StandingStory // those that are not done, and those at the cap
		More, Earlier int             // that are not shown
		Verified      []report.Verified
	}{st, st.cost, st.tally, open[:len(open)-more], more, earlier, st.Verifications[earlier:]})
}

// filled is what one of our own templates makes of a value, into memory: it fails only when it is written wrongly.
func filled(t *template.Template, value any) string {
	var b strings.Builder
	if err := t.Execute(&b, value); err != nil {
		panic(err)
	}
	return b.String()
}

// Line is the standing in one line.
func (st RunStatus) Line() string {
	at := fmt.Sprintf("iteration %d", st.Iteration)
	if st.MaxIterations > 0 {
		at = fmt.Sprintf("iteration %d/%d", st.Iteration, st.MaxIterations)
	}
	switch {
	case st.State == "none":
		return st.Reason
	case st.Iteration == 0:
		at = "before the first iteration"
	}
	text := st.State + ": " + at
	if st.Doing != "" {
		text += ", " + st.Doing
	}
	if st.LockIsRun {
		text += fmt.Sprintf(" (process %d)", st.LockPID)
	}
	if !st.Until.IsZero() {
		text += ", until " + st.Until.Format("2006-01-02 15:04 UTC")
	}
	if st.Reason != "" {
		text += "; " + wording.Brief(st.Reason, 300)
	}
	return text
}
