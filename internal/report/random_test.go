package report

import (
	"math/rand/v2"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

func TestInertAtRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	some := func(most int) string { return sample.Some(random, most) }
	for range 300 {
		s := sample.Begin(func(start *loop.Start) {
			start.Title, start.Spec, start.Detected, start.Asked = some(12), safetext.Sanitise(some(60)), some(12), some(4)
			start.Branch, start.Checks, start.Hint = some(6), []string{some(6), some(6)}, some(12)
		})
		s.Add(loop.Record{Type: loop.Resumed,
			Resume: &loop.Resume{Feedback: &loop.Feedback{By: some(4), Text: some(12),
				Items: []loop.Remark{{ID: 1, Path: some(6), Text: some(12)}, {Text: some(12)}}}}})
		s.Turning(1, loop.Implement)
		s.Turned(1, loop.Turn{Class: loop.OK, Text: some(20)})
		s.Committed(1, loop.FileChange{Path: some(6)}, loop.FileChange{Path: ".github/" + some(6)})
		failing := sample.Fail(some(8), some(12), some(60))
		failing.Findings = []loop.Finding{{File: some(6), Line: 3, Message: some(12), Rule: some(3)}}
		s.Judged(1, failing, loop.Verdict{Check: loop.ReviewCheck, Severity: loop.Hard, Reason: some(12),
			Criteria: []loop.Criterion{{Text: some(8), Reason: some(12)}}},
			loop.Verdict{Check: some(6), Severity: loop.Hard, Skipped: some(8)})
		v := end(s, loop.Stuck, some(12), some(6))
		v.TokenNote, v.Template = some(12), "## "+some(8)+"\n"+some(60)+"\n## Testing\n- [x] "+some(30)+"\n| "+some(12)
		v.Labels, v.Subjects = []string{some(4)}, []string{some(6), "fix: " + some(6), "feat: " + some(6)}
		for name, md := range views(v) {
			for _, p := range sample.Inertness(md) {
				t.Errorf("%s: %s\n%s", name, p, md)
			}
		}
		for _, p := range broken(Comment(v), v.State.Start.Run) {
			t.Errorf("%s\n%s", p, Comment(v))
		}
		if t.Failed() {
			return
		}
	}
}
