package doctor

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/github"
)

// PrintGitHub prints a diagnosis for people: the facts in groups, under each what to do about it and where, and what to do
// first at the end.
func (d *Doctor) PrintGitHub(out GitHubDiagnosis) error {
	width := 0
	for _, f := range out.Facts {
		width = max(width, utf8.RuneCountInString(f.What))
	}
	marks := map[github.Grade]string{github.OK: "ok     ", github.Warning: "warning", github.Problem: "problem",
		github.Unknown: "unknown"}
	if d.Marks {
		marks = map[github.Grade]string{github.OK: "✓", github.Warning: "–", github.Problem: "✗", github.Unknown: "?"}
	}
	page := &strings.Builder{}
	fmt.Fprintf(page, "%s\n\n", out.Repository)
	group := ""
	for _, f := range out.Facts {
		name := f.What
		if name == group {
			name = ""
		}
		group = f.What
		fmt.Fprintf(page, "%-*s  %s  %s\n", width, name, marks[f.Grade], f.Says)
		if advice := strings.TrimSpace(f.Advice + " " + f.Address); advice != "" && f.Grade != github.OK {
			fmt.Fprintf(page, "%*s→ %s\n", width+2+utf8.RuneCountInString(marks[f.Grade])+2, "", advice)
		}
	}
	if out.Ready {
		page.WriteString("\nReady: nothing here keeps ralph from working.\n")
	} else {
		page.WriteString("\nTo do: " + out.Todo + "\n")
	}
	_, err := d.Out.Write([]byte(page.String()))
	return err
}
