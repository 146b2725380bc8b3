package loop

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
)

// orCoder is the role of a record that names none: of a run without roles.
func orCoder(r task.Role) task.Role {
	if r == "" {
		return task.Coder
	}
	return r
}

// Claims are the signs by which a role may claim to be done: what a <response> holds, empty when none counts, and the
// promises, nil for those that count without criteria. completion is the setting completionResponse. Where the role's
// criteria name a promise, only that does.
func (s State) Claims(r task.Role, completion string) (response string, promises []string) {
	r = orCoder(r)
	switch promise := s.Promise(r); {
	case promise != "":
		return "", []string{promise}
	case s.Start.Completion.For(r) != nil:
		return completion, []string{usualPromise, r.Promise()}
	}
	return completion, nil
}

// Promise is what a role's criteria ask it to promise; empty when they name nothing but what any claim of the role
// stands for.
func (s State) Promise(r task.Role) string {
	r = orCoder(r)
	of := s.Start.Completion.For(r)
	if of == nil || strings.EqualFold(strings.TrimSpace(of.Promise), r.Promise()) {
		return ""
	}
	return strings.TrimSpace(of.Promise)
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

// nextRole is who takes the next turn: the one after a role that has done its part, the one whose own part was found
// wanting, the first after a rejection by a role that only reads; else the same again.
func (s State) nextRole() task.Role {
	writers := s.Writers()
	it := s.lastJudged()
	if it == nil {
		return writers[0]
	}
	at := max(slices.Index(writers, it.Role), 0)
	if it.Passed() {
		return writers[min(at+1, len(writers)-1)]
	}
	if f := it.Obstacle(); f != nil && f.Role != "" {
		return writers[max(slices.Index(writers, f.Role), 0)]
	}
	return writers[at]
}

// turnsOf counts a role's iterations since the run was asked for.
func (s State) turnsOf(r task.Role) int {
	n := 0
	for _, it := range s.Iterations[min(s.Reopened, len(s.Iterations)):] {
		if it.Judged && it.Role == r {
			n++
		}
	}
	return n
}

// Judgements counts the verdicts that a check by a model has given since the run was asked for. One that failed at its
// cap has asked no one.
func (s State) Judgements(check string) int {
	n := 0
	for _, it := range s.Iterations[min(s.Reopened, len(s.Iterations)):] {
		for _, v := range it.Verdicts {
			if v.Check == check && v.Skipped == "" && v.Usage != nil {
				n++
			}
		}
	}
	return n
}

// readersCap says that a role which only reads has given all its verdicts; empty while none has. Whatever a turn
// changed then would have no one to judge it.
func (s State) readersCap() string {
	for _, r := range s.Start.Pipeline {
		check := string(r)
		if r == task.Reviewer {
			check = ReviewCheck
		}
		if most := s.Start.Caps[r]; r.ReadOnly() && most > 0 && s.Judgements(check) >= most {
			return fmt.Sprintf("the %s has judged %s, which is its cap, and the work is not done", r, safetext.Times(most))
		}
	}
	return ""
}

// lastJudged is the newest iteration that the checks have spoken about; nil when there is none.
func (s State) lastJudged() *Iteration {
	for _, it := range slices.Backward(s.Iterations) {
		if it.Judged {
			return it
		}
	}
	return nil
}

// Verified reports whether anything but the agent's own word says that the work is done: a hard check that looks at it
// has passed, or a reviewer approves. What has a branch always has one of them.
func (s State) Verified() bool {
	last := s.lastJudged()
	return s.Start.Branch != "" || last != nil && slices.ContainsFunc(last.Verdicts, func(v Verdict) bool {
		return v.Pass && v.Skipped == "" && v.Severity == Hard && v.Check != AgentCheck && v.Check != ClaimCheck &&
			v.Check != SCMCheck
	})
}
