package check

import (
	"github.com/ralph-loop/ralph/internal/failure"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Push is the check of a commit that the remote does not take for what it holds. No other check runs then.
const Push = "push"

// declined is what the next turn gets of it: the remote's own words, and that they are about files that it still has.
func declined(words string) loop.Verdict {
	return loop.Verdict{Check: Push, Severity: loop.Hard, Output: words, Hash: failure.Signature(Push, words),
		Reason: "the push was refused: " + safetext.Shorten(safetext.OneLine(words), 200),
		PromptText: words + "\n\nNothing of this was pushed. Your files are as you left them, and not committed. Take out what " +
			"is named above; then they are committed again without it. If a rule on commit messages is named, commit the files " +
			"yourself, with a message that it allows."}
}
