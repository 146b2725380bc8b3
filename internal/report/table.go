package report

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/regex"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
)

// column is one column of the table of iterations.
type column struct {
	name, rule string
	cell       func(*loop.Iteration) string
}

// table is the table of the newest iterations. In short it has as few columns as fit a phone.
func (v View) table(most int, short bool) string {
	its, note := newest(v.State.Iterations, most, "iteration")
	cols := v.columns(short)
	rows := safetext.Map(its, func(it *loop.Iteration) []string {
		return safetext.Map(cols, func(c column) string { return c.cell(it) })
	})
	if t := v.State.Turning; t != nil && v.State.End == nil {
		took := ""
		if v.Now.After(t.At) {
			took = safetext.Duration(v.Now.Sub(t.At))
		}
		rows = append(rows, []string{fmt.Sprint(t.Iteration), v.Who(t.Story, t.Role, t.Mode), "⏳ agent works", took})
	}
	rule := "|"
	for _, c := range cols {
		rule += c.rule
	}
	head := wording.Row(safetext.Map(cols, func(c column) string { return c.name })...)
	return note + table(head+rule+"\n", rows, len(rows))
}

// columns are those that have anything to show: tokens and cost are left out if no agent reports them.
func (v View) columns(short bool) []column {
	cols := []column{
		{"#", "--:|", func(it *loop.Iteration) string { return fmt.Sprint(it.N) }},
		{"for", "---|", func(it *loop.Iteration) string { return v.Who(it.Story, it.Role, it.Mode) }},
		{"checks", "---|", v.Result},
		{"time", "--:|", func(it *loop.Iteration) string { return safetext.Duration(wording.IterationTime(it)) }},
	}
	if short {
		return cols
	}
	cols = append(cols, column{"changed", "---|", wording.Changed})
	var known loop.Usage
	for _, it := range v.State.Iterations {
		known = known.Plus(wording.Usage(it))
	}
	if known.Tokens() > 0 {
		cols = append(cols, column{"tokens in / out", "--:|", func(it *loop.Iteration) string {
			u := wording.Usage(it)
			return wording.Tokens(u.Tokens()-u.Output) + " / " + wording.Tokens(u.Output)
		}})
	}
	if known.CostUSD > 0 {
		cols = append(cols, column{"cost", "--:|", func(it *loop.Iteration) string {
			if c := wording.Usage(it).CostUSD; c > 0 {
				return wording.Dollars(c)
			}
			return ""
		}})
	}
	return append(cols, column{"began", "---|", func(it *loop.Iteration) string { return wording.Clock(it.At) }})
}

// Who takes a turn and for what: the story, the role when there are several, and the mode.
func (v View) Who(story string, role task.Role, mode loop.Mode) string {
	if story != "" {
		story = v.name(story, 40)
	}
	if !Roles(v.State) {
		role = ""
	}
	return wording.JoinedBy(", ", story, v.Text(string(role), 20), v.Text(string(mode), 20))
}

// Result is what the checks said of an iteration, in a sign and words.
func (v View) Result(it *loop.Iteration) string {
	if !it.Judged {
		return v.unjudged(it)
	}
	switch f := it.Failure(); {
	case f != nil && f.Waits:
		return "⏳ waits for " + v.Code(f.Check, 60)
	case f != nil:
		return "❌ fail: " + v.Code(f.Check, 60)
	}
	passed, warned, skipped := Counts(it.Verdicts)
	text := fmt.Sprintf("✅ pass: %d", passed)
	if word := wording.Handed(it); word != "" {
		text = fmt.Sprintf("%s; pass: %d", word, passed)
	}
	if skipped > 0 {
		text += fmt.Sprintf(", %d skipped", skipped)
	}
	if warned > 0 {
		text += ", ⚠️ " + safetext.Count(warned, "warning")
	}
	return text
}

// unjudged is the result of an iteration that the checks have not judged.
func (v View) unjudged(it *loop.Iteration) string {
	switch {
	case v.State.End == nil && it.N == v.State.Last().N:
		return "⏳ checks run"
	case it.Turn.Class != loop.OK:
		return "not checked: " + v.Text(string(it.Turn.Class), 20)
	}
	return "not checked"
}

// steps tells each of the newest iterations in one item: what changed, what failed, what it cost, what the agent said.
// A repeated failure is written once; told is a failure that is above already.
func (v page) steps(told *loop.Verdict) string {
	its, note := newest(v.State.Iterations, v.most(10), "iteration")
	seen := map[string]string{}
	if told != nil && told.Hash != "" {
		seen[told.Hash] = "the failure above"
	}
	return note + items(safetext.Map(its, func(it *loop.Iteration) string {
		text := fmt.Sprintf("**%d, %s:** %s%s; %s", it.N, v.Who(it.Story, it.Role, it.Mode), v.done(it), v.names(it, 3),
			wording.JoinedBy(" — ", v.Result(it), v.whyFailed(it, seen)))
		return wording.JoinedBy("\n  The agent said: ", text+" · "+v.spentOn(it), v.Text(wording.Spoken(it), 240))
	}), len(its))
}

// whyFailed is why an iteration failed, or which of those that were seen before it failed by again.
func (w Words) whyFailed(it *loop.Iteration, seen map[string]string) string {
	f := it.Failure()
	if f == nil {
		return ""
	}
	if before, again := seen[f.Hash]; again && f.Hash != "" {
		return before
	}
	seen[f.Hash] = fmt.Sprintf("the same failure as in %d", it.N)
	why := f.Reason
	switch {
	case f.Check == loop.ReviewCheck && strings.TrimSpace(f.Output) != "":
		why = f.Output // what the reviewer wants
	case len(f.Findings) > 0 && !strings.Contains(why, f.Findings[0].Message):
		why = wording.JoinedBy(": ", why, wording.JoinedBy(" ", wording.Place(f.Findings[0]), wording.Said(f.Findings[0])))
	}
	return w.Text(why, 300)
}

// names are the files of an iteration that changed most.
func (w Words) names(it *loop.Iteration, most int) string {
	if it.Commit == nil || it.Commit.Empty || len(it.Commit.Files) == 0 {
		return ""
	}
	files := slices.Clone(it.Commit.Files)
	slices.SortStableFunc(files, func(a, b loop.FileChange) int { return b.Added + b.Deleted - a.Added - a.Deleted })
	names := safetext.Map(files[:min(len(files), most)], func(f loop.FileChange) string { return w.Code(path.Base(f.Path), 40) })
	if len(files)+it.Commit.MoreFiles > most {
		names = append(names, "…")
	}
	return ": " + strings.Join(names, ", ")
}

// attempts is the table of iterations that were judged, with the hash of each one's failure.
func (w Words) attempts(judged []*loop.Iteration) string {
	rows := safetext.Map(judged, func(it *loop.Iteration) []string {
		gate, hash := "passed", "-"
		if f := it.Failure(); f != nil {
			gate, hash = w.Text(f.Check, 60), cmp.Or(w.Text(f.Hash, 16), "-")
		}
		return []string{fmt.Sprint(it.N), gate, hash, wording.Yes(it.Shifted())}
	})
	return table("| # | Gate | Error Hash | Strategy Shift |\n|---|------|------------|----------------|\n", rows, len(rows))
}

// errorHistory is the table of every attempt; of many the newest.
func (v page) errorHistory() string {
	its, note := newest(v.State.Judged(), v.most(50), "attempt")
	return note + v.attempts(its)
}

// done says what an iteration changed, with its commit.
func (v View) done(it *loop.Iteration) string {
	text := cmp.Or(wording.Changed(it), "nothing committed")
	if sha := v.commit(it); sha != "" {
		text += " in " + sha
	}
	return text
}

var commitID = regex.Lazy(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

// commit names the commit of an iteration that changed something, with a link where there is a server.
func (v View) commit(it *loop.Iteration) string {
	if it.Commit == nil || it.Commit.Empty || !commitID.MatchString(it.Commit.SHA) {
		return ""
	}
	return wording.Link("`"+it.Commit.SHA[:7]+"`", v.Address("commit/"+it.Commit.SHA))
}

// spentOn is the time, the money and the tokens of an iteration.
func (v View) spentOn(it *loop.Iteration) string {
	return wording.JoinedBy(" · ", safetext.Duration(wording.IterationTime(it)), wording.UsageText(wording.Usage(it)),
		wording.AgentUsage(it.Turn))
}
