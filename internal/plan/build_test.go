package plan

import (
	"fmt"
	"os"
	"testing"
)

// What the tests of plans make plans of.

func fileOf(t testing.TB, name string) []byte {
	t.Helper()
	content, err := os.ReadFile("testdata/plans/" + name)
	noError(t, err)
	return content
}

// storyAt is a story that stands somewhere. Its title and its criterion name it, its notes are there when it needs
// some.
func storyAt(id string, passes bool, status ReviewStatus, count int, feedback string) Story {
	s := Story{ID: id, Title: "Title of " + id, AcceptanceCriteria: []string{id + " works"}, Priority: 1, Passes: passes,
		ReviewStatus: status,
		ReviewCount:  count, ReviewFeedback: feedback}
	if passes {
		s.Notes = "Done."
	}
	return s
}

func planOfStories(stories ...Story) Plan {
	return Plan{Project: "P", BranchName: "ralph/p", Description: "D", VerifyCommands: []string{"make test"},
		Stories: stories}
}

// manyStories each depend on the one before every fifth.
func manyStories(n int) []Story {
	var out []Story
	for i := range n {
		s := storyAt(fmt.Sprintf("US-%03d", i+1), false, Unreviewed, 0, "")
		s.Description = "As a clerk I want one more thing, so that my work is done sooner."
		s.AcceptanceCriteria = []string{"The first thing happens", "The second thing happens",
			fmt.Sprintf("Thing %d happens", i)}
		s.Priority = float64(n - i)
		if i%5 != 0 {
			s.DependsOn = []string{fmt.Sprintf("US-%03d", i)}
		}
		out = append(out, s)
	}
	return out
}

// told are violations as lines.
func told(v []Violation) []string {
	var out []string
	for _, one := range v {
		out = append(out, one.Check+" "+one.Text)
	}
	return out
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
