package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// replyMarker is the line by which a run's answer in a review's thread is found again; id is that of the comment which
// it answers.
func replyMarker(run string, id int64) string {
	return fmt.Sprintf("<!-- ralph:reply:%s/%d -->", wording.MarkerName(run), id)
}

// Answer is what a run says in one thread of the review that it was resumed for, once it has an outcome: its commits,
// or why it has none. Its first line is replyMarker.
func Answer(v View, remark loop.Remark) string {
	round := v.State.Start.Run
	if n := v.State.Retries; n > 0 { // a later review can be about the same thread
		round += fmt.Sprintf("-%d", n)
	}
	return replyMarker(round, remark.ID) + "\n" + v.answer(remark) + "\n"
}

// answer is one or two sentences.
func (v View) answer(remark loop.Remark) string {
	s := v.State
	touching, others := v.since(remark.Path)
	switch {
	case s.End == nil:
		return "ralph works on it."
	case s.End.Outcome == loop.Done && len(touching) > 0:
		return fmt.Sprintf("Worked on in %s; all checks and the review passed.", safetext.AndMore(touching, 3))
	case s.End.Outcome == loop.Done && len(others) > 0:
		return fmt.Sprintf("Worked on in %s, which leaves this file as it was; all checks and the review passed. Please "+
			"look whether that is what you meant.", safetext.AndMore(others, 3))
	case s.End.Outcome == loop.Done:
		return parts("Nothing was changed: the agent and the checks found that the work holds as it is",
			v.Offer("fix <what is missing>", "asks again"))
	}
	words := v.outcome()
	why := ": " + strings.TrimSuffix(cmp.Or(v.Text(s.End.Reason, 300), strings.ToLower(words[:1])+words[1:]), ".")
	if all := append(touching, others...); len(all) > 0 {
		return fmt.Sprintf("Not settled%s. What was tried is in %s.", why, safetext.AndMore(all, 3))
	}
	return fmt.Sprintf("Not addressed%s.", why)
}

// since are the commits since the run was last asked for, those that touch a file apart from the others; with no file
// all touch it.
func (v View) since(path string) (touching, others []string) {
	s := v.State
	for _, it := range s.Iterations {
		sha := v.commit(it)
		if it.N <= s.Reopened || sha == "" {
			continue
		}
		if path == "" || slices.ContainsFunc(it.Commit.Files, func(f loop.FileChange) bool { return f.Path == path }) {
			touching = append(touching, sha)
		} else {
			others = append(others, sha)
		}
	}
	return touching, others
}

// feedback says what a review or other workflows asked for, and what happened to it: a line, and an item for each thread.
// "" when the run was resumed for none.
func (v page) feedback() string {
	f := v.State.Feedback
	if f == nil {
		return ""
	}
	who := "Other workflows ask for changes"
	if f.By != "" {
		who = v.Code(f.By, 60) + " asks for changes"
	}
	threads := safetext.Map(f.Items, func(item loop.Remark) string {
		text := wording.JoinedBy(" — ", v.place(loop.Finding{File: item.Path, Line: item.Line}), v.Text(item.Text, 160))
		switch {
		case slices.Contains(v.State.Post.Answered, item.ID):
			text += "\n  → answered in its thread"
		case v.State.End != nil:
			text += "\n  → " + v.answer(item)
		}
		return text
	})
	return labeled(who, cmp.Or(v.Text(f.Text, 300), safetext.Count(len(f.Items), "remark"))) + "\n\n" +
		items(threads, v.most(20))
}
