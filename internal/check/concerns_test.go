package check

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

// fixed is a check that says one thing.
type fixed struct {
	name string
	v    loop.Verdict
}

func (s fixed) Name() string                                     { return s.name }
func (fixed) Severity() loop.Severity                            { return loop.Soft }
func (fixed) Needs() Need                                        { return SomeWork | AClaim | ReadsOnly }
func (s fixed) Run(context.Context, Input) (loop.Verdict, error) { return s.v, nil }

func concerned(names ...string) loop.Verdict {
	v := loop.Verdict{Reason: "the change weakens what judges it"}
	for _, name := range names {
		v.Concerns = append(v.Concerns, loop.Concern{Name: name, Kind: loop.Weakens, Message: name + " was deleted"})
	}
	return v
}

// TestConcernsNeedANameEach: what a person accepts, what a reviewer accepts, and what is left for a person.
func TestConcernsNeedANameEach(t *testing.T) {
	answer := func(more string) string {
		return `{"verdict":"approve","tree":"` + "t" + `","summary":"fine","issues":[]` + more + `}`
	}
	for _, row := range []struct {
		name     string
		accepted []loop.Acceptance // by people
		reviewer string            // its answer; empty: there is none
		blocks   string            // the check that blocks; empty: the run is done
		waits    bool
		asked    int // how often the reviewer is asked
	}{
		{name: "nobody looks", blocks: acceptedCheck, waits: true},
		{name: "a person accepts one", accepted: []loop.Acceptance{{Name: "TestA"}}, blocks: acceptedCheck, waits: true},
		{name: "a person accepts both", accepted: []loop.Acceptance{{Name: "TestA"}, {Name: "TestB"}}},
		{name: "a person accepts all", accepted: []loop.Acceptance{{Name: "all"}}},
		{name: "the reviewer approves without a word", reviewer: answer(""), blocks: acceptedCheck, waits: true, asked: 2},
		{name: "the reviewer names one", reviewer: answer(`,"accepts":[{"name":"TestA","reason":"obsolete"}]`),
			blocks: acceptedCheck, waits: true, asked: 2},
		{name: "the reviewer gives no reason",
			reviewer: answer(`,"accepts":[{"name":"TestA","reason":""},{"name":"TestB","reason":"x"}]`),
			blocks:   acceptedCheck, waits: true, asked: 2},
		{name: "the reviewer says all", reviewer: answer(`,"accepts":[{"name":"all","reason":"fine"}]`),
			blocks: acceptedCheck, waits: true, asked: 2},
		{name: "the reviewer names both, with reasons", asked: 1,
			reviewer: answer(`,"accepts":[{"name":"TestA","reason":"obsolete"},{"name":"TestB","reason":"as the task says"}]`)},
		{name: "the reviewer names what no person has", accepted: []loop.Acceptance{{Name: "TestA"}}, asked: 1,
			reviewer: answer(`,"accepts":[{"name":"TestB","reason":"as the task says"}]`)},
	} {
		t.Run(row.name, func(t *testing.T) {
			asked := 0
			l := list(t, &tree{}, silent, &checkout{})
			l.Checks = []Check{fixed{WeakenedCheck, concerned("TestA", "TestB")}}
			if row.reviewer != "" {
				r := reader(&checkout{}, func(string) loop.Turn {
					asked++
					return loop.Turn{Class: loop.OK, Structured: row.reviewer}
				})
				l.Checks = append(l.Checks, r)
			}
			l.Checks = append(l.Checks, Accepted{})
			at := judged()
			at.State.Accepted = row.accepted
			verdicts := l.judge(t, at.State)
			i := slices.IndexFunc(verdicts, func(v loop.Verdict) bool { return v.Blocks() && v.Skipped == "" })
			switch {
			case i < 0 && row.blocks != "":
				t.Fatalf("nothing blocks, want %s: %+v", row.blocks, verdicts)
			case i >= 0 && (verdicts[i].Check != row.blocks || verdicts[i].Waits != row.waits):
				t.Fatalf("%s blocks (waits %v): %s", verdicts[i].Check, verdicts[i].Waits, verdicts[i].Reason)
			}
			if asked != row.asked {
				t.Errorf("the reviewer was asked %d times, want %d", asked, row.asked)
			}
		})
	}
}

// TestConcernNames: one name is one concern, and the same name in another file has that file before it.
func TestConcernNames(t *testing.T) {
	var list []loop.Concern
	for _, c := range []loop.Concern{
		{Name: "TestA", File: "a_test.go", Message: "an assertion is gone"},
		{Name: "TestA", File: "a_test.go", Message: "a case is gone"},
		{Name: "TestA", File: "b_test.go", Message: "it was deleted"},
		{Name: "adds two", File: "c.test.js", Message: "it is skipped"},
		{Name: "c.test.js", File: "c.test.js", Message: "a threshold was lowered"},
	} {
		list = addConcern(list, c)
	}
	want := []string{"TestA", "b_test.go:TestA", "adds_two", "c.test.js"}
	if got := loop.Names(list); !slices.Equal(got, want) {
		t.Errorf("names are %q, want %q", got, want)
	}
	if got := list[0].Message; got != "an assertion is gone; a case is gone" {
		t.Errorf("two things of one test are %q", got)
	}
	for n := range 2 * loop.MaxConcerns {
		list = addConcern(list, loop.Concern{Name: strings.Repeat("x", n+1)})
	}
	if len(list) != loop.MaxConcerns || list[len(list)-1].Name != "the-rest" {
		t.Errorf("there are %d, the last is %q", len(list), list[len(list)-1].Name)
	}
}
