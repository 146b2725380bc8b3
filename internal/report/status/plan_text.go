package status

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// planColumns is how wide a plan's status is at most.
const planColumns = 80

// planWords are the states as people read them: a sign that needs no color, and words.
var planWords = map[string]struct{ sign, words string }{
	planTodo:       {"○", "todo"},
	planBlocked:    {"○", "blocked"},
	planInReview:   {"◐", "needs review"},
	planChanges:    {"✗", "changes requested"},
	planApproved:   {"●", "approved"},
	planAtCap:      {"!", "APPROVED AT CAP"},
	planUnreviewed: {"●", "not reviewed"},
	planByHand:     {"●", "approved by hand"},
	planUnrecorded: {"?", "NOT ON RECORD"},
}

// workingWords are what a run does to a story right now.
var workingWords = map[string]string{"implement": "being implemented", "review": "being reviewed",
	"review-fix": "being fixed"}

// Text is the standing for people at a terminal: at most 80 columns, without color. What others wrote is on one line
// each, and not yet made harmless for a terminal.
func (st PlanStanding) Text() string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		if text := strings.TrimSpace(fmt.Sprintf(format, args...)); text != "" {
			writeWrapped(&b, fmt.Sprintf("%-11s ", name), safetext.OneLine(text))
		}
	}
	line("plan", "%s", wording.Brief(st.Project, 60))
	line("file", "%s", st.File)
	line("branch", "%s", st.Branch)
	line("state", "%s", st.summary())
	line("run", "%s", wording.Brief(st.Run, 200))
	line("note", "%s", wording.Brief(st.Note, 300))
	if st.NextStory != "" {
		line("next", "%s, %s", st.NextStory, st.NextMode)
	}
	if st.Likely > 0 {
		line("left", "about %s, at most %d", safetext.Count(st.Likely, "iteration"), st.Most)
	}
	b.WriteString("\n" + st.table())
	for _, s := range st.Stories {
		if s.State == planAtCap {
			b.WriteString("\n")
			writeWrapped(&b, "AT CAP      ",
				fmt.Sprintf("%s was approved because its %s %s used up, and not because a review found it good. Look at it: %s",
					s.ID, safetext.Count(s.Reviews, "review"), safetext.WasWere(s.Reviews), wording.Brief(s.Feedback, 300)))
		}
	}
	if ids := st.NoRecord; len(ids) > 0 {
		b.WriteString("\n")
		writeWrapped(&b, "NO RECORD   ", fmt.Sprintf("%s says that %s approved, but no record here has an approval of %s. "+
			"The next run looks for a record on the remote, "+
			"and reviews what is missing there, too. To approve by hand: ralph plan approve %s", st.File,
			wording.Brief(strings.Join(ids, ", "), 200)+" "+safetext.IsAre(len(ids)), safetext.ItThem(len(ids)),
			wording.Brief(strings.Join(ids, " "), 200)))
	}
	return b.String()
}

// summary is how far the plan is, in a few words.
func (st PlanStanding) summary() string {
	text := fmt.Sprintf("%d of %d stories passed", st.Passed, st.Total)
	if st.Complete {
		text += ", the plan is complete"
	} else if st.NextStory == "" {
		text += ", and none of the others can be done"
	}
	if n := len(st.AtCap); n > 0 {
		text += fmt.Sprintf("; %d APPROVED AT CAP, which no review found good", n)
	}
	if n := len(st.ByHand); n > 0 {
		text += fmt.Sprintf("; %d approved by hand", n)
	}
	if n := len(st.NoRecord); n > 0 {
		text += fmt.Sprintf("; %d more in the file, in no record", n)
	}
	return text
}

// maxShownID is how many columns an id takes at most.
const maxShownID = 16

// table is a line for each story, and one for what it waits for.
func (st PlanStanding) table() string {
	wide := len("story")
	for _, s := range st.Stories {
		wide = max(wide, min(ansi.StringWidth(s.ID), maxShownID))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "  %s  %s  reviews  title\n", padded("story", wide), padded("state", 17))
	for _, s := range st.Stories {
		w := planWords[s.State]
		if s.Working != "" {
			w.sign, w.words = "▶", cmp.Or(workingWords[s.Working], s.Working)
		}
		start := fmt.Sprintf("%s %s  %s  %7d  ", w.sign, padded(fitted(s.ID, wide), wide), padded(w.words, 17), s.Reviews)
		b.WriteString(start + fitted(safetext.OneLine(s.Title), planColumns-ansi.StringWidth(start)) + "\n")
		if len(s.BlockedBy) > 0 && s.State == planBlocked {
			indent := strings.Repeat(" ", wide+4)
			b.WriteString(indent + fitted("waits for "+strings.Join(s.BlockedBy, ", "), planColumns-ansi.StringWidth(indent)) + "\n")
		}
	}
	return b.String()
}

// writeWrapped writes a text in lines of at most 80 columns, which begin where the first one does.
func writeWrapped(b *strings.Builder, lead, text string) {
	wide := ansi.StringWidth(lead)
	lines := ansi.Wrap(strings.Join(strings.Fields(text), " "), planColumns-wide, "")
	b.WriteString(lead + strings.ReplaceAll(lines, "\n", "\n"+strings.Repeat(" ", wide)) + "\n")
}

// fitted cuts a text to so many columns, and shows that it did.
func fitted(s string, most int) string { return ansi.Truncate(s, most, "…") }

func padded(s string, to int) string { return s + strings.Repeat(" ", max(to-ansi.StringWidth(s), 0)) }
