package plan

import (
	"testing"
)

// BenchmarkPlan is what the harness does with a plan of 200 stories before and after an iteration. The bar for choosing
// the next story is 20 ms.
func BenchmarkPlan(b *testing.B) {
	p := Plan{Project: "P", BranchName: "ralph/p", Stories: manyStories(200)}
	content := p.Marshal()
	b.SetBytes(int64(len(content)))
	b.ReportAllocs()
	for b.Loop() {
		after, err := Parse("tasks.json", content)
		if err != nil {
			b.Fatal(err)
		}
		mode := after.Mode(Rules{})
		given, ok := after.Next(mode, Rules{})
		if !ok {
			b.Fatal("no story")
		}
		if _, err := after.Order(); err != nil {
			b.Fatal(err)
		}
		after.Story(given.ID).ReviewStatus = NeedsReview
		if broken := Compare(p, after, given.ID, mode, Rules{}); len(broken) > 0 {
			b.Fatal(told(broken))
		}
	}
}
