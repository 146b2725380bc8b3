package status

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"

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
		writeWrapped(&b, "NO RECORD   ", fmt.Sprintf("%s says that %s approved, and nobody on record here has approved %s. "+
			"The next run looks for a record on the remote, "+
			"and reviews what is not there either. To approve by hand: ralph plan approve %s", st.File,
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
		text += fmt.Sprintf("; %d more in the file, on nobody's record", n)
	}
	return text
}

// maxShownID is how many columns an id takes at most.
const maxShownID = 16

// table is a line for each story, and one for what it waits for.
func (st PlanStanding) table() string {
	wide := len("story")
	for _, s := range st.Stories {
		wide = max(wide, min(columns(s.ID), maxShownID))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "  %s  %s  reviews  title\n", padded("story", wide), padded("state", 17))
	for _, s := range st.Stories {
		w := planWords[s.State]
		if s.Working != "" {
			w.sign, w.words = "▶", cmp.Or(workingWords[s.Working], s.Working)
		}
		start := fmt.Sprintf("%s %s  %s  %7d  ", w.sign, padded(fitted(s.ID, wide), wide), padded(w.words, 17), s.Reviews)
		b.WriteString(start + fitted(safetext.OneLine(s.Title), planColumns-columns(start)) + "\n")
		if len(s.BlockedBy) > 0 && s.State == planBlocked {
			indent := strings.Repeat(" ", wide+4)
			b.WriteString(indent + fitted("waits for "+strings.Join(s.BlockedBy, ", "), planColumns-columns(indent)) + "\n")
		}
	}
	return b.String()
}

// writeWrapped writes a text in lines of at most 80 columns, which begin where the first one does.
func writeWrapped(b *strings.Builder, lead, text string) {
	indent := strings.Repeat(" ", columns(lead))
	b.WriteString(lead)
	left := planColumns - columns(lead)
	room := left
	for i, word := range strings.Fields(text) {
		word = fitted(word, room)
		switch {
		case i == 0:
		case columns(word) < left:
			b.WriteString(" ")
			left--
		default:
			b.WriteString("\n" + indent)
			left = room
		}
		b.WriteString(word)
		left -= columns(word)
	}
	b.WriteString("\n")
}

// fitted cuts a text to so many columns, and shows that it did.
func fitted(s string, most int) string {
	if columns(s) <= most {
		return s
	}
	var b strings.Builder
	left := max(most, 1) - 1
	for _, r := range s {
		if left -= columnsOf(r); left < 0 {
			break
		}
		b.WriteRune(r)
	}
	return strings.TrimRight(b.String(), " ") + "…"
}

func padded(s string, to int) string { return s + strings.Repeat(" ", max(to-columns(s), 0)) }

// columns is how many columns of a terminal a text takes.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += columnsOf(r)
	}
	return n
}

// wide are the characters that take two columns: those of East Asia, and emoji.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{{Lo: 0x1100, Hi: 0x115f, Stride: 1}, {Lo: 0x231a, Hi: 0x231b, Stride: 1},
		{Lo: 0x2e80, Hi: 0xa4cf, Stride: 1},
		{Lo: 0xac00, Hi: 0xd7a3, Stride: 1}, {Lo: 0xf900, Hi: 0xfaff, Stride: 1}, {Lo: 0xfe30, Hi: 0xfe6f, Stride: 1},
		{Lo: 0xff00, Hi: 0xff60, Stride: 1},
		{Lo: 0xffe0, Hi: 0xffe6, Stride: 1}},
	R32: []unicode.Range32{{Lo: 0x1f000, Hi: 0x1faff, Stride: 1}, {Lo: 0x20000, Hi: 0x3fffd, Stride: 1}},
}

func columnsOf(r rune) int {
	switch {
	case r < 0x300: // the most of all, quickly
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}
