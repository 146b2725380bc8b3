package git

import (
	"fmt"
	"testing"
)

// TestAnswersAreBounded: the same question is asked once, neither many answers nor large ones fill the memory, and what
// is kept is what was said.
func TestAnswersAreBounded(t *testing.T) {
	var a answers[int]
	asked := 0
	ask := func(question int) int {
		answer, _ := a.once(fmt.Sprint(question), func(int) bool { return question >= 0 }, func() (int, error) {
			asked++
			return 2 * question, nil
		})
		return answer
	}
	for i := range 2 * mostAnswers {
		ask(i)
	}
	const last = 2*mostAnswers - 1
	got, _, _ := ask(last), ask(-1), ask(-1) // which does not last
	if got != 2*last || asked != 2*mostAnswers+2 || len(a.kept) > mostAnswers {
		t.Errorf("%d, asked %d times, %d answers are kept", got, asked, len(a.kept))
	}
}
