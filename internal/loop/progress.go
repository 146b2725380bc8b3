package loop

import (
	"math"
	"path"
	"strings"
)

// How much less a measured time has to be than the best one before: programs are never equally fast twice.
const leastFaster = 0.01

// attempts are the iterations of a run up to now, as far back as a repetition is searched for, each with the failure that
// was in its way, and whether that was any nearer to its end than ever before.
type attempts struct {
	its   []*Iteration
	key   []string // by which the failure is known again; empty: nothing failed
	fresh []bool   // there was no such failure before, or its measure was never as good
	moved []bool   // no failure of the check that was in the way was measured as good, whatever it said
}

// look goes through iterations once, oldest first.
func look(its []*Iteration) attempts {
	a := attempts{its: its, key: make([]string, len(its)), fresh: make([]bool, len(its)), moved: make([]bool, len(its))}
	known, checks := map[string]*failureHistory{}, map[string]*failureHistory{}
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
		c := known[key]
		if c == nil {
			c = &failureHistory{quantities: map[string]*quantity{}}
			known[key] = c
			a.fresh[i] = true
		}
		if o.Measure != nil && c.take(*o.Measure, its, i) {
			a.fresh[i] = true
		}
		of := checks[o.Check]
		if of == nil {
			of = &failureHistory{quantities: map[string]*quantity{}}
			checks[o.Check] = of
			a.moved[i] = true
		}
		if o.Check == ReviewCheck || o.Role.ReadOnly() || o.Measure != nil && of.take(*o.Measure, its, i) {
			a.moved[i] = true
		}
	}
	return a
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

// take adds the measure of iteration i, and reports whether it is better than ever before in anything.
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

// MaxQuantities is how many quantities a measure keeps.
const MaxQuantities = 12

// The quantities that people count first.
const (
	Findings     = "findings"      // places that a tool finds fault with
	FailingTests = "failing tests" // by name, or as the runner counts them
	Places       = "places"        // lines that name one, where no one can read the findings
)

// Measure is what a failed check can be measured by: when the same failure comes again, it tells whether the work has
// come nearer to its end.
type Measure struct {
	// Kind is a hash like that of the verdict, of what the failure says without the numbers that are measured. Empty:
	// there are none, and the verdict's own hash says it.
	Kind string `json:"kind,omitempty"`
	// Quantities are what can be counted, at most MaxQuantities: what people would count first comes first.
	Quantities []Quantity `json:"quantities,omitempty"`
	// File and Line are the first place that the failure names, in the first of its files.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}

// Quantity is one number that a failure names. Without a goal, less of it is better, unless More says otherwise.
type Quantity struct {
	Name  string   `json:"name"`           // "findings", "failing tests", or the line that names it, "…" for its numbers
	Value float64  `json:"value"`          // in Unit
	Unit  string   `json:"unit,omitempty"` // "s", "B", "%"; empty: it counts something, or no one knows
	Goal  *float64 `json:"goal,omitempty"` // what it is held against; nil: nothing is named
	More  bool     `json:"more,omitempty"` // more is better
	// Timed says that it depends on how fast the machine is just now.
	Timed bool `json:"timed,omitempty"`
}

// left is how far the quantity is from where it should be.
func (q Quantity) left() float64 {
	switch {
	case q.Goal != nil && *q.Goal > q.Value:
		return *q.Goal - q.Value
	case q.Goal != nil:
		return q.Value - *q.Goal
	case q.More:
		return -q.Value
	}
	return q.Value
}

// sameGoal reports whether two quantities are held against the same. A bound that moves is no progress of the work.
func (q Quantity) sameGoal(other Quantity) bool {
	if q.Goal == nil || other.Goal == nil {
		return q.Goal == other.Goal
	}
	return *q.Goal == *other.Goal
}
