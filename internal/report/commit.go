package report

import (
	"cmp"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
)

const maxSubject = 72

// CommitMessage is the message of an iteration's commit: a readable subject of at most 72 characters made of the
// task's title, and trailers. Nothing in a title can add a trailer, mention anybody or close anything. repoHost is
// "github.com". In a plan the subject is that of the story's mode.
func CommitMessage(s loop.State, it loop.Iteration, repoHost string) string {
	end := fmt.Sprintf(" (iteration %d)", it.N)
	title := cmp.Or(plain(View{}.Clean(s.Start.Title)), trailerValue(s.Start.Task))
	subject := safetext.Shorten("ralph: "+title, maxSubject-len(end)) + end
	if it.Story != "" {
		subject = storySubject(s, it)
	}
	trailers := trailersOf(s, it)
	if by := checksOf(s); by != "" {
		trailers = append(trailers, [2]string{"Ralph-Checks", by})
	}
	if login.MatchString(s.Start.Asked) && host.MatchString(repoHost) {
		trailers = append(trailers, [2]string{"Co-authored-by",
			fmt.Sprintf("%s <%s@users.noreply.%s>", s.Start.Asked, s.Start.Asked, repoHost)})
	}
	return messageOf(subject, "", trailers)
}

// mostJudges bounds the trailer that names what judges a commit.
const mostJudges = 200

// checksOf names what judges a commit. What it says comes after the commit, and stands in the run's reports.
func checksOf(s loop.State) string {
	var names []string
	for _, line := range s.Start.Checks {
		if name := safetext.Shorten(plain(View{}.Clean(line)), 60); name != "" {
			names = append(names, name)
		}
	}
	if s.Start.Review && s.Plan == nil { // a plan's reviews are iterations of their own
		names = append(names, "review")
	}
	if slices.Contains(s.Start.Pipeline, task.QA) {
		names = append(names, "qa")
	}
	text := ""
	for i, name := range names {
		next := wording.JoinedBy(", ", text, name)
		if utf8.RuneCountInString(next) > mostJudges-len(" and 99 more") {
			return text + fmt.Sprintf(" and %d more", len(names)-i)
		}
		text = next
	}
	return text
}

// FailureCommitMessage is the message of the commit that ends a failure branch.
func FailureCommitMessage(s loop.State) string {
	hash := "none"
	if f := s.Failure(); f != nil && f.Hash != "" {
		hash = trailerValue(f.Hash)
	}
	return fmt.Sprintf("Ralph Loop failed: %s\n\nIterations: %s\nLast gate: %s\nError hash: %s\n\nSee .ralph_state.md "+
		"for full history\n",
		trailerValue(s.Start.Task), attempts(s), cmp.Or(safetext.Shorten(plain(View{}.Clean(lastGate(s))), 100), "none"),
		hash)
}
