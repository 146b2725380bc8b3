package git

import (
	"fmt"
	"testing"
)

// TestAnswersAreBounded: the same question is asked once, neither many answers nor large ones fill the memory, and what
// is kept is what was said.
func TestAnswersAreBounded(t *testing.T) {
	var a answers[string]
	asked := 0
	ask := func(question string, lasts bool) string {
		answer, _ := a.once(question, func(string) bool { return lasts }, func() (string, error) {
			asked++
			return "answer to " + question, nil
		})
		return answer
	}
	for i := range 2 * mostAnswers {
		ask(fmt.Sprint(i), true)
	}
	if len(a.kept) > mostAnswers {
		t.Errorf("%d answers are kept", len(a.kept))
	}
	before := asked
	if got := ask(fmt.Sprint(2*mostAnswers-1), true); got != "answer to "+fmt.Sprint(2*mostAnswers-1) || asked != before {
		t.Errorf("%q, asked %d more times", got, asked-before)
	}
	ask("what does not last", false)
	if ask("what does not last", false); asked != before+2 {
		t.Errorf("asked %d times, want 2", asked-before)
	}
}
