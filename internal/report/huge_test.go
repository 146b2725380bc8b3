package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/loop"
)

// huge is a run of n iterations in which every name and every output is long and of many bytes a character.
func huge(n int) View {
	name := strings.Repeat("名🙂`|@x<", 25)
	s := sample.Begin(func(start *loop.Start) {
		start.MaxIterations, start.Spec, start.Title, start.Agent, start.Asked = n, strings.Repeat(name+"\n", 200), name,
			name, name
		start.Checks = slices.Repeat([]string{name}, 100)
	})
	s.Add(loop.Record{Type: loop.Resumed,
		Resume: &loop.Resume{Feedback: &loop.Feedback{By: name, Text: name,
			Items: slices.Repeat([]loop.Remark{{ID: 9, By: name, Path: name, Text: name}}, 200)}}})
	for i := 1; i <= n; i++ {
		var files []loop.FileChange
		for j := range 50 {
			files = append(files, loop.FileChange{Path: fmt.Sprint(name, i%5, j), Added: 1})
		}
		s.Turning(i, loop.Implement)
		s.Turned(i, loop.Turn{Class: loop.OK, Text: strings.Repeat(name, 20)})
		s.Committed(i, files...)
		bad := sample.Fail(name, name, strings.Repeat(name+"\n", 100))
		bad.Findings = slices.Repeat([]loop.Finding{{File: name, Line: 3, Message: name, Rule: name}}, 50)
		s.Judged(i, slices.Repeat([]loop.Verdict{bad}, 30)...)
	}
	v := end(s, loop.Capped, name, "wip/ralph-fail-issue-42-20261121-054000")
	v.Template = strings.Repeat("## "+name+"\n"+name+"\n", 200)
	v.ReportURL = v.State.RunURL + "#artifacts"
	return v
}
