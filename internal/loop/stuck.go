package loop

import "fmt"

// Tier is how far a run that spins has been escalated.
type Tier int

// The tiers. The last is no turn but the end: outcome stuck.
const (
	Moving   Tier = iota // nothing is repeated
	Shift                // the agent is told to go about it in another way
	Expand               // the same, and it is given the files that the failure says are missing
	HardStop             // it has not helped
)

const (
	spinsAt   = 3 // so often in a row makes a run stuck
	maxShifts = 2 // turns that are told to go about it in another way, in a run
)

// Spin is what a run repeats.
type Spin struct {
	Count   int      // how often in a row, up to now
	What    string   // in words, after "…": "the same failure of make test"
	Failure *Verdict // the newest of what is repeated; nil when nothing failed
	since   int      // index of the first iteration of it that came after the third
}

// Spins says what the run repeats, the worst of three: the same failure, an unchanged tree with a claim or a failed
// check, and two failures that take turns. A missing claim alone is no failure here: work may take more than one turn.
// What was before somebody asked for the run again does not count.
func (s State) Spins() Spin {
	its := s.Iterations[min(s.Reopened, len(s.Iterations)):]
	offset := len(s.Iterations) - len(its)
	for len(its) > 0 && !its[len(its)-1].Judged {
		its = its[:len(its)-1]
	}
	worst := sameFailure(its)
	for _, other := range []Spin{sameTree(its), twoFailures(its)} {
		if other.Count >= spinsAt && other.Count > worst.Count {
			worst = other
		}
	}
	worst.since += offset
	return worst
}

// StuckCount is how often in a row, up to now, the run has repeated itself.
func (s State) StuckCount() int { return s.Spins().Count }

// Shifts counts the turns that were told to go about it in another way.
func (s State) Shifts() int { return shifts(s.Iterations) }

func shifts(its []*Iteration) int {
	n := 0
	for _, it := range its {
		if it.Judged && (it.Tier == Shift || it.Tier == Expand) {
			n++
		}
	}
	return n
}

func sameFailure(its []*Iteration) Spin {
	n := len(its)
	if n == 0 || its[n-1].signature() == "" {
		return Spin{}
	}
	last := its[n-1].Obstacle()
	from := n
	for from > 0 && its[from-1].signature() == last.Hash {
		from--
	}
	return Spin{Count: n - from, What: "the same failure of " + last.Check, Failure: last, since: from + spinsAt}
}

func sameTree(its []*Iteration) Spin {
	n := len(its)
	from := n
	for from > 0 && its[from-1].idle() {
		from--
	}
	if from == n {
		return Spin{}
	}
	return Spin{Count: n - from, What: "an unchanged tree", Failure: its[n-1].Failure(), since: from + spinsAt}
}

// idle reports whether an iteration changed nothing and is no mere pause in the work: it claims to be done, in whatever
// words, or a check failed.
func (it Iteration) idle() bool {
	return it.Commit != nil && it.Commit.Empty && (it.Claimed() || it.Turn.Claim.Tag != "" || it.Obstacle() != nil)
}

// twoFailures counts how often two failures have taken turns: three times each is as bad as one three times, and every
// further one is one more.
func twoFailures(its []*Iteration) Spin {
	n := len(its)
	if n < 2*spinsAt {
		return Spin{}
	}
	a, b := its[n-1].signature(), its[n-2].signature()
	if a == "" || b == "" || a == b {
		return Spin{}
	}
	from := n
	for from > 0 && its[from-1].signature() == [2]string{a, b}[(n-from)%2] {
		from--
	}
	if n-from < 2*spinsAt {
		return Spin{}
	}
	last := its[n-1].Obstacle()
	return Spin{
		Count: spinsAt + n - from - 2*spinsAt, Failure: last, since: from + 2*spinsAt,
		What: fmt.Sprintf("two failures in turn (%s, %s)", its[n-2].Obstacle().Check, last.Check),
	}
}

// signature of what stood in an iteration's way; empty when nothing did.
func (it Iteration) signature() string {
	if o := it.Obstacle(); o != nil {
		return o.Hash
	}
	return ""
}

// ladder says how far a run must be escalated before its next turn, and why it ends when the answer is HardStop: the
// third repetition leads to a strategy shift, the next to a second one with more context when the failure names a gap,
// and after that to the end.
func (s State) ladder() (Tier, string) {
	spin := s.Spins()
	if spin.Count < spinsAt {
		return Moving, ""
	}
	its := s.Iterations[min(s.Reopened, len(s.Iterations)):]
	tried := shifts(s.Iterations[min(spin.since, len(s.Iterations)):])
	switch {
	case tried == 0 && shifts(its) < maxShifts:
		return Shift, ""
	case tried == 1 && spin.Failure != nil && len(spin.Failure.Gap) > 0:
		return Expand, ""
	}
	why := fmt.Sprintf("%s %d times in a row", spin.What, spin.Count)
	if f := spin.Failure; f != nil && f.Hash != "" {
		why += fmt.Sprintf(" (error hash %s)", f.Hash)
	}
	switch tried {
	case 0:
		why += ", and both strategy shifts were used before"
	case 1:
		why += ", also after a strategy shift"
	default:
		why += fmt.Sprintf(", also after %d strategy shifts", tried)
	}
	return HardStop, why
}
