package loop

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/safetext"
)

const (
	spinsAt   = 3   // so often in a row makes a run stuck
	standsAt  = 9   // turns in which nothing that is measured got better, whatever fails
	maxShifts = 2   // turns with a prompt for another approach, in a run
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

// Stuck reports whether the run repeats it so often that it is stuck.
func (spin Repetition) Stuck() bool { return spin.Count >= spinsAt }

// Told is what is repeated, how often, and how it measured, in words.
func (spin Repetition) Told() string {
	said := fmt.Sprintf("%s %d times in a row", spin.What, spin.Count)
	if spin.InTurn > 0 {
		said = fmt.Sprintf("%s over %d attempts", spin.What, spin.Over)
	}
	if spin.Numbers != "" {
		said += ": " + spin.Numbers
	}
	return said
}

// Spins says what the run repeats, the worst of four: the same failure, an unchanged tree, failures that take turns,
// and failures of whatever kind of which nothing gets better. A failure that comes again with the best measure so far
// is no repetition: the run is moving. A missing claim alone is no failure here: work may take more than one turn. What
// was before someone asked for the run again does not count.
func (s State) Spins() Repetition {
	its := s.sinceAsked()
	offset := len(s.Iterations) - len(its)
	for len(its) > 0 && !its[len(its)-1].Judged {
		its = its[:len(its)-1]
	}
	if over := len(its) - lookBack; over > 0 {
		its, offset = its[over:], offset+over
	}
	a := look(its)
	worst := a.sameFailure()
	for _, other := range []Repetition{a.sameTree(), a.inTurn()} {
		if other.Stuck() && other.Count > worst.Count {
			worst = other
		}
	}
	if !worst.Stuck() {
		if slow := a.standing(); slow.Count > 0 {
			worst = slow
		}
	}
	worst.since += offset
	return worst
}

// StuckCount is how often in a row, up to now, the run has repeated itself.
func (s State) StuckCount() int { return s.Spins().Count }

// Shifts counts the turns with a prompt for another approach.
func (s State) Shifts() int { return shifts(s.Iterations) }

func shifts(its []*Iteration) int {
	return safetext.CountFunc(its, func(it *Iteration) bool { return it.Judged && it.Shifted() })
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
	spin.What = fmt.Sprintf("%d failures in turn (%s)", spin.InTurn, strings.Join(checks, ", "))
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

// ladder says how far a run must be escalated before its next turn, and why it ends when the answer is HardStop: the
// third repetition leads to a strategy shift, the next to a second one with more context when the failure names a gap,
// and after that to the end.
func (s State) ladder() (Tier, string) {
	spin := s.Spins()
	if !spin.Stuck() {
		return Moving, ""
	}
	tried := shifts(s.Iterations[min(spin.since, len(s.Iterations)):])
	switch {
	case tried == 0 && shifts(s.sinceAsked()) < maxShifts:
		return Shift, ""
	case tried == 1 && spin.Failure != nil && len(spin.Failure.MissingNames) > 0:
		return Expand, ""
	}
	why := spin.Told()
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

// How much less a measured time has to be than the best one before: programs are never equally fast twice.
const leastFaster = 0.01

// attempts are the iterations of a run up to now, as far back as a repetition is searched for, each with the failure
// that was in its way, and whether that was nearer to its end than all before.
type attempts struct {
	its   []*Iteration
	key   []string // by which the failure is known again; empty: nothing failed
	fresh []bool   // there was no such failure before, or its measure was never as good
	moved []bool   // no failure of the check that was in the way was measured as good, whatever it said
}

// look goes through iterations once, oldest first.
func look(its []*Iteration) attempts {
	a := attempts{its: its, key: make([]string, len(its)), fresh: make([]bool, len(its)), moved: make([]bool, len(its))}
	known, checks := histories{}, histories{}
	for i, it := range its {
		o := it.Obstacle()
		if o == nil || o.Hash == "" || o.OfBase() && o.Concerns[0].Name != ConcernName(o.Check) { // no one has to fix that yet
			continue
		}
		key := o.Hash
		if o.Measure != nil && o.Measure.Kind != "" {
			key = o.Measure.Kind
		}
		a.key[i] = key
		a.fresh[i] = known.take(key, o.Measure, its, i)
		a.moved[i] = o.Check == ReviewCheck || o.Role.ReadOnly() || checks.take(o.Check, o.Measure, its, i)
	}
	return a
}

// histories are those of failures, by what they are known again by.
type histories map[string]*failureHistory

// take adds the measure of iteration i, nil for none, and reports whether it is the first of its failure or the best.
func (h histories) take(key string, m *Measure, its []*Iteration, i int) bool {
	_, known := h[key]
	if !known {
		h[key] = &failureHistory{quantities: map[string]*quantity{}}
	}
	return m != nil && h[key].take(*m, its, i) || !known
}

// failureHistory is how one failure has measured up to now.
type failureHistory struct {
	quantities map[string]*quantity
	file       string // of the place that was furthest
	line, at   int    // its line, and the iteration's index
}

// quantity is the course of one number.
type quantity struct {
	best, last Quantity
	noise      float64 // by how much it has got worse from one attempt to the next
}

// take adds the measure of iteration i, and reports whether anything in it is the best so far.
func (c *failureHistory) take(m Measure, its []*Iteration, i int) (better bool) {
	for _, q := range m.Quantities {
		known := c.quantities[q.Name]
		if known == nil {
			c.quantities[q.Name] = &quantity{best: q, last: q}
			continue
		}
		better = known.take(q) || better
	}
	switch {
	case m.Line == 0:
	case c.file != m.File:
		c.file, c.line, c.at = m.File, m.Line, i
	case m.Line > c.line+grown(its[c.at+1:i+1], m.File):
		better = true
		c.line, c.at = m.Line, i
	}
	return better
}

// take adds a value, and reports whether it is the best by more than chance.
func (k *quantity) take(q Quantity) (better bool) {
	if !q.sameGoal(k.last) {
		k.last = q
		if !q.sameGoal(k.best) {
			return false
		}
	} else {
		k.noise = math.Max(k.noise, q.left()-k.last.left())
		k.last = q
	}
	if !q.sameGoal(k.best) || q.left() >= k.best.left() {
		return false
	}
	least := 0.0
	if q.Timed {
		least = math.Max(k.noise, leastFaster*math.Abs(k.best.Value))
	}
	better = k.best.left()-q.left() > least
	k.best = q
	return better
}

// grown is how many lines iterations have added to a file, less those that they deleted: by so much a place in it may
// have moved without being another one.
func grown(its []*Iteration, file string) int {
	lines := 0
	for _, it := range its {
		if it.Commit == nil {
			continue
		}
		known := it.Commit.MoreFiles == 0
		for _, f := range it.Commit.Files {
			if f.Path == file || strings.HasSuffix(f.Path, "/"+file) || strings.HasSuffix(file, "/"+f.Path) ||
				path.Base(file) == file && path.Base(f.Path) == file {
				known = true
				lines += max(f.Added, 0) - max(f.Deleted, 0)
			}
		}
		if !known {
			return math.MaxInt32
		}
	}
	return max(lines, 0)
}

// numbers says what was measured in attempts that have come no nearer to their end: of the first quantity that all of
// them name. Empty: no quantity.
func numbers(its []*Iteration) string {
	last := its[len(its)-1].Obstacle().Measure
	if last == nil || len(its) < 2 {
		return ""
	}
	for _, q := range last.Quantities {
		var values []Quantity
		for _, it := range its {
			m := it.Obstacle().Measure
			if m == nil {
				break
			}
			if i := slices.IndexFunc(m.Quantities, func(of Quantity) bool { return of.Name == q.Name }); i >= 0 {
				values = append(values, m.Quantities[i])
			}
		}
		if len(values) == len(its) {
			return atBest(values)
		}
	}
	return ""
}

// atBest puts the best of a quantity's values in words.
func atBest(values []Quantity) string {
	best := slices.MinFunc(values, func(a, b Quantity) int { return cmp.Compare(a.left(), b.left()) })
	if slices.Contains([]string{Findings, FailingTests, Places}, best.Name) {
		return "never fewer than " + safetext.Count(int(best.Value), strings.TrimSuffix(best.Name, "s"))
	}
	against := ""
	if best.Goal != nil {
		against = ", held against " + best.figure(*best.Goal)
	}
	return fmt.Sprintf("%s at best%s, in %q", best.figure(best.Value), against, safetext.Shorten(best.Name, 100))
}
