package status

import (
	"cmp"
	_ "embed" // the text
	"fmt"
	"slices"
	"strings"
	"text/template"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// PlanView is a plan with what is known besides its file.
type PlanView struct {
	Plan  plan.Plan
	Rules plan.Rules
	File  string // "ralph/tasks.json"
	Run   string // the newest run of it, in one line; empty: no run
	Note  string // what else the reader should know, a sentence; empty: nothing
	// Working is the story that a run works on right now, and Mode what it does to it; empty: no one works.
	Working string
	Mode    plan.Mode
	Redact  func(string) string // nil: nothing is secret
	// Unrecorded are the stories that the file says are approved, and no one on record has approved. Plan has them as not
	// approved.
	Unrecorded []string
}

// The states of a story in a plan's status.
const (
	planTodo       = "todo"
	planBlocked    = "blocked" // a story that it depends on has not passed
	planInReview   = "needs_review"
	planChanges    = "changes_requested"
	planApproved   = "approved"
	planAtCap      = "approved_at_cap"  // no one approved it but the cap of reviews
	planUnreviewed = "passed"           // done in a run without reviews
	planByHand     = "approved_by_hand" // a person approved it
	planUnrecorded = "unrecorded"       // the file says that it is approved, and no one on record approved it
)

// PlanStanding is where a plan stands, for people (Text, Mermaid) and for programs (as JSON, docs/plans.md). Every
// field is always there.
type PlanStanding struct {
	File        string `json:"file"`
	Project     string `json:"project"`
	Branch      string `json:"branch"`
	Description string `json:"description"`

	Progress
	ReviewCap int         `json:"review_cap"`
	AtCap     []string    `json:"at_cap"`     // the ids of stories that were approved at the cap
	ByHand    []string    `json:"by_hand"`    // of those that a person approved
	NoRecord  []string    `json:"unrecorded"` // of those that the file says are approved, and no one on record approved
	Run       string      `json:"run"`
	Note      string      `json:"note"`
	Stories   []PlanStory `json:"stories"` // in an order in which they can be done
}

// Progress is how far a plan is, and how far it is to its end.
type Progress struct {
	Complete  bool   `json:"complete"`
	Passed    int    `json:"passed"` // stories
	Total     int    `json:"total"`
	NextStory string `json:"next_story"` // empty: nothing can be done
	NextMode  string `json:"next_mode"`
	Likely    int    `json:"likely_iterations"` // that the stories which are left will take
	Most      int    `json:"most_iterations"`   // that the cap of reviews allows
}

// PlanStory is where one story stands.
type PlanStory struct {
	ID        string   `json:"id"`
	Title     string   `json:"title"`
	State     string   `json:"state"`   // one of the constants above
	Working   string   `json:"working"` // the mode in which a run works on it right now; empty: none does
	Passes    bool     `json:"passes"`
	Status    string   `json:"review_status"` // as in the file; empty is null
	Reviews   int      `json:"review_count"`
	Feedback  string   `json:"review_feedback"`
	Priority  float64  `json:"priority"`
	DependsOn []string `json:"depends_on"`
	BlockedBy []string `json:"blocked_by"` // those of them that have not passed
}

// StandPlan says where a plan stands.
func StandPlan(v PlanView) PlanStanding {
	p, redact := v.Plan, report.Words{Redact: v.Redact}.Redacted
	out := PlanStanding{
		File: v.File, Project: redact(p.Project), Branch: redact(p.BranchName), Description: redact(p.Description),
		Progress: Progress{Complete: p.Complete(v.Rules), Passed: p.Passed(), Total: len(p.Stories)}, ReviewCap: v.Rules.ReviewCap,
		AtCap: []string{}, ByHand: append([]string{}, p.ByHand()...), NoRecord: append([]string{}, v.Unrecorded...),
		Run: redact(v.Run), Note: redact(v.Note), Stories: make([]PlanStory, 0, len(p.Stories)),
	}
	out.Likely, out.Most = p.Estimate(v.Rules)
	if !out.Complete {
		mode := p.Mode(v.Rules)
		if s, ok := p.Next(mode, v.Rules); ok {
			out.NextStory, out.NextMode = s.ID, string(mode)
		}
	}
	for _, s := range inOrder(p) {
		story := PlanStory{
			ID: s.ID, Title: redact(s.Title), Passes: s.Passes, Status: string(s.ReviewStatus), Reviews: s.ReviewCount,
			Feedback: redact(s.ReviewFeedback),
			Priority: s.Priority, DependsOn: append([]string{}, s.DependsOn...), BlockedBy: []string{},
		}
		if s.ID == v.Working {
			story.Working = string(v.Mode)
		}
		for _, id := range s.DependsOn {
			if needed := p.Story(id); needed == nil || !needed.Passes {
				story.BlockedBy = append(story.BlockedBy, id)
			}
		}
		if story.State = planState(s, len(story.BlockedBy) > 0); story.State == planAtCap {
			out.AtCap = append(out.AtCap, s.ID)
		}
		if slices.Contains(v.Unrecorded, s.ID) {
			story.State = planUnrecorded
		}
		out.Stories = append(out.Stories, story)
	}
	return out
}

// inOrder is the plan's stories in an order in which they can be done; without such an order, as the file has them.
func inOrder(p plan.Plan) []plan.Story {
	ids, err := p.Order()
	if err != nil {
		return p.Stories
	}
	return safetext.Map(ids, func(id string) plan.Story { return *p.Story(id) })
}

func planState(s plan.Story, blocked bool) string {
	switch {
	case s.AtCap():
		return planAtCap
	case s.Person() != "":
		return planByHand
	case s.ReviewStatus == plan.Approved:
		return planApproved
	case s.Passes:
		return planUnreviewed
	case s.ReviewStatus == plan.NeedsReview:
		return planInReview
	case s.ReviewStatus == plan.ChangesRequested:
		return planChanges
	case blocked:
		return planBlocked
	}
	return planTodo
}

// planClasses are how Mermaid draws the states.
const planClasses = `  classDef todo fill:#ffffff,stroke:#666666,color:#000000
  classDef blocked fill:#eeeeee,stroke:#999999,color:#555555
  classDef needs_review fill:#fff3c4,stroke:#b8860b,color:#000000
  classDef changes_requested fill:#ffd9c4,stroke:#c0522b,color:#000000
  classDef approved fill:#d3f2d3,stroke:#2b7a2b,color:#000000
  classDef approved_at_cap fill:#ffb3b3,stroke:#b00000,color:#000000,stroke-width:3px
  classDef approved_by_hand fill:#d3f2d3,stroke:#2b7a2b,color:#000000,stroke-dasharray:4
  classDef unrecorded fill:#ffd9c4,stroke:#b00000,color:#000000,stroke-dasharray:4
  classDef passed fill:#d3e6f2,stroke:#2b5a7a,color:#000000
  classDef working stroke-width:4px
`

// Mermaid is the plan as a graph: an arrow leads from a story to those that wait for it, and a story's class is its
// state. Nothing that someone wrote into the plan can break out of its label.
func (st PlanStanding) Mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	at := make(map[string]int, len(st.Stories))
	for i, s := range st.Stories {
		at[s.ID] = i + 1
		words := planWords[s.State].words
		if s.Working != "" {
			words = cmp.Or(workingWords[s.Working], words)
		}
		fmt.Fprintf(&b, "  s%d[\"%s: %s<br/>%s\"]:::%s\n", i+1, mermaid(s.ID, 40), mermaid(s.Title, 60), words, s.State)
	}
	for i, s := range st.Stories {
		for _, id := range s.DependsOn {
			if from, known := at[id]; known {
				fmt.Fprintf(&b, "  s%d --> s%d\n", from, i+1)
			}
		}
		if s.Working != "" {
			fmt.Fprintf(&b, "  class s%d working\n", i+1)
		}
	}
	b.WriteString(planClasses)
	return b.String()
}

// mermaid is a text as a part of a quoted label: letters, digits and a few signs as they are, everything else as its
// number.
func mermaid(s string, most int) string {
	var b strings.Builder
	for _, r := range wording.Brief(s, most) {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), strings.ContainsRune(" .,-", r):
			b.WriteRune(r)
		case unicode.Is(unicode.C, r): // no one sees it
		default:
			fmt.Fprintf(&b, "#%d;", r)
		}
	}
	return b.String()
}

//go:embed archive.md
var archiveText string

// PlanSummary is the summary of an archived plan, in Markdown: how far it came, what its reviews took, which stories no
// review found good. from and to are dates as people write them. why says that the plan could not
// be read; empty: it could. Titles and feedback are foreign text, and made inert.
func PlanSummary(v PlanView, title, from, to, why string) string {
	safe := report.Words{Redact: v.Redact, Phrase: "/ralph"}
	t := template.Must(template.New("archive").Funcs(template.FuncMap{
		"text": safe.Text, "code": safe.Code, "fence": safe.Fence, "row": wording.Row, "trim": strings.TrimSpace,
		"words": func(state string) string { return planWords[state].words },
	}).Parse(archiveText))
	st, dates := StandPlan(v), to
	if from != to {
		dates = from + " to " + to
	}
	reviews, most := 0, 0
	for _, s := range st.Stories {
		reviews, most = reviews+s.Reviews, max(most, s.Reviews)
	}
	return filled(t, struct {
		PlanStanding

		Title, Dates, Why    string
		Reviews, MostReviews int
	}{st, title, dates, why, reviews, most})
}

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
