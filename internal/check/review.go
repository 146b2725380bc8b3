package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
)

// Checkout is the reviewer's own throwaway copy of the commit.
type Checkout interface {
	Dir() string
	Env() []string
	// Untouched reports whether nothing changed in it, nor in the run's own repository; otherwise, what did.
	Untouched(ctx context.Context) (ok bool, what string, err error)
	Close() error
}

// Review asks a fresh context that cannot write whether the change does what was asked. Its verdict is bound to the
// tree it saw: one whose reviewer touched anything is no approval, and after one about another tree, or an unclear one,
// the question is repeated. Without a verdict after that, the run waits for a person. It reads only the turn, never a
// file.
type Review struct {
	Checkout func(ctx context.Context, commit string) (Checkout, error)
	Prompt   func(ctx context.Context, at Input) (string, error)
	Ask      func(ctx context.Context, c Checkout, prompt string) (loop.Turn, error)

	// Role is who reviews, task.Reviewer or task.QA, when the run names its roles; empty: the reviewer of a run that names
	// none.
	Role task.Role
	// Promise is what must come with an approval, and must not come without; empty: nothing.
	Promise string
	// Verify is how the promise is verified on the reviewer's own words, with the same role; nil: not at all.
	Verify *Verify
	// Most is how many verdicts the role may give in the run; 0: any number.
	Most int
	// Pause waits before a role whose model failed is asked once more; nil: it is not.
	Pause func(ctx context.Context, d time.Duration, why string)
	Log   func(format string, args ...any)
	// After says why the review has to wait for another role; nil: it never has to.
	After func(at Input) string
}

// ReviewSchema is the JSON schema of the reviewer's answer. OpenAI takes none in which a property has no type or may be
// left out.
const ReviewSchema = `{"type":"object","additionalProperties":false,"required":["verdict","tree","summary","issues","criteria"],` + reviewProperties + `}}`

// PromisedSchema is that of a reviewer who gives a promise.
const PromisedSchema = `{"type":"object","additionalProperties":false,"required":["verdict","tree","summary","issues","criteria","promise"],` + reviewProperties +
	`,"promise":{"type":["string","null"]}}}`

const reviewProperties = `"properties":{"verdict":{"type":"string","enum":["approve","request_changes"]},"tree":{"type":"string"},"summary":{"type":"string"},` +
	`"issues":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["file","line","problem"],"properties":{` +
	`"file":{"type":["string","null"]},"line":{"type":["integer","null"]},"problem":{"type":"string"}}}},` +
	`"criteria":{"type":["array","null"],"items":{"type":"object","additionalProperties":false,"required":["criterion","met","reason"],"properties":{` +
	`"criterion":{"type":"string"},"met":{"type":"boolean"},"reason":{"type":"string"}}}}`

const acceptsProperty = `"accepts":{"type":["array","null"],"items":{"type":"object","additionalProperties":false,` +
	`"required":["name","reason"],"properties":{"name":{"type":"string"},"reason":{"type":"string"}}}}`

// AcceptingSchema is a schema of an answer that has to accept findings by name as well.
func AcceptingSchema(schema string) string {
	schema = strings.Replace(schema, `"criteria"`, `"criteria","accepts"`, 1)
	return strings.Replace(schema, `"properties":{`, `"properties":{`+acceptsProperty+`,`, 1)
}

// Schema is that of the answer that this review wants.
func (r *Review) Schema() string {
	if r.Promise != "" {
		return PromisedSchema
	}
	return ReviewSchema
}

// Name is the check's name in verdicts.
func (r *Review) Name() string {
	if r.Role == task.QA {
		return string(task.QA)
	}
	return loop.ReviewCheck
}

// Severity of a rejection is hard.
func (*Review) Severity() loop.Severity { return loop.Hard }

// Needs a claim with every hard check passed: reviews cost money. Where nothing was changed, only the reviewer looks.
func (r *Review) Needs() Need {
	if r.Role == task.QA {
		return HardGreen | AChange | ReadsOnly
	}
	return HardGreen | ReadsOnly
}

func (*Review) asksModel() bool { return true }

// Waits implements Waiter.
func (r *Review) Waits(at Input) string {
	if r.After == nil || at.Iteration.NothingToDo() {
		return ""
	}
	return r.After(at)
}

// Run makes the copy, asks, reads the answer, and verifies the promise.
func (r *Review) Run(ctx context.Context, at Input) (v loop.Verdict, err error) {
	v.Role = r.Role
	nothing := at.Iteration.NothingToDo()
	if before := onThisTree(at, r.Name()); nothing && len(before) > 0 { // one look is enough
		v = before[len(before)-1]
		v.Usage = nil
		return v, nil
	}
	if c := unreviewed(at); at.State.HasAccepted(c) {
		v.Concerns, v.Reason = []loop.Concern{c}, "checked, not reviewed"
		return v, nil
	}
	if n := at.State.Judgments(r.Name()); r.Most > 0 && n >= r.Most {
		v.Reason = fmt.Sprintf("%s has judged %s, which is its cap", r.who(), safetext.Times(n))
		return v, nil
	}
	turn, answer, err := r.answered(ctx, at, &v)
	if nothing && len(v.Concerns) > 0 {
		v.Severity, v.Waits, v.Concerns = loop.Soft, false, nil // a person decides anyway
	}
	if err != nil || ctx.Err() != nil || v.Reason != "" || v.Skipped != "" {
		return v, err
	}
	if v = answer.verdict(v, r.who()); nothing && !v.Pass {
		v.Severity = loop.Soft
	}
	if v.Pass {
		v.Accepted = answer.Acceptances(r.Name())
	}
	if !r.promiseHolds(&v, answer, turn) || r.Verify == nil {
		return v, nil
	}
	return r.verify(ctx, at, turn, v)
}

// answered asks in a copy of its own until there is an answer that counts. Without one, the verdict says why.
func (r *Review) answered(ctx context.Context, at Input, v *loop.Verdict) (turn loop.Turn, a Answer, err error) {
	copied, err := r.Checkout(ctx, at.Iteration.Commit.SHA)
	if err != nil {
		return turn, a, err
	}
	defer func() { err = errors.Join(err, copied.Close()) }()
	asked, err := r.Prompt(ctx, at)
	if err != nil {
		return turn, a, err
	}
	q, more := Questions{Tree: at.Iteration.Commit.Tree, Open: open(at),
		Read: func(t loop.Turn) (Answer, error) { return r.read(t, at) }}, ""
	for n := 1; ; n++ {
		turn, err = r.ask(ctx, at, copied, asked+more, v)
		if err == nil && v.Waits && turn.Class.Transient() && n <= mostAgain && r.pause(ctx, turn, n) {
			v.Reason, v.Waits = "", false
			continue
		}
		if err != nil || ctx.Err() != nil || v.Reason != "" || v.Skipped != "" {
			return turn, a, err
		}
		var why error
		if turn, more, why = q.Next(turn); more != "" {
			r.log("%s's answer does not count: %v; asking again", r.who(), why)
			continue
		}
		if why == nil {
			a, _ = q.Read(turn)
			return turn, a, nil
		}
		r.unclear(v, at, fmt.Sprintf("%s's answer does not count, asked %s: %v", r.who(), safetext.Times(n), why))
		v.Output = loop.Excerpt(turn.Text)
		return turn, a, nil
	}
}

// ask takes one turn of the reviewer's. A turn that cannot count leaves its reason in the verdict.
func (r *Review) ask(ctx context.Context, at Input, copied Checkout, asked string, v *loop.Verdict) (turn loop.Turn,
	err error) {
	turn, err = r.Ask(ctx, copied, asked)
	if err != nil || ctx.Err() != nil {
		return turn, err
	}
	v.Usage = sum(v.Usage, &turn.Usage)
	v.LogFile = turn.LogFile
	ok, what, err := copied.Untouched(ctx)
	switch {
	case err != nil:
		return turn, err
	case !ok:
		v.Reason = r.who() + " changed something, which voids its verdict: " + what
	case turn.Class == loop.Spent && turn.Ours: // as one that could not begin for that reason
		v.Skipped, v.Later = turn.Reason, true
	case turn.Class.Fatal() || unanswered(turn.Class):
		v.Reason = r.who() + "'s turn did not end well: " + turn.Reason
		v.Missing, v.Unfixable = turn.Class.Fatal(), turn.Class.Fatal()
		v.Waits, v.Until = unanswered(turn.Class), turn.ResetAt
	case turn.Class == loop.Killed, turn.Class == loop.TimedOut, turn.Class == loop.Idle, turn.Class == loop.Limited,
		turn.Class == loop.Stopped, turn.Class == loop.Spent, turn.Class == loop.TooLong: // it would end so again
		r.unclear(v, at, r.who()+"'s turn did not end well: "+turn.Reason)
		v.Killed = turn.Class == loop.Killed
	}
	return turn, nil
}

// read reads an answer. An approval without the required promise counts as unreadable.
func (r *Review) read(turn loop.Turn, at Input) (Answer, error) {
	if turn.Class != loop.OK && turn.Class != loop.Empty {
		return Answer{}, errors.New("its turn did not end well: " + turn.Reason)
	}
	a, err := ReadAnswer(turn, at.Iteration.Commit.Tree)
	if err == nil && a.Verdict == approve && r.Promise != "" && !r.promised(a, turn) {
		err = fmt.Errorf("it approves without its promise %q", r.Promise)
	}
	return a, err
}

// unclear makes the run wait, since no reviewer has said what it thinks of the commit. No turn of the coder's helps
// there.
func (r *Review) unclear(v *loop.Verdict, at Input, why string) {
	v.Reason, v.Waits, v.Concerns = "checked, not reviewed: "+why, true, []loop.Concern{unreviewed(at)}
}

// unreviewed is what a person accepts instead of a review. It holds for one commit.
func unreviewed(at Input) loop.Concern {
	return loop.Concern{Name: loop.ReviewCheck, Kind: loop.Unreviewed,
		Message: fmt.Sprintf("the commit %.12s is checked, not reviewed", at.Iteration.Commit.SHA)}
}

func (r *Review) log(format string, args ...any) {
	r.Log(r.Name()+": "+format, args...)
}

// pause waits for a model whose servers failed, and reports whether it is worth asking again. A usage limit is not
// waited for here.
func (r *Review) pause(ctx context.Context, turn loop.Turn, n int) bool {
	if r.Pause == nil || turn.Class == loop.UsageLimit || turn.Class == loop.Waits {
		return false
	}
	r.Pause(ctx, time.Duration(n)*modelPause, turn.Reason)
	return ctx.Err() == nil
}

// unanswered reports whether a turn may well succeed later: by itself, or once a person has done something.
func unanswered(c loop.Class) bool { return c.Transient() || c == loop.Waits }

// modelPause is how long the first pause takes; the agent has tried for longer by itself.
const modelPause = 15 * time.Second

// who names the reviewer in a sentence.
func (r *Review) who() string {
	if r.Role == task.QA {
		return "the QA engineer"
	}
	return "the reviewer"
}

// promiseHolds reports whether a verdict approves. A rejection with the promise of an approval remains a rejection.
func (r *Review) promiseHolds(v *loop.Verdict, a Answer, t loop.Turn) bool {
	if r.Promise != "" && !v.Pass && r.promised(a, t) {
		v.Verification = true
		v.Reason = fmt.Sprintf("%s gives its promise %q but asks for changes, which is a rejection", r.who(),
			r.Promise)
	}
	return v.Pass
}

// promised reports whether the promise was given: in the answer's own field, or else in a tag of the reviewer's own
// text.
func (r *Review) promised(a Answer, t loop.Turn) bool {
	if said := safetext.OneLine(a.Promise); said != "" {
		return strings.EqualFold(said, safetext.OneLine(r.Promise))
	}
	if c, ok := loop.ReadClaim(t.Text, "", r.Promise); ok && c.Tag == "promise" {
		return c.Done
	}
	return t.Claim.Tag == "promise" && strings.EqualFold(t.Claim.Text, safetext.OneLine(r.Promise))
}

// verify holds the promise of an approval against the reviewer's own words, and the run's worktree.
func (r *Review) verify(ctx context.Context, at Input, turn loop.Turn, v loop.Verdict) (loop.Verdict, error) {
	said := r.Verify.words(at, turn)
	said.claimed = true
	found, err := r.Verify.judge(ctx, said)
	if err != nil || ctx.Err() != nil {
		return v, err
	}
	found = r.Verify.complete(found)
	if found.Pass && v.Reason != "" {
		found.Reason += ": " + v.Reason
	}
	found.Role, found.Criteria, found.Accepted = v.Role, v.Criteria, v.Accepted
	found.LogFile, found.Usage = cmp.Or(found.LogFile, v.LogFile), sum(v.Usage, found.Usage)
	return found, nil
}
