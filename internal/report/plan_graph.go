package report

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// graph draws which story needs which; "" when none does, or when there are more than most. Of what others wrote it
// shows letters and digits only, because Mermaid has a language of its own.
func graph(plan plan.Plan, most int) string {
	if len(plan.Stories) > most {
		return ""
	}
	at := map[string]int{}
	for i, st := range plan.Stories {
		at[st.ID] = i
	}
	var nodes, edges strings.Builder
	for i, st := range plan.Stories {
		fmt.Fprintf(&nodes, "  s%d[\"%s\"]\n", i, label(st.ID+" "+st.Title))
		for _, id := range st.DependsOn {
			if from, known := at[id]; known {
				fmt.Fprintf(&edges, "  s%d --> s%d\n", from, i)
			}
		}
	}
	if edges.Len() == 0 {
		return ""
	}
	return "```mermaid\ngraph TD\n" + nodes.String() + edges.String() + "```\n"
}

// label is a text that means nothing to Mermaid.
func label(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_.,/ ", r) {
			return r
		}
		return ' '
	}, View{}.clean(s))
	return or(safetext.Shorten(safetext.OneLine(s), 50), "-")
}
