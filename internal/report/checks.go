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

// mostCriteria is how many acceptance criteria a report shows a verdict on.
const mostCriteria = 50

// criteria are the newest reviewer's words on each criterion, those that are not met first.
func (v page) criteria() string {
	_, review := newestReview(v.State)
	most := min(mostCriteria, 3*v.checks)
	if review == nil || len(review.Criteria) == 0 || most == 0 {
		return ""
	}
	list := slices.Clone(review.Criteria)
	slices.SortStableFunc(list, func(a, b loop.Criterion) int { return strings.Compare(fmt.Sprint(a.Met), fmt.Sprint(b.Met)) })
	text := "| | criterion | why |\n|---|---|---|\n"
	for i, c := range list {
		if i == most {
			return text + wording.Row("…", fmt.Sprintf("%d more", len(list)-most), "")
		}
		sign := "❌ not met"
		if c.Met {
			sign = "✅ met"
		}
		text += wording.Row(sign, v.Text(c.Text, 200), v.Text(c.Reason, 300))
	}
	return text
}

// checkTable lists the verdicts on an iteration's commit.
func (v View) checkTable(it *loop.Iteration, most int) string {
	if it == nil || most == 0 {
		return ""
	}
	shown, own, took := shownVerdicts(it.Verdicts)
	var b strings.Builder
	b.WriteString(wording.Row(wording.JoinedBy(" on ", "check", v.commit(it)), "result", "time") + "|---|---|--:|\n")
	for i, c := range shown {
		if i == most {
			b.WriteString(wording.Row("…", fmt.Sprintf("%d more", len(shown)-most), ""))
			break
		}
		b.WriteString(wording.Row(v.Code(c.Check, 80), v.verdict(c), wording.Duration(c.Duration)))
	}
	if own > 0 {
		b.WriteString(wording.Row(safetext.Count(own, "check")+" of ralph's own", "✅ pass", wording.Duration(took)))
	}
	return b.String()
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

func (w Words) verdict(c loop.Verdict) string {
	switch {
	case c.Skipped != "":
		return "– skipped: " + w.Text(c.Skipped, 120)
	case c.Pass && c.Flaky:
		return "✅ pass, ⚠️ flaky: it failed and passed on the same tree"
	case c.Says():
		return "✅ pass: " + w.Text(c.Reason, 300)
	case c.Pass:
		return "✅ pass"
	case c.Waits:
		return "⏳ waits: " + w.Text(c.Reason, 160)
	case c.Severity == loop.Soft:
		return "⚠️ warning: " + w.Text(c.Reason, 160)
	}
	return "❌ fail: " + w.Text(c.Reason, 160)
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
			by := c.Role
			if by == "" {
				by = it.Role
			}
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
	list := Verifications(v.State)
	if len(list) == 0 || v.rows == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("| # | role | promise | verified | reason |\n|--:|---|---|---|---|\n")
	if hidden := len(list) - v.rows; hidden > 0 {
		b.WriteString(wording.Row("…", "", "", fmt.Sprintf("%s not shown", safetext.Count(hidden, "earlier result")), ""))
		list = list[hidden:]
	}
	for _, r := range list {
		b.WriteString(wording.Row(fmt.Sprint(r.Iteration), v.Text(string(r.Role), 20), wording.Yes(r.PromiseFound),
			wording.Yes(r.Verified),
			v.Text(r.Reason, 200)))
	}
	return b.String()
}

// checkList says what decides, before and while it does.
func (v page) checkList() string {
	names := v.deciders(v.State, v.checks)
	if names == "" {
		return ""
	}
	text := "**Checks that decide:** " + names
	if v.State.Start.Detected != "" {
		text += "\n" + wording.Sentence(v.Text(v.State.Start.Detected, 300))
	}
	return text
}

// deciders are the checks in their order, and the review.
func (w Words) deciders(s loop.State, most int) string {
	var names []string
	for i, c := range s.Start.Checks {
		if i == most {
			names = append(names, fmt.Sprintf("%d more", len(s.Start.Checks)-most))
			break
		}
		names = append(names, w.Code(c, 100))
	}
	switch {
	case s.Plan != nil && !s.Rules().SkipReview:
		names = append(names, "for each story a review by a fresh agent")
	case s.Plan == nil && s.Start.Review:
		names = append(names, "a review by a fresh agent")
	}
	return strings.Join(names, ", ")
}

// baseline names the checks that already failed before the run, those apart that pass by now.
func (w Words) baseline(s loop.State) string {
	var failing, passing []string
	for _, c := range s.Baseline {
		switch {
		case c.Skipped != "" || c.Pass || len(failing)+len(passing) == 10:
		case passes(s, c.Check):
			passing = append(passing, w.Code(c.Check, 80))
		default:
			failing = append(failing, w.Code(c.Check, 80))
		}
	}
	text := ""
	if len(failing) > 0 {
		text = "**Already failing before this run:** " + strings.Join(failing, ", ") + "\n\n"
	}
	if len(passing) > 0 {
		text += "**Failed before this run, and passes now:** " + strings.Join(passing, ", ")
	}
	return strings.TrimSpace(text)
}

// MostFindings is how many places of a failure a report lists.
const MostFindings = 20

// place is where a finding is: file and line, or the test.
func (w Words) place(f loop.Finding) string { return w.Code(wording.Place(f), 120) }

// warned names what a person should look at though it does not block: why a failed check passes now, what the soft checks
// of the newest attempt found, such as weakened tests and unfinished markers, and the checks that passed only at the
// second try.
func (v page) warned() string {
	if v.remarks == 0 {
		return ""
	}
	var p wording.Markdown
	if it := v.State.LastJudged(); it != nil {
		for _, c := range it.Verdicts {
			if c.Says() {
				p.WriteString("- " + safetext.UpperFirst(v.Text(c.Reason, 300)) + "\n")
			}
		}
	}
	p.WriteString(v.accepted())
	for i, c := range warnings(v.State) {
		if i == v.remarks {
			p.Part(fmt.Sprintf("- %s more", safetext.Count(len(warnings(v.State))-i, "warning")))
			break
		}
		p.WriteString(v.warning(c))
	}
	if flaky := v.flaky(v.State, v.remarks); flaky != "" {
		p.WriteString("- ⚠️ flaky, they failed and passed on the same tree: " + flaky + "\n")
	}
	return p.String()
}

// warning is one soft check's item, with the places it names, or else what it said.
func (v page) warning(c loop.Verdict) string {
	text := "- ⚠️ " + v.Code(c.Check, 80)
	if reason := v.Text(c.Reason, 300); reason != "" {
		text += ": " + reason
	}
	text += "\n"
	for i, f := range c.Findings {
		if i == v.remarks {
			return text + fmt.Sprintf("  - %d more\n", len(c.Findings)-i)
		}
		text += "  - " + strings.TrimPrefix(v.place(f)+" — ", " — ") + v.Text(wording.Said(f), 200) + "\n"
	}
	if len(c.Findings) > 0 || strings.TrimSpace(c.Output) == "" || v.lines == 0 {
		return text
	}
	return text + "\n" + v.Fence(c.Output, min(v.lines, 10)) + "\n"
}

// flaky names the checks that failed and passed on one and the same tree, in any attempt.
func (w Words) flaky(s loop.State, most int) string {
	var names []string
	seen := map[string]bool{}
	for _, it := range s.Iterations {
		for _, c := range it.Verdicts {
			if !c.Flaky || seen[c.Check] {
				continue
			}
			seen[c.Check] = true
			if len(names) < most {
				names = append(names, w.Code(c.Check, 80))
			}
		}
	}
	if hidden := len(seen) - len(names); hidden > 0 {
		names = append(names, fmt.Sprintf("%d more", hidden))
	}
	return strings.Join(names, ", ")
}

// lastFailure shows the newest failure, folded: the places that it names, and the lines of its output around them. If
// told is true, its reason and its first place are above already, and are left out.
func (v page) lastFailure(told bool) string {
	it := v.State.LastJudged()
	if it == nil || it.Failure() == nil || it.Failure().Waits {
		return ""
	}
	f := it.Failure()
	if v.lines == 0 {
		return fmt.Sprintf("Last failure: iteration %d, %s.", it.N, v.Code(f.Check, 60))
	}
	// GitHub reads no Markdown in a summary; the name is escaped for HTML instead.
	return wording.Folded(fmt.Sprintf("Last failure: iteration %d, <code>%s</code>", it.N, v.html(f.Check, 60)),
		v.failureOf(it, told))
}

// mostPlaces is how many places of a failure are named before its output.
const mostPlaces = 5

// failureOf is what blocked an iteration: why, where, and what was printed.
func (v page) failureOf(it *loop.Iteration, told bool) string {
	f := it.Failure()
	if f == nil || v.lines == 0 {
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
		p.Part(v.fenceAt(f.Output, f.Findings, v.lines))
	}
	p.Part(v.turnEnd(it))
	return p.String()
}

// places are those that a failure names, without the first told ones, which are above already.
func (w Words) places(f loop.Verdict, told int) string {
	list := f.Findings[min(told, len(f.Findings)):]
	text := ""
	for i, found := range list {
		if i == mostPlaces {
			return text + fmt.Sprintf("- %d more\n", len(list)-i)
		}
		text += "- " + wording.JoinedBy(" — ", w.place(found), w.Text(wording.Said(found), 200)) + "\n"
	}
	return text
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

// accepted lists what was accepted by name in the newest attempt, by whom and why, for the person who merges.
func (v page) accepted() string {
	it := v.State.LastJudged()
	if it == nil || v.remarks == 0 {
		return ""
	}
	concerns := map[string]loop.Concern{}
	for _, c := range it.Verdicts {
		for _, one := range c.Concerns {
			concerns[one.Name] = one
		}
	}
	var b strings.Builder
	taken := v.State.Taken()
	for _, a := range taken[:min(len(taken), v.remarks)] {
		b.WriteString("- " + v.taken(a) + v.whatOf(concerns[a.Name]) + v.because(a) + "\n")
	}
	if n := len(taken) - v.remarks; n > 0 {
		b.WriteString("- " + safetext.Count(n, "more accepted finding") + "\n")
	}
	return b.String()
}

// taken says who has accepted what.
func (w Words) taken(a loop.Acceptance) string {
	return "accepted by " + w.Text(cmp.Or(accepter(a.By), "whoever ran it"), 60) + ": " + w.Code(a.Name, 120)
}

func (w Words) because(a loop.Acceptance) string {
	if reason := w.Text(a.Reason, 300); reason != "" {
		return " (" + reason + ")"
	}
	return ""
}

// accepter is who has accepted a finding: a role of the run, or a person.
func accepter(by string) string {
	switch by {
	case loop.ReviewCheck:
		return "the reviewer"
	case "qa":
		return "qa"
	case "":
		return ""
	}
	return by
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
	var parts []string
	list := v.State.Taken()
	for _, a := range list[:min(len(list), mostNames)] {
		parts = append(parts, v.taken(a)+v.because(a))
	}
	if n := len(list) - mostNames; n > 0 {
		parts = append(parts, safetext.Count(n, "more finding"))
	}
	return strings.Join(parts, "; ")
}

// fileList lists files; hidden are those that no record names.
func (w Words) fileList(files []ranked, hidden, most int) string {
	if len(files) == 0 || most == 0 {
		return ""
	}
	var b strings.Builder
	for i, f := range files {
		if i == most {
			hidden += len(files) - most
			break
		}
		b.WriteString(w.fileLine(f))
	}
	if hidden > 0 {
		fmt.Fprintf(&b, "- and %s more\n", safetext.Count(hidden, "file"))
	}
	return b.String()
}

func (w Words) fileLine(f ranked) string {
	line := "- " + w.Code(f.Path, 150)
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
	return line + "\n"
}

// riskiest lists all changed files.
func (v page) riskiest() string {
	files, hidden := rankedFiles(v.State)
	return v.fileList(files, hidden, v.files)
}
