package report

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/event"
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
	files, hidden := v.ranked()
	return v.fit(pullLimit, func(r room) string {
		sections := v.pullSections(r, files, hidden)
		if strings.TrimSpace(v.Template) == "" || r.spec == 0 {
			return written(sections)
		}
		return v.intoTemplate(sections)
	})
}

func (v View) pullSections(r room, files []ranked, hidden int) []section {
	if v.State.End == nil {
		return v.draftSections(r)
	}
	var state wording.Markdown
	state.Part("**" + v.headline() + "**")
	if v.sendBack() != "" && v.mergeable() {
		state.Part(whatNowIs + "review this pull request and merge it, or send it back: see the end.")
	} else {
		state.Part(v.whatNow())
	}
	state.Part(v.atCap(r))
	all := []section{
		{"closes", "", v.closes()}, {"state", "", state.String()}, {"asked", "What was asked", v.task(r)},
		{"done", "What changed, and why", v.change(r, files, hidden)},
		{"stories", "Stories", v.storyList(r.screen())}, {"checks", "How it was verified", v.verified(r)},
		{"look", "What to look at", v.warned(r.screen())}, {"back", "Send it back", v.sendBack()},
		{"rest", "", wording.JoinedBy("\n", wording.Folded(gitTitle, v.gitNotes()), v.howItWent(r))},
	}
	return withText(all)
}

// draftSections are those of a run that continues. They are written once, with the first commit, so they tell nothing
// that changes before the end.
func (v View) draftSections(r room) []section {
	state := "**🔄 Working on it" + v.unboxed() + ": a comment below says how far it is.**\n\n" + v.whatNow()
	decide := ""
	if names := v.deciders(r.checks); names != "" {
		decide = "By " + names + "."
	}
	return withText([]section{{"closes", "", v.closes()}, {"state", "", state}, {"asked", "What was asked", v.task(r)},
		{"checks", "How it will be verified", decide}})
}

// withText are the sections that say anything.
func withText(all []section) []section {
	return slices.DeleteFunc(all, func(s section) bool { return strings.TrimSpace(s.body) == "" })
}

func (v View) closes() string {
	if v.State.Start.Issue == 0 {
		return ""
	}
	return fmt.Sprintf("Closes #%d", v.State.Start.Issue)
}

// title is what was asked in one line.
func (v View) title() string {
	if title := v.Text(v.State.Start.Title, 200); title != "" {
		return "**" + title + "**\n"
	}
	return ""
}

// task is what was asked in one line, with its wording folded.
func (v View) task(r room) string {
	return wording.JoinedBy("\n", v.title(), wording.Folded("The task as it was asked", v.wording(r)))
}

// wording quotes what was asked as it was when it was asked, and the maintainers' hints.
func (v View) wording(r room) string {
	s := v.State
	var p wording.Markdown
	if r.spec > 0 && strings.TrimSpace(s.Start.Spec) != "" {
		p.Part(v.quote(s.Start.Spec, r.spec))
	}
	for i, hint := range s.Hints {
		if i == r.remarks {
			p.Part(fmt.Sprintf("%s more", safetext.Count(len(s.Hints)-i, "hint")))
			break
		}
		p.Part("Hint: " + v.Text(hint.Text, 500))
	}
	return p.String()
}

// change is what the run changed and why: the files, the riskiest first, and the agent's word on it.
func (v View) change(r room, files []ranked, hidden int) string {
	var p wording.Markdown
	p.Part(v.fileList(files, hidden, min(r.files, mostFiles)))
	if rest := files[min(len(files), mostFiles):]; len(rest) > 0 && r.files > mostFiles {
		p.Part(wording.Folded("The other files", v.fileList(rest, 0, r.files)))
	}
	if said := v.inItsWords(); said != "" {
		p.Part("In the agent's words: “" + said + "”")
	}
	return p.String()
}

// mostFiles is how many changed files, or checks, a description names outside of anything folded.
const mostFiles = 8

// inItsWords is what the agent said of the newest change.
func (v View) inItsWords() string {
	for _, it := range slices.Backward(v.State.Iterations) {
		if it.Mode == loop.Review {
			continue
		}
		if said := v.Text(wording.Spoken(it), 300); said != "" && it.Commit != nil && !it.Commit.Empty {
			return said
		}
	}
	return ""
}

// verified is what judged the newest commit: the repository's own checks, the reviewer, and what was promised; and how
// to see it oneself.
func (v View) verified(r room) string {
	var p wording.Markdown
	p.Part(v.judgedBy(r))
	p.Part(v.baseline())
	if note := v.Text(v.TokenNote, 400); note != "" {
		p.Part("ℹ️ " + note)
	}
	if _, c := v.newestReview(); c != nil {
		p.Part(wording.Folded("What the reviewer said of each criterion",
			v.criteria(c.Criteria, min(mostCriteria, 3*r.checks))))
	}
	p.Part(wording.Folded("Promises", v.verification(r.rows)))
	p.Part(wording.Folded("Try it yourself", v.tryIt()))
	return p.String()
}

// judgedBy is one line for what passed, and one for each check that did not.
func (v View) judgedBy(r room) string {
	it := v.Judged()
	if it == nil || r.checks == 0 {
		return "Not yet: the checks have not run.\n"
	}
	var passed []string
	var b strings.Builder
	told := 0
	shown, _, _ := v.shownVerdicts(it.Verdicts)
	for _, c := range shown {
		switch {
		case c.Says(), c.Check == loop.ReviewCheck || c.Verification && c.Pass || c.Severity == loop.Soft || c.Skipped != "" &&
			!v.isCommand(c.Check):
		case c.Pass && c.Skipped == "":
			passed = append(passed, v.Code(c.Check, 80))
		case told == min(r.checks, mostFiles):
		default:
			told++
			b.WriteString("- " + v.notPassed(c) + "\n")
		}
	}
	text := ""
	if n := len(passed); n > 0 {
		if most := min(r.checks, mostFiles); n > most {
			passed = append(passed[:most], fmt.Sprintf("%d more", n-most))
		}
		text = "- ✅ " + strings.Join(passed, ", ") + safetext.Plural(n, " passes", " pass")
		if sha := v.commit(it); sha != "" {
			text += " on " + sha
		}
		text += "\n"
	}
	return text + b.String() + v.reviewLine()
}

// notPassed is a check that did not pass; why is in the headline where it is what stopped the run.
func (v View) notPassed(c loop.Verdict) string {
	name := v.Code(c.Check, 80)
	f := v.State.Failure()
	switch {
	case c.Skipped != "":
		return "– " + name + " did not run: " + v.Text(c.Skipped, 120)
	case f != nil && f.Check == c.Check && v.State.End != nil:
		return "❌ " + name + " fails"
	case c.Waits:
		return "⏳ " + name + ": " + v.Text(c.Reason, mostCause)
	}
	return "❌ " + wording.JoinedBy(" fails — ", name, v.failureInBrief(c))
}

// reviewLine is what the reviewer came to, or that there was none.
func (v View) reviewLine() string {
	it, c := v.newestReview()
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
	case f != nil && f.Check == c.Check && it == v.Judged(): // the headline has the rest
		word = asksForChanges
	}
	if it != v.Judged() {
		word += fmt.Sprintf(" (in iteration %d)", it.N)
	}
	met := 0
	for _, criterion := range c.Criteria {
		if criterion.Met {
			met++
		}
	}
	if n := len(c.Criteria); n > 0 {
		said = wording.JoinedBy("; ", said, fmt.Sprintf("%d of %s met", met,
			safetext.Plural(n, "1 criterion", fmt.Sprintf("%d criteria", n))))
	}
	return "- " + sign + wording.JoinedBy(": ", word, said) + "\n"
}

// sendBack says how a reviewer of finished work gets something else; "" before there is any.
func (v View) sendBack() string {
	if v.local() || v.State.End == nil || v.State.End.Outcome != loop.Done {
		return ""
	}
	review := ""
	if v.Ways.Work(event.Reviewed) {
		review = "Request changes in a review"
	}
	return parts(review, v.Offer("fix", "works on what reviews ask for"), v.Offer("retry <what to change>", "works on what you write"),
		v.Offer("retry --fresh <what to do>", "starts over and keeps this work under another name"))
}

// howItWent is one line an iteration, and what it cost, folded.
func (v View) howItWent(r room) string {
	if len(v.State.Iterations) == 0 {
		return ""
	}
	return wording.Folded("How it went", wording.JoinedBy("\n", v.steps(r.rows), v.cost()+"\n"))
}

func (v View) steps(most int) string {
	its := v.State.Iterations
	var b strings.Builder
	if hidden := len(its) - most; hidden > 0 {
		fmt.Fprintf(&b, "- %s not shown\n", safetext.Count(hidden, "earlier iteration"))
		its = its[hidden:]
	}
	for _, it := range its {
		fmt.Fprintf(&b, "- **%d, %s:** %s%s; %s%s\n", it.N, v.who(it), v.done(it), v.names(it, 3), v.result(it),
			v.firstWords(it))
	}
	return b.String()
}

// names are the files of an iteration that changed most.
func (v View) names(it *loop.Iteration, most int) string {
	if it.Commit == nil || it.Commit.Empty || len(it.Commit.Files) == 0 {
		return ""
	}
	files := slices.Clone(it.Commit.Files)
	slices.SortStableFunc(files, func(a, b loop.FileChange) int { return b.Added + b.Deleted - a.Added - a.Deleted })
	var names []string
	for _, f := range files[:min(len(files), most)] {
		names = append(names, v.Code(path.Base(f.Path), 40))
	}
	if more := len(files) + it.Commit.MoreFiles - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return ": " + strings.Join(names, ", ")
}

// firstWords is the first line of what the agent says that it did.
func (v View) firstWords(it *loop.Iteration) string {
	said, _, _ := strings.Cut(strings.TrimSpace(wording.Spoken(it)), "\n")
	if said = v.Text(said, 160); said == "" {
		return ""
	}
	return " — “" + said + "”"
}

// tryIt is the block that brings the branch to a clone and runs its checks.
func (v View) tryIt() string {
	s := v.State
	branch := wording.ShellWord(safetext.OneLine(v.Clean(s.Kept().Name())))
	if v.local() || s.Kept().Name() == "" || len(branch) > wording.MaxURL {
		return ""
	}
	lines := "git fetch origin " + branch + "\ngit checkout FETCH_HEAD\n"
	if v.Dir != "" {
		lines += "cd " + wording.ShellWord(safetext.OneLine(v.Clean(v.Dir))) + "\n"
	}
	for _, c := range s.Start.Checks {
		if c = v.Clean(strings.TrimSpace(c)); len(lines)+len(c) > 4<<10 {
			break
		}
		lines += c + "\n"
	}
	return safetext.Fence(lines)
}
