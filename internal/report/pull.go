package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// PullBody is the pull request's description, at most 60,000 bytes: a screen of what a reviewer wants to know,
// in the order in which they want it or in that of the repository's own template, and the rest folded. How the run goes
// is the sticky comment's to tell.
func PullBody(v View) string {
	v = v.onPull()
	v.here = true // also before it has a number
	return v.fit(pullLimit, func(v page) string {
		sections := v.pullSections()
		if strings.TrimSpace(v.Template) == "" || v.room == 0 {
			return written(sections)
		}
		return v.intoTemplate(v.Template, sections)
	})
}

func (v page) pullSections() []section {
	if v.State.End == nil {
		return v.draftSections()
	}
	var state wording.Markdown
	state.Part("**" + v.headline() + "**")
	state.Part(v.whatNow())
	state.Part(v.atCap())
	all := []section{
		{"closes", "", closes(v.State)}, {"state", "", state.String()}, {"asked", "What was asked", v.task()},
		{"done", "What changed, and why", v.change()},
		{"stories", "Stories", v.storyList(v.most(8))}, {"checks", "How it was verified", v.verified()},
		{"look", "What to look at", v.warned(v.most(6), 0)},
		{"rest", "", wording.JoinedBy("\n", wording.Folded(gitTitle, v.gitNotes(v.State)), v.howItWent())},
	}
	return withText(all)
}

// draftSections are those of a run that continues. They are written once, with the first commit, so they have nothing
// that changes before the end.
func (v page) draftSections() []section {
	state := "**🔄 Working on it" + unboxed(v.State) + ": a comment below says how far it is.**\n\n" + v.whatNow()
	decide := ""
	if names := v.deciders(v.State, v.most(20)); names != "" {
		decide = "By " + names + "."
	}
	return withText([]section{{"closes", "", closes(v.State)}, {"state", "", state}, {"asked", "What was asked", v.task()},
		{"checks", "How it will be verified", decide}})
}

// withText are the sections that say anything.
func withText(all []section) []section {
	return slices.DeleteFunc(all, func(s section) bool { return strings.TrimSpace(s.body) == "" })
}

// change is what the run changed and why: the files, the riskiest first, and the agent's word on it.
func (v page) change() string {
	files, hidden := rankedFiles(v.State)
	var p wording.Markdown
	p.Part(v.fileList(files[:min(len(files), mostFiles)], hidden, v.most(mostFiles)))
	p.Part(wording.Folded("The other files", v.fileList(files[min(len(files), mostFiles):], 0, v.most(20))))
	if said := v.inItsWords(v.State); said != "" {
		p.Part("In the agent's words: “" + said + "”")
	}
	return p.String()
}

// mostFiles is how many changed files, or checks, a description names outside of anything folded.
const mostFiles = 8

// verified is what judged the newest commit: the repository's own checks, the reviewer, and what was promised; and how
// to see it oneself.
func (v page) verified() string {
	var p wording.Markdown
	if it := v.State.LastJudged(); it != nil {
		p.Part(v.checkTable(it, v.most(6)))
	} else {
		p.Part("Not yet: the checks have not run.")
	}
	p.Part(v.reviewLine())
	p.Part(v.baseline(v.State))
	if note := v.Text(v.TokenNote, 400); note != "" {
		p.Part("ℹ️ " + note)
	}
	p.Part(wording.Folded("What the reviewer said of each criterion", v.criteria()))
	p.Part(wording.Folded("Promises", v.verification()))
	p.Part(wording.Folded("Try it yourself", block(advice{v.View}.reproduce())))
	return p.String()
}

// reviewLine is the reviewer's verdict where there is more to it than that, or that the run had no reviewer.
func (v View) reviewLine() string {
	it, c := newestReview(v.State)
	s := v.State
	switch {
	case c == nil && s.Plan == nil && !s.Start.Review && s.End != nil && s.End.Outcome == loop.Done:
		return "- – no reviewer was asked\n"
	case c == nil:
		return ""
	}
	sign, word, said := "❌ ", v.refusal(*c), ""
	switch f := v.State.Failure(); {
	case c.Pass:
		sign, word, said = "✅ ", "the reviewer approves", v.Text(c.Reason, 300)
	case f != nil && f.Check == c.Check && it == v.State.LastJudged(): // the headline has the rest
		word = asksForChanges
	}
	if it != v.State.LastJudged() {
		word += fmt.Sprintf(" (in iteration %d)", it.N)
	}
	met := safetext.CountFunc(c.Criteria, func(criterion loop.Criterion) bool { return criterion.Met })
	if n := len(c.Criteria); n > 0 {
		said = wording.JoinedBy("; ", said, fmt.Sprintf("%d of %s met", met,
			safetext.Plural(n, "1 criterion", fmt.Sprintf("%d criteria", n))))
	}
	if c.Pass && said == "" && it == v.State.LastJudged() { // the headline and the table of checks have all of it
		return ""
	}
	return "- " + sign + wording.JoinedBy(": ", word, said) + "\n"
}

// howItWent is one line an iteration, and what it cost, folded.
func (v page) howItWent() string {
	if len(v.State.Iterations) == 0 {
		return ""
	}
	return wording.Folded("How it went", wording.JoinedBy("\n", v.steps(nil), v.cost()+"\n"))
}

// maxTitle is how many characters a pull request's title has at most.
const maxTitle = 120

// PullTitle is the pull request's title: the task's, as plain text that closes and mentions nothing, because a squash
// makes it the subject of a commit.
func PullTitle(v View) string {
	title := cmp.Or(plain(v.Clean(v.State.Start.Title)), plain(v.State.Start.Task))
	mark := v.capMark()
	return safetext.Shorten(title, maxTitle-utf8.RuneCountInString(mark)) + mark
}

// capMark says behind a title that stories were approved at the cap of reviews: the title alone must say so.
func (v View) capMark() string {
	switch ids := v.State.AtCap(); len(ids) {
	case 0:
		return ""
	case 1:
		return " (" + plain(safetext.Shorten(v.Redacted(ids[0]), 40)) + " approved at the cap)"
	default:
		return fmt.Sprintf(" (%d stories approved at the cap)", len(ids))
	}
}
