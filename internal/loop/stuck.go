package loop

import (
	"fmt"
	"slices"
	"strings"
)

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
	spinsAt   = 3   // so often in a row makes a run stuck
	standsAt  = 9   // turns in which nothing that is measured got better, whatever fails
	maxShifts = 2   // turns that are told to go about it in another way, in a run
	lookBack  = 200 // iterations in which a repetition is searched for
)

// Repetition is what a run repeats.
type Repetition struct {
	Count   int      // how far it has come: from spinsAt on the run is stuck
	What    string   // in words: "the same failure of make test"
	InTurn  int      // how many failures take turns; 0: it is one, or none
	Tree    bool     // it is the unchanged tree that is repeated
	Over    int      // attempts in which nothing else was met
	Numbers string   // what was measured in them: "3 findings each time, none fixed"; empty: nothing
	Failure *Verdict // the newest of what is repeated; nil when nothing failed
	since   int      // index of the first iteration after the run had become stuck
}

// Told is what is repeated, and how often, in words.
func (spin Repetition) Told() string {
	if spin.InTurn > 0 {
		return fmt.Sprintf("%s over %d attempts", spin.What, spin.Over)
	}
	return fmt.Sprintf("%s %d times in a row", spin.What, spin.Count)
}

// Spins says what the run repeats, the worst of four: the same failure, an unchanged tree, failures that take turns,
// and failures of whatever kind of which nothing gets better. A failure that comes again with a better measure than ever before is none of them: the run is moving. A
// missing claim alone is no failure here: work may take more than one turn. What was before someone asked for the run
// again does not count.
func (s State) Spins() Repetition {
	its := s.Iterations[min(s.Reopened, len(s.Iterations)):]
	for len(its) > 0 && !its[len(its)-1].Judged {
		its = its[:len(its)-1]
	}
	offset := min(s.Reopened, len(s.Iterations))
	if over := len(its) - lookBack; over > 0 {
		its, offset = its[over:], offset+over
	}
	a := look(its)
	worst := a.sameFailure()
	for _, other := range []Repetition{a.sameTree(), a.inTurn()} {
		if other.Count >= spinsAt && other.Count > worst.Count {
			worst = other
		}
	}
	if worst.Count < spinsAt {
		if slow := a.standing(); slow.Count > 0 {
			worst = slow
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

// sameFailure counts how often in a row the newest failure has come without getting better.
func (a attempts) sameFailure() Repetition {
	n := len(a.its)
	if n == 0 || a.key[n-1] == "" {
		return Repetition{}
	}
	from := n
	for from > 0 && a.key[from-1] == a.key[n-1] {
		from--
		if a.fresh[from] {
			break
		}
	}
	last := a.its[n-1].Obstacle()
	return Repetition{
		Count: n - from, Over: n - from, What: "the same failure of " + last.Check, Failure: last, since: from + spinsAt,
		Numbers: numbers(a.its[from:]),
	}
}

func (a attempts) sameTree() Repetition {
	n := len(a.its)
	from := n
	for from > 0 && a.its[from-1].idle() && a.its[from-1].Turn.Claim.Left == "" {
		from--
	}
	if from == n {
		return Repetition{}
	}
	last := a.its[n-1]
	spin := Repetition{
		Count: n - from, Over: n - from, Tree: true, What: "an unchanged tree", Failure: last.Failure(),
		since: from + spinsAt,
	}
	if last.Obstacle() == nil && !last.Claimed() && last.Turn.Claim.Tag == "" {
		spin.Numbers = "every check passes, and the agent does not say that it is done"
	}
	return spin
}

// idle reports whether an iteration changed nothing although it was there to change something, or it claims to be done,
// in whatever words, or a check failed.
func (it Iteration) idle() bool {
	writes := !it.Role.ReadOnly() && (it.Mode == Implement || it.Mode == ReviewFix)
	return it.Commit != nil && it.Commit.Empty &&
		(writes || it.Claimed() || it.Turn.Claim.Tag != "" || it.Obstacle() != nil)
}

// inTurn counts how long nothing but failures was met that there were before, none of them any better, in whatever
// order: two of them may come three times each, more of them six times in all after each was met.
func (a attempts) inTurn() Repetition {
	n := len(a.its)
	from, met := n, map[string]bool{}
	for from > 0 && a.key[from-1] != "" && !a.fresh[from-1] {
		from--
		met[a.key[from]] = true
	}
	again := spinsAt * 2
	if len(met) == 2 {
		again = spinsAt*2 - 2
	}
	if len(met) < 2 || n-from < again {
		return Repetition{}
	}
	spin := Repetition{
		Count: spinsAt + n - from - again, InTurn: len(met), Over: n - from, Failure: a.its[n-1].Obstacle(),
		since: from + again,
	}
	var checks []string
	for i := from - 1; i >= 0 && met[a.key[i]]; i-- { // where they were met first
		spin.Over++
	}
	for _, it := range a.its[n-spin.Over:] {
		if o := it.Obstacle(); !slices.Contains(checks, o.Check) {
			checks = append(checks, o.Check)
		}
	}
	spin.What = fmt.Sprintf("%s failures in turn (%s)", inWords(spin.InTurn), strings.Join(checks, ", "))
	return spin
}

// standing counts how long checks have failed of which nothing that can be measured got any better, whatever they said.
func (a attempts) standing() Repetition {
	n := len(a.its)
	from := n
	for from > 0 && a.key[from-1] != "" && !a.moved[from-1] {
		from--
	}
	if n-from < standsAt {
		return Repetition{}
	}
	return Repetition{
		Count: n - from, Over: n - from, since: from + standsAt, Failure: a.its[n-1].Obstacle(),
		What: "a failure that measures no better",
	}
}

// inWords writes a small number.
func inWords(n int) string {
	words := []string{2: "two", "three", "four", "five", "six", "seven", "eight", "nine"}
	if n < len(words) {
		return words[n]
	}
	return fmt.Sprint(n)
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
	case tried == 1 && spin.Failure != nil && len(spin.Failure.MissingNames) > 0:
		return Expand, ""
	}
	why := spin.Told()
	if spin.Numbers != "" {
		why += ": " + spin.Numbers
	}
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
