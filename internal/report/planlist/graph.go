package planlist

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/report"
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
		fmt.Fprintf(&nodes, "  s%d[\"%s\"]\n", i, report.DiagramLabel(st.ID+" "+st.Title))
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
