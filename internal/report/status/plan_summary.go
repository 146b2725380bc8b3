package status

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/report/wording"
)

// PlanSummary is the summary of a plan that is put away, in Markdown: how far it came, what its reviews took,
// which stories no review found good. from and to are dates as people write them; empty: nobody knows. why says that
// the plan could not be read; empty: it could. Titles and feedback are foreign text, and made inert.
func PlanSummary(v PlanView, title, from, to, why string) string {
	safe := report.View{Redact: v.Redact, Phrase: "/ralph"}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", cmp.Or(safe.Text(title, 200), "A plan"))
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "- %s: %s\n", name, text)
		}
	}
	line("Dates", dates(from, to))
	if why != "" {
		line("Stories", "not known, since the plan cannot be read")
		return b.String() + "\n" + safe.Fence(why, 20)
	}
	st := StandPlan(v)
	line("Branch", safe.Code(st.Branch, 200))
	line("Stories", fmt.Sprintf("%d of %d completed", st.Passed, st.Total))
	reviews, most := 0, 0
	for _, s := range st.Stories {
		reviews, most = reviews+s.Reviews, max(most, s.Reviews)
	}
	line("Reviews", fmt.Sprintf("%d, at most %d of one story", reviews, most))
	if len(st.AtCap) > 0 {
		var ids []string
		for _, id := range st.AtCap {
			ids = append(ids, safe.Code(id, 64))
		}
		line("**Approved at the cap**, which no review found good", strings.Join(ids, ", "))
	}
	if text := safe.Text(st.Description, 1000); text != "" {
		b.WriteString("\n" + text + "\n")
	}
	b.WriteString("\n| story | title | state | reviews |\n|---|---|---|---:|\n")
	for _, s := range st.Stories {
		b.WriteString(wording.Row(safe.Code(s.ID, 64), safe.Text(s.Title, 120), planWords[s.State].words,
			fmt.Sprint(s.Reviews)))
	}
	for _, s := range st.Stories {
		if feedback := strings.TrimSpace(s.Feedback); feedback != "" {
			fmt.Fprintf(&b, "\nWhat the last review of %s left open:\n\n%s", safe.Code(s.ID, 64), safe.Fence(feedback, 50))
		}
	}
	return b.String()
}

func dates(from, to string) string {
	switch {
	case from == "" || from == to:
		return to
	case to == "":
		return "from " + from
	}
	return from + " to " + to
}
