package prompt

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
)

// Review writes the reviewer's prompt of a run without criteria: the task, the diff from the run's base, and the form
// of the answer. tree is what the verdict is bound to.
func (w Writer) Review(s loop.State, tree, diff string) (string, error) {
	return w.Judge(s, task.Reviewer, tree, diff, "", nil)
}

// Judge writes the prompt of a role that only reads. promise is what it must give with an approval, empty: nothing.
// noticed are the verdicts of the iteration that is being judged; the prompt lists the soft ones that failed, because
// the judge should check them.
func (w Writer) Judge(s loop.State, role task.Role, tree, diff, promise string, noticed []loop.Verdict) (string,
	error) {
	want := wanted{shown: s.Start.Completion != nil || promise != "" || role != task.Reviewer,
		signal: `"verdict": "approve"`}
	if promise != "" {
		want.promise = lineOf(promise, 1<<10)
		want.signal = "<promise>" + want.promise + "</promise>"
	}
	n := 1
	if last := s.Last(); last != nil {
		n = last.N
	}
	border := judgeFence(s.Start.Run, tree)
	p := parts{common: common{
		Role: string(role), Iteration: n, MaxIterations: s.MaxIterations, Title: border.Around(title(s)),
		Task: w.taskText(s, border, forJudges), Hints: asides(s, border), Completion: completion(s, role, n, want, border),
	}, judging: judging{
		Tree: tree, Change: fmt.Sprintf("From %s to the tree %s:\n\n%s", s.ChangeBase(), tree, border.Around(diff)),
		Noticed: joinedParts(harnessNoticed(border, noticed), toAccept(border, loop.ForReaders(s.Open(noticed)))),
		Answer:  answer(tree, want, loop.ForReaders(s.Open(noticed))),
	}}
	name := "review.md"
	if role == task.QA {
		name = "qa.md"
	}
	text, err := w.Templates.render(name, p)
	if err != nil {
		return "", err
	}
	return p.complete(text, judgeSections(p)), nil
}

// answer is the form in which a judge answers; it is read by a program.
func answer(tree string, w wanted, open []loop.Concern) string {
	return section("answer.md", map[string]any{"Tree": tree, "Promise": w.promise, "Open": len(open) > 0})
}

// harnessNoticed reports the soft checks that failed or have something to say: no reason to reject, but for a person to look at.
func harnessNoticed(border safetext.Border, verdicts []loop.Verdict) string {
	var items []string
	for _, v := range verdicts {
		if v.Severity != loop.Soft || v.Pass && !v.Says() || v.Skipped != "" {
			continue
		}
		items = append(items, strings.TrimSuffix(lineOf(v.Check, 80)+": "+line(v.Reason), ": "))
		for _, f := range v.Findings[:min(len(v.Findings), 5)] {
			items = append(items, errorLine(&loop.Verdict{Findings: []loop.Finding{f}}))
		}
	}
	if len(items) == 0 {
		return ""
	}
	return section("noticed.md", asData(border, "what it noticed", list(items, maxNoticed, "- ", "of the same")))
}

// toAccept lists what a judge has to accept by name, or to reject.
func toAccept(border safetext.Border, open []loop.Concern) string {
	if len(open) == 0 {
		return ""
	}
	var b strings.Builder
	room := maxToAccept
	for i, c := range open {
		item := fmt.Sprintf("- name: %s\n  what: %s\n", lineOf(c.Name, 120), lineOf(c.Message, 300))
		if c.File != "" {
			item += fmt.Sprintf("  where: %s\n", lineOf(position(c.File, c.Line), 200))
		}
		if c.Detail != "" {
			item += "\n" + verbatim(c.Detail) + "\n"
		}
		if room -= len(item); room < 0 {
			fmt.Fprintf(&b, "- names: %s\n", safetext.AndMore(loop.Names(open[i:]), loop.MaxConcerns))
			break
		}
		b.WriteString(item)
	}
	return section("to-accept.md", asData(border, "the list of them", b.String()))
}

// maxToAccept is how much room what has to be accepted gets; names are never left out.
const maxToAccept = 24 << 10
