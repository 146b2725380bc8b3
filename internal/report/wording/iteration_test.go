package wording

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/loop"
)

// The line has what was repeated and how often.
func TestStuck(t *testing.T) {
	other := sample.Fail("make test", "exit code 2", "FAIL: other\n")
	tests := []struct {
		name  string
		idle  bool // nothing changes
		fails []loop.Verdict
		tiers map[int]loop.Tier
		want  string
	}{
		{"twice is not stuck", false, []loop.Verdict{sample.TestFailure, sample.TestFailure}, nil, "No"},
		{"another failure between", false, []loop.Verdict{sample.TestFailure, sample.TestFailure, other, sample.TestFailure},
			nil, "No"},
		{"three times", false, []loop.Verdict{sample.TestFailure, sample.TestFailure, sample.TestFailure}, nil,
			"Yes (same error 3x)"},
		{"and a shift", false, []loop.Verdict{sample.TestFailure, sample.TestFailure, sample.TestFailure, sample.TestFailure},
			map[int]loop.Tier{4: loop.Shift}, "Yes (same error 4x, strategy shift failed)"},
		{"a shift that helped", false,
			[]loop.Verdict{other, other, other, other, sample.TestFailure, sample.TestFailure, sample.TestFailure},
			map[int]loop.Tier{4: loop.Shift}, "Yes (same error 3x)"},
		{"nothing changes", true, []loop.Verdict{sample.TestFailure, other, sample.AsksChange}, nil,
			"Yes (unchanged tree 3x)"},
		{"in turn", false, []loop.Verdict{other, sample.TestFailure, other, sample.TestFailure, other, sample.TestFailure},
			nil,
			"Yes (2 errors in turn over 6 attempts)"},
	}
	for _, tt := range tests {
		s := sample.Begin(nil)
		for i, f := range tt.fails {
			s.As(i+1, "", tt.tiers[i+1])
			if tt.idle {
				s.Turned(i+1, loop.Turn{Class: loop.OK, Claim: loop.Claim{Done: true}})
				s.Committed(i + 1)
				s.Judged(i+1, f)
				continue
			}
			s.Iterated(i+1, "", f)
		}
		if got := Stuck(s.State); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
