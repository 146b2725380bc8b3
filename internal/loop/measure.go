package loop

import (
	"strconv"
	"strings"
)

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
	// Kind is a hash like that of the verdict, of what the failure says without the numbers that are measured. Empty: it
	// has no such numbers, and the verdict's own hash is used.
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

// figure writes a value with its unit.
func (q Quantity) figure(n float64) string { return strings.TrimSuffix(figure(n)+" "+q.Unit, " ") }

// figure writes a number with up to six digits.
func figure(n float64) string { return strconv.FormatFloat(n, 'g', 6, 64) }
