package loop

import (
	"slices"

	"github.com/ralph-loop/ralph/internal/task"
)

// orCoder is the role of a record that names none: of a run without roles.
func orCoder(r task.Role) task.Role {
	if r == "" {
		return task.Coder
	}
	return r
}

// Claims are the signs by which a role may claim to be done: what a <response> holds, empty when none counts, and the promises, nil for
// those that count without criteria. completion is the setting completionResponse. Where there are criteria, only their promise does (C2).
func (s State) Claims(r task.Role, completion string) (response string, promises []string) {
	if of := s.Start.Completion.For(orCoder(r)); of != nil {
		return "", []string{of.Promise}
	}
	return completion, nil
}

// Writers are the roles of the run that take turns of their own, in order; at least the coder. The others judge inside an iteration (C4).
func (s State) Writers() []task.Role {
	writers := slices.DeleteFunc(slices.Clone(s.Start.Pipeline), task.Role.ReadOnly)
	if len(writers) == 0 {
		return []task.Role{task.Coder}
	}
	return writers
}

// nextRole is who takes the next turn: the one after a role that has done its part, the one whose own part was found wanting, the first
// after a rejection by a role that only reads; else the same again.
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

// lastJudged is the newest iteration that the checks have spoken about; nil when there is none.
func (s State) lastJudged() *Iteration {
	for _, it := range slices.Backward(s.Iterations) {
		if it.Judged {
			return it
		}
	}
	return nil
}
