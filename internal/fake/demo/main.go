// Command demo ...
package main

import (
	"fmt"

	"charm.land/glamour/v2"

	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/report"
)

func main() {
	g, _ := fake.New(fake.Options{})
	defer g.Close()
	_, _ = report.Page("x")
	r, _ := glamour.NewTermRenderer(glamour.WithStandardStyle("notty"), glamour.WithWordWrap(100))
	s, _ := r.Render("# hi\n\n| a | b |\n|---|---|\n| 1 | `2` |\n\n<details><summary>Last <code>make</code></summary>\n\n```\nx\n```\n</details>\n<sub>small</sub>\n")
	fmt.Println(s)
}
