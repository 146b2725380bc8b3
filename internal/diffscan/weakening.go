package diffscan

import (
	"fmt"
	"strings"
)

// Weakening is one thing that was made weaker.
type Weakening struct {
	File    string
	Line    int // in the new file; 0: the line is gone, or it is about the whole file
	Test    string
	Message string

	kind  weakeningKind
	minor bool // a case of a table: rows come and go
}

// Failed says whether a test of a file has failed before: what was said of it, or of its file, is known to the caller.
type Failed func(file, test string) bool

// LosesTest reports whether a test does not judge any more: it was deleted, skipped or emptied.
func (w Weakening) LosesTest() bool { return w.kind <= emptied && w.Test != "" }

// Grave reports whether it may hide a defect by itself. Assertions and cases of tables come and go with the code, and
// warnings and snapshots only say that somebody should look.
func (w Weakening) Grave() bool { return w.kind <= lowered && !w.minor }

// weakeningKind is how something was made weaker. The order is that of weight: the comparisons in LosesTest and Grave
// go by it.
type weakeningKind int

const (
	deleted weakeningKind = iota
	skipped
	emptied
	narrowed
	steering
	lowered
	unasserted
	silenced
	rewritten
	asking
	weakeningKinds
)

// counted says what there are n of, of each kind.
var counted = [weakeningKinds][2]string{
	{"test deleted", "tests deleted"}, {"test skipped", "tests skipped"}, {"test emptied", "tests emptied"},
	{"place where tests are kept from running", "places where tests are kept from running"},
	{"place that decides what checks run", "places that decide what checks run"},
	{"threshold or rule lowered", "thresholds or rules lowered"},
	{"test with fewer assertions", "tests with fewer assertions"}, {"warning silenced", "warnings silenced"},
	{"snapshot rewritten", "snapshots rewritten"},
	{"place where code asks whether it is tested", "places where code asks whether it is tested"},
}

// Count says how many there are of each kind: "2 tests deleted, 1 warning silenced".
func Count(weakenings []Weakening) string {
	var n [weakeningKinds]int
	for _, h := range weakenings {
		n[h.kind]++
	}
	var parts []string
	for kind, names := range counted {
		switch {
		case n[kind] == 1:
			parts = append(parts, "1 "+names[0])
		case n[kind] > 1:
			parts = append(parts, fmt.Sprintf("%d %s", n[kind], names[1]))
		}
	}
	return strings.Join(parts, ", ")
}
