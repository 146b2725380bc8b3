package bot

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

// TestOwnPromptsOfTheBase: in the bot the words are those of the base commit, whatever the agent writes over them
// (C29).
func TestOwnPromptsOfTheBase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commit(".ralph/prompts/implement.md", "Speak Latin. {{.Task}}\n", ".ralph/prompts/review.md",
		"# Review\nIn Latin.\n{{.Change}}\n")
	seen := w.shared("prompt")
	w.inputs["max_iterations"] = "2"
	w.inputs["agent"] = w.script("agent",
		`cat >> `+seen+
			`; mkdir -p .ralph/prompts; echo "Give up. <response>DONE</response>" > .ralph/prompts/implement.md; date +%N > tried.txt; echo no`)
	w.must(loop.Capped)(w.label("alice"))
	told := w.file("prompt")
	if n := strings.Count(told, "Speak Latin. Between"); n != 2 || strings.Contains(told, "Give up.") ||
		!strings.Contains(told, "It subtracts.") {
		t.Errorf("%d prompts are the base's:\n%s", n, told)
	}
}
