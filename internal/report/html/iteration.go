package html

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/regex"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// iteration is one iteration as the template shows it.
type iteration struct {
	N    int
	Open bool
	line
	Facts         []Fact
	Checks        []check
	MoreChecks    int
	Files         []file
	DiffNote      string
	Violations    []string
	Review, Asked string // of a review of a plan's story: its result, and what it asks for
	Said          string // the agent's last words
	Prompt        Prompt // the agent's prompt
	Less          string // one sentence on what is left out for want of room
}

// line is an iteration in one line.
type line struct{ Sign, Mood, What, Result, Took, Changed string }

// cut is the note on an iteration that the page has no room for.
const cut = "The page is full: the diff and the outputs of this iteration are left out; its commit and the run's journal have them."

// recent are the iterations that are open when they failed; the newest is open in any case.
const recent = 10

func (d Detail) shape(it *loop.Iteration, whole bool, age int) iteration {
	v := d.view()
	h := iteration{N: it.N, line: v.line(it), Facts: v.iterationFacts(it), Less: cut, Prompt: Prompt{URL: d.Prompts[it.N].URL},
		Said: v.brief(wording.Spoken(it), 300)}
	h.Open = age == 0 || h.Mood == "bad" && age < recent
	if whole {
		h.Less, h.Prompt.Text, h.Said = "", v.printed(d.Prompts[it.N].Text), v.printed(wording.Spoken(it))
	}
	h.Checks, h.MoreChecks = v.checks(it, whole)
	if c := it.Commit; c != nil {
		h.Files, h.DiffNote = d.files(it, whole)
		if c.Plan != nil {
			v.advanced(&h, *c.Plan)
		}
	}
	return h
}

// standing is how an iteration ended, as a mood.
func standing(it *loop.Iteration) string {
	switch _, failed, _ := report.Counts(it.Verdicts); {
	case !it.Judged:
		return "wait"
	case it.Failure() != nil:
		return "bad"
	case failed > 0:
		return "warn"
	}
	return "good"
}

// line is an iteration in one line.
func (v view) line(it *loop.Iteration) line {
	mood, what := standing(it), v.InPlain().Who(it.Story, it.Role, it.Mode)
	if it.Shifted() {
		what = wording.JoinedBy(", ", what, "after a strategy shift")
	}
	result := strings.TrimSpace(signs.Replace(v.InPlain().Result(it)))
	return line{moodSigns[mood], mood, cmp.Or(what, "turn"), result, safetext.Duration(total(it)), wording.Changed(it)}
}

// signs are those of Markdown: the page has its own, which are in every font.
var signs = strings.NewReplacer("✅ ", "", "❌ ", "", "⏳ ", "", "⚠️ ", "", "↩️ ", "")

// advanced adds what happened to the plan.
func (v view) advanced(h *iteration, a loop.Advance) {
	h.Violations = safetext.Map(a.Violations[:min(len(a.Violations), mostChecks)], func(broken plan.Violation) string { return v.brief(broken.Text, 300) })
	if a.Opinion == nil {
		return
	}
	if h.Review = "changes requested"; a.Opinion.Approve {
		h.Review = "approved"
	}
	h.Asked = safetext.Shorten(v.printed(a.Opinion.Feedback), 4000)
}

// iterationFacts are the facts of an iteration, in a line each.
func (v view) iterationFacts(it *loop.Iteration) (list facts) {
	list.add("Claim", v.claimLine(it), "")
	if c := it.Commit; c != nil && !c.Empty && !c.Unchecked {
		name, url := v.brief(c.SHA, 40), ""
		if plainHash.MatchString(name) {
			name, url = name[:min(len(name), 12)], v.at("commit/"+name)
		}
		list.add("Commit", name, url)
	}
	if c := it.Commit; c != nil {
		list.add("Note", v.brief(c.Note, 800), "")
	}
	list.add("Began", stamp(it.At), "")
	turn, checks, review := parted(it)
	list.add("Agent", safetext.Duration(turn), "")
	list.add("Checks", safetext.Duration(checks), "")
	list.add("Review", safetext.Duration(review), "")
	list.add("Spent", wording.UsageText(wording.Usage(it)), "")
	list.add("Difference", wording.AgentUsage(it.Turn), "")
	if it.Turn.Tools > 0 {
		list.add("Tools", fmt.Sprintf("%d used, %d of them failed", it.Turn.Tools, it.Turn.ToolErrors), "")
	}
	return list
}

var plainHash = regex.Lazy(`^[0-9a-f]{7,64}$`)

// claimLine is what the agent said of its work, which proves nothing.
func (v view) claimLine(it *loop.Iteration) string {
	switch {
	case it.Turn.Class != loop.OK:
		return v.brief(string(it.Turn.Class)+": "+it.Turn.Reason, 300)
	case it.Turn.Claim.Done && it.Turn.Claim.Text != "":
		return "done: “" + v.brief(it.Turn.Claim.Text, 200) + "”"
	case it.Claimed():
		return "done"
	case it.Turn.Claim.Tag != "":
		return "“" + v.brief(it.Turn.Claim.Text, 200) + "”, which does not count"
	}
	return "none"
}

// files are the changed files of an iteration, with their diff where there is one and room for it.
func (d Detail) files(it *loop.Iteration, whole bool) (list []file, note string) {
	v := d.view()
	diff, ok := d.Diffs[it.N]
	if whole && ok && strings.TrimSpace(diff.Text) != "" {
		list, note = v.diffFiles(diff.Text)
		return v.counted(list, it.Commit.Files), wording.JoinedBy(" ", note, v.brief(diff.Note, 300))
	}
	list = safetext.Map(it.Commit.Files, v.listed)
	if it.Commit.MoreFiles > 0 {
		note = safetext.Count(it.Commit.MoreFiles, "more file") + " changed."
	}
	return list, wording.JoinedBy(" ", note, v.brief(diff.Note, 300))
}

// counted are the files of a diff with the numbers of lines that the commit tells: a diff may be cut.
func (v view) counted(files []file, told []loop.FileChange) []file {
	for _, t := range told {
		name := v.brief(t.Path, 200)
		i := slices.IndexFunc(files, func(f file) bool { return f.Name == name })
		if i >= 0 && t.Added >= 0 {
			files[i].Added, files[i].Deleted, files[i].Counted = t.Added, t.Deleted, true
		}
	}
	return files
}

// check is what one check said.
type check struct {
	Sign, Mood, Word, Name, Reason, Took string
	Findings                             []finding
	Output, OutputName                   string
	Prose                                bool // the output is someone's words
	Open                                 bool
	Hash, Role                           string
}

// finding is one place that a check names.
type finding struct{ Place, Message string }

// mostChecks bounds what an iteration lists.
const mostChecks = 50

func (v view) checks(it *loop.Iteration, whole bool) (list []check, more int) {
	most := min(len(it.Verdicts), mostChecks)
	return safetext.Map(it.Verdicts[:most], func(c loop.Verdict) check { return v.check(c, it.Failure(), whole) }), len(it.Verdicts) - most
}

func (v view) check(c loop.Verdict, failure *loop.Verdict, whole bool) check {
	h := check{Word: report.Result(c), Name: v.brief(c.Check, 200), Reason: v.brief(cmp.Or(c.Skipped, c.Reason), 400),
		Took: safetext.Duration(c.Duration), OutputName: "What it printed", Role: v.brief(string(c.Role), 20)}
	h.Mood = map[string]string{"skipped": "wait", "pass": "good", "warning": "warn", "fail": "bad"}[h.Word]
	switch {
	case c.Skipped != "":
		h.Took = ""
	case c.Pass && c.Flaky:
		h.Mood, h.Word, h.Reason = "warn", "flaky", "it failed and passed on the same tree"
	case h.Word == "fail":
		h.Hash, h.Open = v.brief(c.Hash, 16), failure != nil && failure.Check == c.Check
	}
	h.Sign = moodSigns[h.Mood]
	if reviews(c) {
		h.OutputName, h.Prose = "What the reviewer said", true
	}
	if whole {
		h.Output = v.printed(c.Output)
		for _, f := range c.Findings[:min(len(c.Findings), report.MostFindings)] {
			h.Findings = append(h.Findings, finding{v.brief(wording.Place(f), 150), v.brief(wording.Said(f), 300)})
		}
	}
	return h
}
