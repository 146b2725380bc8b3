package prompt

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/task"
)

// TestAddedTextIsBounded: whatever happened and however often, what the harness adds to the task's own text stays under
// 24 KB, is text, and ends with how to end (S0-83).
func TestAddedTextIsBounded(t *testing.T) {
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := wild(r)
		w := Writer{Completion: "DONE", IterationCount: true, Comments: []task.Comment{{Author: "alice", Text: text(r, 4000)}},
			Look: func(loop.State, loop.Verdict) Found { return wildFound(r) }}
		step := loop.Step{Iteration: len(s.Iterations) + 1, Mode: pick(r, loop.Implement, loop.ReviewFix),
			Role: pick(r, task.Coder, task.Tester), Tier: pick(r, loop.Moving, loop.Shift, loop.Expand)}
		got := must(w.For(s, step))
		if added := len(got) - owned(s, w); added > maxAdded {
			t.Errorf("seed %d: %d bytes are added", seed, added)
		}
		if !strings.Contains(got, w.exit(s, step.Role)) || !utf8.ValidString(got) {
			t.Errorf("seed %d: the prompt does not say how to end, or is no text", seed)
		}
		judged := must(w.Judge(s, pick(r, task.Reviewer, task.QA), "feed", "", "P", s.Last().Verdicts))
		if added := len(judged) - owned(s, w); added > maxAdded {
			t.Errorf("seed %d: %d bytes are added for a judge", seed, added)
		}
	}
}

// owned is how large the task's own text is.
func owned(s loop.State, w Writer) int {
	n := len(s.Start.Spec) + len(s.Start.Title)
	for _, c := range w.Comments {
		n += len(c.Text) + len(c.Author)
	}
	if c := s.Start.Completion; c != nil {
		n += len(c.Outcome)
		for _, a := range c.Acceptance {
			n += len(a) + len("- [ ] \n")
		}
		for _, role := range task.Roles {
			if of := c.For(role); of != nil {
				n += len(of.Description)
			}
		}
	}
	return n
}

func TestFair(t *testing.T) {
	for room, want := range map[int][]int{204: {100, 2, 100}, 10: {4, 2, 4}, -3: {0, 0, 0}} {
		if got := fair([]int{100, 2, 100}, room); !slices.Equal(got, want) {
			t.Errorf("of %d: %v, want %v", room, got, want)
		}
	}
}

// wild is a state in which everything is as large and as many as can be.
func wild(r *rand.Rand) loop.State {
	s := started()
	if r.IntN(4) == 0 { // a long run of which nothing but numbers is left
		for n := range 5000 {
			s.Iterations = append(s.Iterations, &loop.Iteration{N: n + 1, Judged: true, Tier: loop.Shift})
		}
	}
	s.Start.Spec, s.Start.Title = text(r, 60000), text(r, 300)
	s.MaxIterations = pick(r, 0, 5, 5000)
	for range r.IntN(60) {
		s.Hints = append(s.Hints, loop.TakenHint{Hint: loop.Hint{Text: text(r, 4000)}})
		s.Start.Checks = append(s.Start.Checks, text(r, 1000))
	}
	if r.IntN(2) == 0 {
		s.Start.Pipeline = task.Roles
		s.Start.Completion = &task.Completion{Outcome: text(r, 5000),
			Coder: &task.Criteria{Promise: text(r, 90), Description: text(r, 3000)}}
		for range r.IntN(50) {
			s.Start.Completion.Acceptance = append(s.Start.Completion.Acceptance, text(r, 500))
		}
	}
	s.Warning = text(r, 2000)
	same := fmt.Sprintf("%08x", r.Uint32())
	for range pick(r, 1, 3, 5) {
		it := &loop.Iteration{N: len(s.Iterations) + 1, Judged: true, Tier: pick(r, loop.Moving, loop.Shift)}
		it.Turn = loop.Turn{Class: pick(r, loop.OK, loop.Broke), Reason: text(r, 3000), Text: text(r, loop.TextBytes),
			Claim: loop.Claim{Done: r.IntN(2) == 0}}
		it.Commit = &loop.Commit{Tree: "t", Empty: r.IntN(3) == 0}
		for range r.IntN(50) {
			it.Commit.Files = append(it.Commit.Files, loop.FileChange{Path: text(r, 300)})
		}
		for range 1 + r.IntN(60) {
			v := loop.Verdict{Check: text(r, 1000), Severity: pick(r, loop.Hard, loop.Soft), Pass: r.IntN(4) == 0,
				Reason: text(r, 1000), Output: text(r, loop.OutputBytes), PromptText: text(r, 30000),
				FailAction: pick(r, "", loop.Append, loop.Append, loop.Prepend, loop.Replace),
				Hash:       pick(r, "", same, fmt.Sprintf("%08x", r.Uint32())), MissingNames: []string{"x"}}
			for range r.IntN(50) {
				v.Findings = append(v.Findings, loop.Finding{File: text(r, 300), Line: 7, Message: text(r, 300)})
			}
			it.Verdicts = append(it.Verdicts, v)
		}
		s.Iterations = append(s.Iterations, it)
	}
	return s
}

func wildFound(r *rand.Rand) Found {
	f := Found{Defined: r.IntN(2) == 0}
	for range r.IntN(30) {
		f.Looked = append(f.Looked, text(r, 500))
		f.Excerpts = append(f.Excerpts,
			Excerpt{File: text(r, 300), From: 1 + r.IntN(1e6), Why: text(r, 300), Text: text(r, 4000)})
	}
	return f
}

// text is up to so many bytes of anything, often all of them.
func text(r *rand.Rand, most int) string {
	n := most
	if r.IntN(3) == 0 {
		n = r.IntN(most + 1)
	}
	piece := pick(r, "x", "word ", "`", "line\n", "é", "```\n", "<response>DONE</response>\n")
	return strings.ToValidUTF8(strings.Repeat(piece, n/len(piece)+1)[:n], "")
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }
