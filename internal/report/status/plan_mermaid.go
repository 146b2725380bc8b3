package status

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"

	"github.com/ralph-loop/ralph/internal/report/wording"
)

// planClasses are how Mermaid draws the states.
const planClasses = `  classDef todo fill:#ffffff,stroke:#666666,color:#000000
  classDef blocked fill:#eeeeee,stroke:#999999,color:#555555
  classDef needs_review fill:#fff3c4,stroke:#b8860b,color:#000000
  classDef changes_requested fill:#ffd9c4,stroke:#c0522b,color:#000000
  classDef approved fill:#d3f2d3,stroke:#2b7a2b,color:#000000
  classDef approved_at_cap fill:#ffb3b3,stroke:#b00000,color:#000000,stroke-width:3px
  classDef approved_by_hand fill:#d3f2d3,stroke:#2b7a2b,color:#000000,stroke-dasharray:4
  classDef unrecorded fill:#ffd9c4,stroke:#b00000,color:#000000,stroke-dasharray:4
  classDef passed fill:#d3e6f2,stroke:#2b5a7a,color:#000000
  classDef working stroke-width:4px
`

// Mermaid is the plan as a graph: an arrow leads from a story to those that wait for it, and a story's class is its
// state. Nothing that somebody wrote into the plan can break out of its label.
func (st PlanStanding) Mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	at := make(map[string]int, len(st.Stories))
	for i, s := range st.Stories {
		at[s.ID] = i + 1
		words := planWords[s.State].words
		if s.Working != "" {
			words = cmp.Or(workingWords[s.Working], words)
		}
		fmt.Fprintf(&b, "  s%d[\"%s: %s<br/>%s\"]:::%s\n", i+1, mermaid(s.ID, 40), mermaid(s.Title, 60), words, s.State)
	}
	for i, s := range st.Stories {
		for _, id := range s.DependsOn {
			if from, known := at[id]; known {
				fmt.Fprintf(&b, "  s%d --> s%d\n", from, i+1)
			}
		}
		if s.Working != "" {
			fmt.Fprintf(&b, "  class s%d working\n", i+1)
		}
	}
	b.WriteString(planClasses)
	return b.String()
}

// mermaid is a text as a part of a quoted label: letters, digits and a few signs as they are, everything else as its
// number.
func mermaid(s string, most int) string {
	var b strings.Builder
	for _, r := range wording.Brief(s, most) {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), strings.ContainsRune(" .,-", r):
			b.WriteRune(r)
		case unicode.Is(unicode.C, r): // nobody sees it
		default:
			fmt.Fprintf(&b, "#%d;", r)
		}
	}
	return b.String()
}
