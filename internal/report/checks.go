package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
)

// criteria are the newest reviewer's words on each criterion, those that are not met first.
func (v page) criteria() string {
	_, review := newestReview(v.State)
	if review == nil {
		return ""
	}
	list := slices.Clone(review.Criteria)
	slices.SortStableFunc(list, func(a, b loop.Criterion) int { return strings.Compare(fmt.Sprint(a.Met), fmt.Sprint(b.Met)) })
	rows := safetext.Map(list, func(c loop.Criterion) []string {
		sign := "❌ not met"
		if c.Met {
			sign = "✅ met"
		}
		return []string{sign, v.Text(c.Text, 200), v.Text(c.Reason, 300)}
	})
	return table("| | criterion | why |\n|---|---|---|\n", rows, v.most(50))
}

// checkTable lists the verdicts on an iteration's commit.
func (v View) checkTable(it *loop.Iteration, most int) string {
	if it == nil {
		return ""
	}
	shown, own, took := shownVerdicts(it.Verdicts)
	rows := safetext.Map(shown, func(c loop.Verdict) []string {
		return []string{v.Code(c.Check, 80), v.verdict(c), safetext.Duration(c.Duration)}
	})
	if own > 0 {
		rows = append(rows, []string{safetext.Count(own, "check") + " of ralph's own", "✅ pass", safetext.Duration(took)})
	}
	head := wording.Row(wording.JoinedBy(" on ", "check", v.commit(it)), "result", "time")
	return table(head+"|---|---|--:|\n", rows, most)
}

// shownVerdicts are the verdicts that people want to read: those of the repository's own commands and of reviewers, and
// all that did not simply pass. own counts the others, and took is their time.
func shownVerdicts(verdicts []loop.Verdict) (shown []loop.Verdict, own int, took time.Duration) {
	for _, c := range verdicts {
		if c.Pass && c.Skipped == "" && !c.Flaky && !c.Verification && ownNames[c.Check] {
			own++
			took += c.Duration
			continue
		}
		shown = append(shown, c)
	}
	return shown, own, took
}

// ownNames are the checks that ralph makes itself, of which no one wants to read unless they say no.
var ownNames = map[string]bool{
	loop.AgentCheck: true, loop.ClaimCheck: true, loop.DiffCheck: true, loop.PlanCheck: true, "protected paths": true,
	"weakened tests": true, "unfinished work": true,
}

var resultSigns = map[string]string{"skipped": "– skipped", "pass": "✅ pass", "warning": "⚠️ warning", "fail": "❌ fail"}

func (w Words) verdict(c loop.Verdict) string {
	sign, said := resultSigns[Result(c)], cmp.Or(c.Skipped, c.Reason)
	switch {
	case c.Skipped != "":
	case c.Pass && c.Flaky:
		return sign + ", ⚠️ flaky: it failed and passed on the same tree"
	case c.Pass && !c.Says():
		said = ""
	case c.Waits:
		sign = "⏳ waits"
	}
	return wording.JoinedBy(": ", sign, w.Text(said, 300))
}

// Verified is what happened to one promise.
type Verified struct {
	Iteration    int       `json:"iteration"`
	Role         task.Role `json:"role"`
	PromiseFound bool      `json:"promise_found"`
	Verified     bool      `json:"verified"`
	Reason       string    `json:"reason"`
	Timestamp    time.Time `json:"timestamp"`
}

// Verifications lists what happened to the promises of the whole run, oldest first. A role whose turn has yet to come has
// made none.
func Verifications(s loop.State) (list []Verified) {
	for i, it := range s.Iterations {
		if wrong, ok := unfitting(s, it); ok {
			list = append(list, wrong)
		}
		for _, c := range it.Verdicts {
			if !c.Verification || c.Later {
				continue
			}
			by := cmp.Or(c.Role, it.Role)
			reason := cmp.Or(c.Skipped, c.Reason)
			list = append(list, Verified{
				Iteration: it.N, Role: by, PromiseFound: promised(s.Iterations[:i+1], by, reason),
				Verified: c.Pass && c.Skipped == "",
				Reason:   reason, Timestamp: it.At.Add(it.Took).UTC(),
			})
		}
	}
	return list
}

// unfitting is a promise that is not the one which the role's criteria ask for; ok is false when an iteration has none.
func unfitting(s loop.State, it *loop.Iteration) (Verified, bool) {
	if it.Turn.Claim.Tag != "promise" || it.Turn.Claim.Done || s.Start.Completion.For(it.Role) == nil {
		return Verified{}, false
	}
	for _, c := range it.Verdicts {
		if c.Check == loop.ClaimCheck && c.Skipped == "" && !c.Pass {
			return Verified{Iteration: it.N, Role: it.Role, PromiseFound: true, Reason: c.Reason,
				Timestamp: it.At.Add(it.Took).UTC()}, true
		}
	}
	return Verified{}, false
}

// noPromise is a check's reason for a missing promise.
const noPromise = "No completion promise found"

// promised reports whether a role has made its promise: in its newest turn, or, of a role that takes none, unless the
// check says no.
func promised(its []*loop.Iteration, by task.Role, reason string) bool {
	if by.ReadOnly() {
		return !strings.Contains(reason, noPromise)
	}
	for _, it := range slices.Backward(its) {
		if it.Role == by {
			return it.Turn.Claim.Done
		}
	}
	return false
}

// verification is the table of the newest verification results.
func (v page) verification() string {
	list, note := newest(Verifications(v.State), v.most(15), "result")
	rows := safetext.Map(list, func(r Verified) []string {
		return []string{fmt.Sprint(r.Iteration), v.Text(string(r.Role), 20), wording.Yes(r.PromiseFound), wording.Yes(r.Verified),
			v.Text(r.Reason, 200)}
	})
	return note + table("| # | role | promise | verified | reason |\n|--:|---|---|---|---|\n", rows, len(rows))
}

// checkList says what decides, before and while it does.
func (v page) checkList() string {
	names := v.deciders(v.State, v.most(20))
	if names == "" {
		return ""
	}
	return wording.JoinedBy("\n", labeled("Checks that decide", names),
		wording.Sentence(v.Text(v.State.Start.Detected, 300)))
}

// deciders are the checks in their order, and the review.
func (w Words) deciders(s loop.State, most int) string {
	names := safetext.Map(s.Start.Checks, func(c string) string { return w.Code(c, 100) })
	review := ""
	switch {
	case s.Plan != nil && !s.Rules().SkipReview:
		review = "for each story a review by a fresh agent"
	case s.Plan == nil && s.Start.Review:
		review = "a review by a fresh agent"
	}
	return wording.JoinedBy(", ", safetext.FirstN(names, most), review)
}

// baseline names the checks that already failed before the run, those apart that pass by now.
func (w Words) baseline(s loop.State) string {
	names := map[bool][]string{}
	for _, c := range s.Baseline {
		if now := passes(s, c.Check); c.Skipped == "" && !c.Pass {
			names[now] = append(names[now], w.Code(c.Check, 80))
		}
	}
	return wording.JoinedBy("\n\n", labeled("Already failing before this run", safetext.FirstN(names[false], 10)),
		labeled("Failed before this run, and passes now", safetext.FirstN(names[true], 10)))
}

// MostFindings is how many places of a failure a report lists.
const MostFindings = 20

// place is where a finding is: file and line, or the test.
func (w Words) place(f loop.Finding) string { return w.Code(wording.Place(f), 120) }

// warned names what a person should look at though it does not block: why a failed check passes now, what was accepted by
// name, what the soft checks of the newest attempt found, such as weakened tests and unfinished markers, and the checks
// that passed only at the second try. Of a soft check that names no place it has so many lines of output.
func (v page) warned(most, lines int) string {
	var found []string
	if it := v.State.LastJudged(); it != nil {
		for _, c := range it.Verdicts {
			if c.Says() {
				found = append(found, safetext.UpperFirst(v.Text(c.Reason, 300)))
			}
		}
	}
	found = append(found, v.accepted()...)
	for _, c := range warnings(v.State) {
		found = append(found, v.warning(c, lines))
	}
	if flaky := v.flaky(v.State, most); flaky != "" {
		found = append(found, "⚠️ flaky, they failed and passed on the same tree: "+flaky)
	}
	return items(found, most)
}

// warning is one soft check's item, with the places it names, or else what it said.
func (v page) warning(c loop.Verdict, lines int) string {
	text := wording.JoinedBy(": ", "⚠️ "+v.Code(c.Check, 80), v.Text(c.Reason, 300)) + "\n"
	if len(c.Findings) > 0 {
		return text + "  " + strings.ReplaceAll(strings.TrimSpace(v.places(c, 0)), "\n", "\n  ")
	}
	if strings.TrimSpace(c.Output) == "" || lines == 0 {
		return text
	}
	return text + "\n" + v.Fence(c.Output, lines) + "\n"
}

// flaky names the checks that failed and passed on one and the same tree, in any attempt.
func (w Words) flaky(s loop.State, most int) string {
	var names []string
	for _, it := range s.Iterations {
		for _, c := range it.Verdicts {
			if name := w.Code(c.Check, 80); c.Flaky && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return safetext.FirstN(names, most)
}

// lastFailure shows the newest failure, folded: the places that it names, and the lines of its output around them. If
// told is true, its reason and its first place are above already, and are left out.
func (v page) lastFailure(told bool) string {
	it := v.State.LastJudged()
	if it == nil || it.Failure() == nil || it.Failure().Waits {
		return ""
	}
	f := it.Failure()
	// GitHub reads no Markdown in a summary; the name is escaped for HTML instead.
	return wording.Folded(fmt.Sprintf("Last failure: iteration %d, <code>%s</code>", it.N, v.html(f.Check, 60)),
		v.failureOf(it, told))
}

// mostPlaces is how many places of a failure are named before its output.
const mostPlaces = 5

// failureOf is what blocked an iteration: why, where, and what was printed.
func (v page) failureOf(it *loop.Iteration, told bool) string {
	f := it.Failure()
	if f == nil {
		return ""
	}
	var p wording.Markdown
	first := 1
	if !told {
		p.Part(safetext.UpperFirst(wording.Sentence(v.Text(wording.Unplaced(*f), 400))))
		first = 0
	}
	p.Part(v.places(*f, first))
	if strings.TrimSpace(f.Output) != "" {
		p.Part(v.fenceAt(f.Output, f.Findings, v.most(60)))
	}
	p.Part(v.turnEnd(it))
	return p.String()
}

// places are those that a failure names, without the first told ones, which are above already.
func (w Words) places(f loop.Verdict, told int) string {
	return items(safetext.Map(f.Findings[min(told, len(f.Findings)):], func(found loop.Finding) string {
		return wording.JoinedBy(" — ", w.place(found), w.Text(wording.Said(found), 200))
	}), mostPlaces)
}

// turnEnd says how a turn ended that did not end well, where a check is what is shown as the failure; else "".
func (w Words) turnEnd(it *loop.Iteration) string {
	if it == nil || it.Turn.Class == loop.OK || it.Turn.Class == "" {
		return ""
	}
	if f := it.Failure(); f == nil || f.Check == loop.AgentCheck {
		return ""
	}
	return wording.JoinedBy(" ", "The turn itself:", wording.Sentence(w.Text(it.Turn.Reason, 300)))
}

// accepted is what was accepted by name in the newest attempt, by whom and why, for the person who merges.
func (v page) accepted() []string {
	concerns := map[string]loop.Concern{}
	if it := v.State.LastJudged(); it != nil {
		for _, c := range it.Verdicts {
			for _, one := range c.Concerns {
				concerns[one.Name] = one
			}
		}
	}
	return safetext.Map(v.State.Taken(), func(a loop.Acceptance) string { return v.taken(a, concerns[a.Name]) })
}

// taken says who has accepted what, what that is if it is known, and why.
func (w Words) taken(a loop.Acceptance, what loop.Concern) string {
	by := cmp.Or(a.By, "the person who ran it")
	if by == loop.ReviewCheck {
		by = "the reviewer"
	}
	text := "accepted by " + w.Text(by, 60) + ": " + w.Code(a.Name, 120) + w.whatOf(what)
	if reason := w.Text(a.Reason, 300); reason != "" {
		text += " (" + reason + ")"
	}
	return text
}

// whatOf is what a finding says: where, and the sentence.
func (w Words) whatOf(c loop.Concern) string {
	text := ""
	if c.File != "" && loop.ConcernName(c.File) != c.Name {
		text = " in " + w.Code(wording.Place(loop.Finding{File: c.File, Line: c.Line}), 120)
	}
	if message := w.Text(c.Message, 300); message != "" {
		text += ": " + message
	}
	return text
}

// takenInPlain is what was accepted by name, for the line of a console.
func (v View) takenInPlain() string {
	return safetext.FirstN(safetext.Map(v.State.Taken(), func(a loop.Acceptance) string { return v.taken(a, loop.Concern{}) }),
		mostNames)
}

// fileList lists files; hidden are those that no record names.
func (w Words) fileList(files []ranked, hidden, most int) string {
	list := items(safetext.Map(files, w.fileLine), most)
	if list != "" && hidden > 0 {
		list += "- " + safetext.Count(hidden, "file") + " that no record names\n"
	}
	return list
}

func (w Words) fileLine(f ranked) string {
	line := w.Code(f.Path, 150)
	if f.Added < 0 {
		line += " (binary)"
	} else {
		line += fmt.Sprintf(" (+%d −%d)", f.Added, f.Deleted)
	}
	switch {
	case wording.RiskJudges(f.risk) && f.Added >= 0 && f.Deleted == 0:
		line += " — adds to a test or a check"
	default:
		if why := wording.WhyRisky(f.Path); why != "" {
			line += " — ⚠️ " + why
		}
	}
	return line
}

// riskiest lists all changed files.
func (v page) riskiest() string {
	files, hidden := rankedFiles(v.State)
	return v.fileList(files, hidden, v.most(20))
}
