package planrun

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/report"
)

// guard is the tree of a run of a plan, and the guard of its rules: every iteration is committed as the agent left it,
// and then, if its edits of the plan are not legal, corrected in a separate commit of the harness.
type guard struct {
	engine.Committer
	dir    string // the plan's
	file   string
	active *active
	log    func(format string, args ...any)
	redact func(string) string
}

// Commit implements loop.Tree.
func (k *guard) Commit(ctx context.Context, since string, s loop.State) (loop.Commit, error) {
	it := *s.Last()
	said, accepted, spoken := k.opinion(it, s)
	if said != nil { // the subject names it
		it.Commit = &loop.Commit{Plan: &loop.Advance{Opinion: said}}
	}
	message := report.CommitMessage(s, it, k.Host)
	c, err := k.Tree.Commit(ctx, since, message)
	if err != nil {
		return c, err
	}
	e := edit{
		before: *s.Plan, after: *s.Plan, story: it.Story, mode: it.Mode, rules: s.Rules(), said: said, unsaid: spoken,
	}
	if err := k.read(ctx, since, c, &e); err != nil {
		return c, err
	}
	if k.active.forged() {
		e.breaks("content", engine.ActiveFile, engine.ActiveFile+" was changed; only ralph writes it")
	}
	final := e.judge()
	c.Plan = e.advance(final)
	c.Plan.Accepted = accepted
	fix := git.Correction{Since: since, Restore: e.restore, Message: message}
	if len(e.broken) > 0 {
		fix.Message = report.CorrectionMessage(advanced(s, c))
	}
	if !e.read || !bytes.Equal(final.Marshal(), e.after.Marshal()) {
		fix.Write = map[string][]byte{k.file: final.Marshal()}
	}
	if len(fix.Restore)+len(fix.Write) > 0 {
		if c, err = k.correct(ctx, c, fix); err != nil {
			return c, err
		}
	}
	k.tell(it, *c.Plan, final, e.rules)
	return c, nil
}

// advanced is the state with what is known of the newest iteration's commit, for the message of the commit on top of
// it.
func advanced(s loop.State, c loop.Commit) loop.State {
	s.Iterations = slices.Clone(s.Iterations)
	last := *s.Last()
	last.Commit = &c
	s.Iterations[len(s.Iterations)-1] = &last
	return s
}

// Correct implements loop.PlanFile.
func (k *guard) Correct(ctx context.Context, s loop.State) (loop.Commit, error) {
	return k.Tree.Correct(ctx, git.Correction{
		Since: s.Head(), Write: map[string][]byte{k.file: s.Plan.Marshal()},
		Message: report.CorrectionMessage(s),
	})
}

// opinion is the verdict that ends a review, with the findings that it accepts by name; unsaid is why no verdict
// counts.
func (k *guard) opinion(it loop.Iteration, s loop.State) (said *plan.Opinion, accepted []loop.Acceptance,
	unsaid string) {
	if it.Mode != loop.Review || it.Turn.Class != loop.OK {
		return nil, nil, ""
	}
	open := loop.ForReaders(s.Open(s.WorkOn(it.Story).Verdicts))
	answer, err := check.ReadAnswer(it.Turn, s.HeadTree())
	if err != nil {
		return nil, nil, "the reviewer's verdict does not count: " + err.Error()
	}
	if answer.Verdict == "approve" {
		accepted = loop.AcceptedOf(open, answer.Acceptances("the review of "+it.Story))
	}
	said = &plan.Opinion{Approve: answer.Verdict == "approve"}
	if !said.Approve { // it goes into a file that is committed
		said.Feedback = strings.TrimSpace(k.redact(answer.Feedback()))
	}
	return said, accepted, ""
}

// read finds what the agent made of the plan's files.
func (k *guard) read(ctx context.Context, since string, c loop.Commit, e *edit) error {
	changed, err := k.Tree.Changed(ctx, since, c.SHA)
	if err != nil {
		return err
	}
	for _, name := range changed {
		switch dir, base := path.Split(name); {
		case name == k.file:
		case name == path.Join(k.dir, PlanFile) || name == path.Join(k.dir, ForeignPlan):
			e.restore = append(e.restore, name)
			e.breaks(
				"content", name,
				name+" was changed, and the plan of this run is "+k.file+"; two plans in one directory are not allowed",
			)
		case path.Clean(dir) == path.Clean(k.dir) && (base == PrdFile || base == promptMD):
			e.restore = append(e.restore, name)
			e.breaks("content", name, name+" was changed; it is read only while the plan is run")
		case e.mode == loop.Review && name != path.Join(k.dir, ProgressFile):
			e.restore = append(e.restore, name)
			if _, there, err := k.Tree.Read(ctx, since, name, 1); err != nil {
				return err
			} else if there { // what it only left lying about is no fix
				e.breaks("content", name, "the reviewer changed "+name+"; a review judges and fixes nothing")
			}
		}
	}
	if !slices.Contains(changed, k.file) {
		e.read = true
		return nil
	}
	content, ok, err := k.Tree.Read(ctx, c.SHA, k.file, MaxPlanFile+1)
	if err != nil {
		return err
	}
	e.take(k.file, content, ok)
	return nil
}

// correct puts the harness's own commit on top of the agent's.
func (k *guard) correct(ctx context.Context, c loop.Commit, fix git.Correction) (loop.Commit, error) {
	own, err := k.Tree.Correct(ctx, fix)
	if err != nil {
		return c, fmt.Errorf("putting the plan right: %w", err)
	}
	if own.Empty {
		return c, nil
	}
	c.Plan.Agents, c.Plan.Reverted = c.SHA, fix.Restore
	c.SHA, c.Tree, c.NoDiff, c.Empty = own.SHA, own.Tree, own.NoDiff, false
	c.Files = slices.DeleteFunc(c.Files, func(f loop.FileChange) bool { return slices.Contains(fix.Restore, f.Path) })
	for _, f := range own.Files {
		known := func(other loop.FileChange) bool { return other.Path == f.Path }
		if !slices.Contains(fix.Restore, f.Path) && !slices.ContainsFunc(c.Files, known) {
			c.Files = append(c.Files, f)
		}
	}
	if len(fix.Restore) > 0 {
		note := "put back: " + strings.Join(fix.Restore[:min(len(fix.Restore), 5)], ", ")
		c.Note = strings.TrimPrefix(c.Note+"; "+note, "; ")
	}
	return c, nil
}

func (k *guard) tell(it loop.Iteration, a loop.Advance, final plan.Plan, rules plan.Rules) {
	for _, v := range a.Violations {
		k.log("plan: %s", v.Text)
	}
	switch {
	case len(a.Violations) > 0:
		k.log("plan: what broke the rules was taken back")
	case a.Handed:
		k.log("plan: %s %s", it.Story, final.Standing(it.Story))
	}
	if story := final.Story(it.Story); a.Handed && story != nil && story.AtCap() {
		k.log(
			"WARNING: %s %s: %s", plan.AtCap, it.Story,
			strings.TrimSpace(strings.TrimPrefix(story.ReviewFeedback, plan.AtCap)),
		)
	}
	if it.Turn.Claim.Done && it.Turn.Claim.Tag == "promise" && !final.Complete(rules) {
		k.log("plan: the agent says that all is complete; %d of %d stories are", final.Passed(), len(final.Stories))
	}
}

// edit is what one iteration did to its plan.
type edit struct {
	before, after plan.Plan
	read          bool // after is what the file says; else before
	story         string
	mode          loop.Mode
	rules         plan.Rules
	said          *plan.Opinion
	unsaid        string // why a review's verdict does not count
	broken        []plan.Violation
	restore       []string // paths that go back to what they were
}

func (e *edit) breaks(check, field, text string) {
	e.broken = append(e.broken, plan.Violation{Check: check, Field: field, Text: text})
}

// take reads the agent's version of the plan's file. One that cannot be read is put back.
func (e *edit) take(name string, content []byte, there bool) {
	if !there {
		e.breaks("1", name, name+" was deleted, or made something else than a plain file; it was put back")
		return
	}
	after, err := plan.Parse(name, content)
	switch bad, ok := errors.AsType[*plan.Error](err); {
	case ok:
		for _, p := range bad.Problems {
			e.breaks("1", name, name+": "+p)
		}
	case err != nil:
		e.breaks("1", name, err.Error())
	default:
		e.after, e.read = after, true
	}
}

// judge is the plan as the harness accepts it. A rule that was broken, anywhere, leaves every review field as it was.
func (e *edit) judge() plan.Plan {
	if e.mode != loop.Review {
		accepted, broken := plan.Accept(e.before, e.after, e.story, e.mode, e.rules)
		e.broken = append(e.broken, broken...)
		if len(e.broken) > len(broken) && len(broken) == 0 { // legal in the plan, but not beside it
			return accepted.Restored(e.before)
		}
		return accepted
	}
	return e.reviewed()
}

// reviewed is what a review makes of the plan: the verdict and the edit must say the same, and with a verdict alone the
// harness writes the fields itself.
func (e *edit) reviewed() plan.Plan {
	if e.said == nil {
		if e.unsaid != "" {
			e.breaks("verdict", e.story, e.unsaid)
		}
		return e.before
	}
	agrees, edited := plan.Agrees(e.before, e.after, e.story, *e.said, e.rules)
	switch {
	case !agrees:
		e.breaks(
			"verdict", e.story,
			fmt.Sprintf(
				"the reviewer's verdict is %s, and the plan's file says of %s that it is %s; both must say the same",
				verdictWord(*e.said), e.story, e.after.Standing(e.story),
			),
		)
	case edited:
		e.broken = append(e.broken, plan.Compare(e.before, e.after, e.story, e.mode, e.rules)...)
	default: // beside what the harness writes, the file says what it said
		written := e.after.With(*e.before.Reviewed(e.story, *e.said, e.rules).Story(e.story))
		e.broken = append(e.broken, plan.Compare(e.before, written, e.story, e.mode, e.rules)...)
	}
	if len(e.broken) > 0 {
		return e.before
	}
	said := *e.said
	base := e.before
	if edited {
		story := *e.before.Story(e.story)
		written := e.after.Story(e.story)
		story.Notes = written.Notes
		if !said.Approve {
			said.Feedback = strings.TrimSpace(strings.TrimPrefix(written.ReviewFeedback, plan.AtCap))
		}
		base = base.With(story)
	}
	return base.Reviewed(e.story, said, e.rules)
}

func verdictWord(o plan.Opinion) string {
	if o.Approve {
		return "an approval"
	}
	return "a request for changes"
}

// advance tells what happened to the plan.
func (e *edit) advance(final plan.Plan) *loop.Advance {
	a := &loop.Advance{Violations: e.broken, Opinion: e.said}
	for _, s := range final.Stories {
		if old := e.before.Story(s.ID); old == nil || !reflect.DeepEqual(*old, s) {
			a.Stories = append(a.Stories, s)
		}
	}
	old, now := e.before.Story(e.story), final.Story(e.story)
	a.Handed = len(e.broken) == 0 && old != nil && now != nil &&
		(old.ReviewStatus != now.ReviewStatus || old.Passes != now.Passes || old.ReviewCount != now.ReviewCount)
	return a
}

// active keeps .ralph-active in the worktree: written before each turn, held against what was written after it, removed
// at the end. Hooks believe it; the harness does not.
type active struct {
	dir     string
	boxed   bool // the agent is kept in a sandbox
	clock   func() time.Time
	written []byte // nil: nothing was written by this process
}

// activeJSON is what the file says.
type activeJSON struct {
	Timestamp     time.Time     `json:"timestamp"`
	PID           int           `json:"pid"`
	MaxIterations int           `json:"max_iterations"`
	Mode          string        `json:"mode"` // "sandbox" or "direct"
	SkipReview    bool          `json:"skipReview"`
	ReviewCap     int           `json:"reviewCap"`
	FailAtCap     bool          `json:"failAtCap,omitempty"`
	IterationMode loop.Mode     `json:"iterationMode"`
	Snapshot      plan.Snapshot `json:"preIterationSnapshot"`
	Iteration     int           `json:"iteration"`
	Story         string        `json:"story"`
	RalphDir      string        `json:"ralphDir"`
	PlanFile      string        `json:"planFile"`
}

// write reports the turn that begins.
func (a *active) write(s loop.State) error {
	mode := "direct"
	if a.boxed {
		mode = "sandbox"
	}
	rules := s.Rules()
	text, err := json.MarshalIndent(activeJSON{
		Timestamp: a.clock().UTC(), PID: os.Getpid(), MaxIterations: s.MaxIterations, Mode: mode,
		SkipReview: rules.SkipReview, ReviewCap: rules.ReviewCap, FailAtCap: rules.FailAtCap,
		IterationMode: s.Turning.Mode, Snapshot: s.Plan.Snapshot(), Iteration: s.Turning.Iteration,
		Story: s.Turning.Story, RalphDir: s.Start.Plan.Dir, PlanFile: s.Start.Plan.File,
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("writing %s: %w", engine.ActiveFile, err)
	}
	a.written = append(text, '\n')
	// in its place, by the agent: nothing of ours is in it
	if info, err := os.Lstat(a.path()); err == nil && info.IsDir() {
		_ = os.RemoveAll(a.path())
	}
	if err := files.Replace(a.path(), a.written); err != nil {
		return fmt.Errorf("writing %s: %w", engine.ActiveFile, err)
	}
	return nil
}

func (a *active) path() string { return filepath.Join(a.dir, engine.ActiveFile) }

// forged reports whether someone else has changed the file since it was written.
func (a *active) forged() bool {
	if a.written == nil {
		return false
	}
	info, err := os.Lstat(a.path())
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(a.written)) {
		return true
	}
	now, err := os.ReadFile(a.path())
	return err != nil || !bytes.Equal(now, a.written)
}

// remove takes the file away, if it is this process's.
func (a *active) remove() {
	text, err := os.ReadFile(a.path())
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var said activeJSON
	if err == nil && json.Unmarshal(text, &said) == nil && said.PID != os.Getpid() {
		return
	}
	_ = os.Remove(a.path())
}
