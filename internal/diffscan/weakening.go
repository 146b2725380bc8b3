package diffscan

import (
	"fmt"
	"strings"
)

// Weakening is one thing that was made weaker.
type Weakening struct {
	File    string
	Line    int // in the new file; 0: the line is gone, or it is about the whole file
	Message string

	kind weakeningKind
}

// Grave reports whether it may hide a defect by itself. Silenced warnings only say that someone should look.
func (w Weakening) Grave() bool { return w.kind <= lowered }

// weakeningKind is how something was made weaker. The order is that of weight: Grave goes by it.
type weakeningKind int

const (
	steering weakeningKind = iota
	lowered
	silenced
	asking
	weakeningKinds
)

// counted says what there are n of, of each kind.
var counted = [weakeningKinds][2]string{
	{"place that decides what checks run", "places that decide what checks run"},
	{"threshold or rule lowered", "thresholds or rules lowered"},
	{"warning silenced", "warnings silenced"},
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
