package planrun

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
)

// TestNothingIsApprovedWithoutAReview lets an agent edit a plan at random, iteration after iteration, with random
// verdicts. However long it does, a story is approved only by the review of that story: by its verdict, or at the cap.
// No story is lost.
func TestNothingIsApprovedWithoutAReview(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 1))
		rules := plan.Rules{ReviewCap: 1 + r.IntN(3)}
		p := plan.Plan{Project: "p", BranchName: "ralph/p", VerifyCommands: []string{"make test"}}
		for i := range 4 {
			p.Stories = append(
				p.Stories,
				plan.Story{
					ID: fmt.Sprintf("US-%d", i), Title: "t", AcceptanceCriteria: []string{"it works"},
					Priority: float64(i), Notes: "n",
				},
			)
		}
		for n := range 60 {
			mode := p.Mode(rules)
			story, ok := p.Next(mode, rules)
			if !ok {
				break
			}
			e := edit{before: p, after: p, story: story.ID, mode: mode, rules: rules}
			if mode == loop.Review && r.IntN(4) > 0 {
				e.said = &plan.Opinion{Approve: r.IntN(2) == 0, Feedback: "more"}
				if e.said.Approve {
					e.said.Feedback = ""
				}
			}
			e.take("tasks.json", scribbled(r, p, story.ID), r.IntN(30) > 0)
			final := e.judge()
			for _, was := range p.Stories {
				now := final.Story(was.ID)
				if now == nil {
					t.Fatalf("seed %d, iteration %d: %s is lost", seed, n, was.ID)
				}
				if now.Passes != (now.ReviewStatus == plan.Approved) {
					t.Fatalf("seed %d, iteration %d: %s passes: %v, %s", seed, n, was.ID, now.Passes, now.ReviewStatus)
				}
				reviewed := mode == loop.Review && was.ID == story.ID && e.said != nil &&
					(e.said.Approve || was.ReviewCount+1 >= rules.ReviewCap)
				if now.Passes && !was.Passes && !reviewed {
					t.Fatalf(
						"seed %d, iteration %d (%s %s, %+v): %s is approved by %+v", seed, n, mode, story.ID, e.said,
						was.ID, *now,
					)
				}
			}
			for _, now := range final.Stories {
				if p.Story(now.ID) == nil &&
					(now.Passes || now.ReviewStatus != plan.Unreviewed || now.ReviewCount != 0) {
					t.Fatalf("seed %d, iteration %d: the new story %+v", seed, n, now)
				}
			}
			p = final
		}
	}
}

// scribbled is a plan's file as a careless or dishonest agent leaves it.
func scribbled(r *rand.Rand, p plan.Plan, own string) []byte {
	out := p.With()
	for range r.IntN(4) {
		s := &out.Stories[r.IntN(len(out.Stories))]
		if r.IntN(2) == 0 {
			s = out.Story(own)
		}
		if s == nil {
			continue
		}
		statuses := []plan.ReviewStatus{plan.Unreviewed, plan.NeedsReview, plan.ChangesRequested, plan.Approved}
		switch r.IntN(10) {
		case 0:
			s.Passes = !s.Passes
		case 1, 2, 3:
			s.ReviewStatus = statuses[r.IntN(len(statuses))]
			s.Passes = s.ReviewStatus == plan.Approved
		case 4:
			s.ReviewCount += r.IntN(3) - 1
		case 5:
			s.ReviewFeedback = []string{"", "more", plan.AtCap + " more"}[r.IntN(3)]
		case 6:
			s.ReviewStatus, s.Passes = plan.Approved, true
			s.ReviewCount++
		case 7:
			s.ID = fmt.Sprintf("US-%d", r.IntN(6))
		case 8:
			at := r.IntN(len(out.Stories))
			out.Stories = append(out.Stories[:at:at], out.Stories[at+1:]...)
			if len(out.Stories) == 0 {
				return out.Marshal()
			}
		case 9:
			added := *s
			added.ID = fmt.Sprintf("US-%d", 10+r.IntN(90))
			out.Stories = append(out.Stories, added)
		}
	}
	text := out.Marshal()
	if r.IntN(5) == 0 { // and a byte of it is another
		text[r.IntN(len(text))] = byte(32 + r.IntN(95))
	}
	return text
}
