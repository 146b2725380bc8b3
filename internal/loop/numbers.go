package loop

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// numbers says what was measured in attempts that have come no nearer to their end: of the first quantity that all of
// them name. Empty: there is none.
func numbers(its []*Iteration) string {
	last := its[len(its)-1].Obstacle().Measure
	if last == nil || len(its) < 2 {
		return ""
	}
	for _, q := range last.Quantities {
		if values, ok := values(its, q.Name); ok {
			return q.said(values)
		}
	}
	return ""
}

// values are those of one quantity in every attempt.
func values(its []*Iteration, name string) ([]Quantity, bool) {
	var all []Quantity
	for _, it := range its {
		m := it.Obstacle().Measure
		if m == nil {
			return nil, false
		}
		for _, q := range m.Quantities {
			if q.Name == name {
				all = append(all, q)
				break
			}
		}
	}
	return all, len(all) == len(its)
}

// said puts the values of a quantity in words.
func (q Quantity) said(values []Quantity) string {
	least, most := math.Inf(1), math.Inf(-1)
	best := values[0]
	for _, v := range values {
		least, most = math.Min(least, v.Value), math.Max(most, v.Value)
		if v.left() < best.left() {
			best = v
		}
	}
	same := least == most
	one := strings.TrimSuffix(q.Name, "s")
	switch counted := q.Name == Findings || q.Name == FailingTests || q.Name == Places; {
	case q.Name == Places && same && most == 1: // that says nothing
		return ""
	case counted && same && most == 1:
		return fmt.Sprintf("the same %s, not fixed", one)
	case counted && same:
		return fmt.Sprintf("the same %s %s, none fixed", figure(most), q.Name)
	case counted:
		return fmt.Sprintf("never fewer than %s", safetext.Count(int(least), one))
	}
	name := safetext.Shorten(q.Name, 100)
	at := best.figure(best.Value) + " at best"
	if same {
		at = best.figure(most) + " each time"
	}
	if q.Goal != nil {
		at += ", held against " + best.figure(*best.Goal)
	}
	return fmt.Sprintf("%s, in %q", at, name)
}

// figure writes a value with its unit.
func (q Quantity) figure(n float64) string { return strings.TrimSuffix(figure(n)+" "+q.Unit, " ") }

// figure writes a number as short as it can be told from others.
func figure(n float64) string { return strconv.FormatFloat(n, 'g', 6, 64) }
