package html

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
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

// measure is how much of an iteration is shown.
type measure int

// From everything to what the record of an iteration is without outputs.
const (
	everything measure = iota
	withoutDiff
	withoutOutput
)

var lessThan = map[measure]string{
	withoutDiff: "The page is full: the diff of this iteration is left out; its commit has it.",
	withoutOutput: "The page is full: the diff and the outputs of this iteration are left out; its commit and the run's " +
		"journal have them.",
}

// recent are the iterations that are open when they failed; the newest is open in any case.
const recent = 10

// shownIterations are the iterations as HTML, newest first, in at most limit bytes. The newest are shown whole. After
// 75% of the room they are shown without diffs, then without outputs, and the rest is counted.
func (d Detail) shownIterations(its []*loop.Iteration, limit int) (shown []template.HTML, hidden string, err error) {
	used := 0
	least := everything
	for i, it := range slices.Backward(its) {
		text, m, err := d.within(it, least, limit, used, len(its)-1-i)
		if err != nil {
			return nil, "", err
		}
		if used += len(text); used > limit {
			return shown, fmt.Sprintf("The page is full: %s not shown.", safetext.Count(i+1, "earlier iteration")), nil
		}
		least = m
		shown = append(shown, text)
	}
	return shown, "", nil
}

// within is an iteration with as much as there is room for, and never with more than least, which is what a newer one
// had to do with.
func (d Detail) within(it *loop.Iteration, least measure, limit, used, age int) (text template.HTML, m measure,
	err error) {
	for m = least; ; m++ {
		if text, err = d.iteration(it, m, age); err != nil || m == withoutOutput {
			return text, m, err
		}
		room := limit / 4 * 3
		if m == withoutDiff {
			room = limit / 8 * 7
		}
		if used+len(text) <= room {
			return text, m, nil
		}
	}
}

// iteration is one of them as HTML; age counts those that came after it.
func (d Detail) iteration(it *loop.Iteration, m measure, age int) (template.HTML, error) {
	var b bytes.Buffer
	if err := htmlTemplate().ExecuteTemplate(&b, "iteration", d.shape(it, m, age)); err != nil {
		return "", fmt.Errorf("writing iteration %d: %w", it.N, err)
	}
	return template.HTML(b.String()), nil // made by the template of this very page
}

func (d Detail) shape(it *loop.Iteration, m measure, age int) iteration {
	v := d.view()
	mood := standing(it)
	h := iteration{
		N:    it.N,
		line: line{moodSigns[mood], mood, v.purpose(it), v.ended(it), wording.Duration(total(it)), wording.Changed(it)},
		Open: age == 0 || mood == "bad" && age < recent, Facts: v.iterationFacts(it), Less: lessThan[m],
		Said: v.printed(wording.Spoken(it)),
	}
	h.Prompt = Prompt{URL: d.Prompts[it.N].URL}
	if m == everything {
		h.Prompt.Text = v.printed(d.Prompts[it.N].Text)
	}
	if m == withoutOutput {
		h.Said = v.brief(wording.Spoken(it), 300)
	}
	h.Checks, h.MoreChecks = v.checks(it, m)
	if c := it.Commit; c != nil {
		h.Files, h.DiffNote = d.files(it, m)
		if c.Plan != nil {
			v.advanced(&h, *c.Plan)
		}
	}
	return h
}

// advanced adds what happened to the plan.
func (v view) advanced(h *iteration, a loop.Advance) {
	for _, broken := range a.Violations[:min(len(a.Violations), mostChecks)] {
		h.Violations = append(h.Violations, v.brief(broken.Text, 300))
	}
	if a.Opinion == nil {
		return
	}
	if h.Review = "changes requested"; a.Opinion.Approve {
		h.Review = "approved"
	}
	h.Asked = safetext.Shorten(v.printed(a.Opinion.Feedback), 4000)
}

// iterationFacts are the facts of an iteration, in a line each.
func (v view) iterationFacts(it *loop.Iteration) (list []Fact) {
	add := func(name, value, url string) {
		if value != "" {
			list = append(list, Fact{name, value, url})
		}
	}
	add("For", v.aim(it), "")
	add("Claim", v.claimLine(it), "")
	if c := it.Commit; c != nil && !c.Empty && !c.Unchecked {
		name, url := v.brief(c.SHA, 40), ""
		if plainHash.MatchString(name) {
			name, url = name[:min(len(name), 12)], v.at("commit/"+name)
		}
		add("Commit", name, url)
	}
	if c := it.Commit; c != nil {
		add("Note", v.brief(c.Note, 800), "")
	}
	add("Began", stamp(it.At), "")
	turn, checks, review := parted(it)
	for _, t := range []Fact{{Name: "Agent", Value: wording.Duration(turn)},
		{Name: "Checks", Value: wording.Duration(checks)},
		{Name: "Review", Value: wording.Duration(review)}} {
		if t.Value != "0s" {
			list = append(list, t)
		}
	}
	add("Spent", wording.UsageText(wording.Usage(it)), "")
	add("Difference", wording.AgentUsage(it.Turn), "")
	if it.Turn.Tools > 0 {
		add("Tools", fmt.Sprintf("%d used, %d of them failed", it.Turn.Tools, it.Turn.ToolErrors), "")
	}
	return list
}

var plainHash = regex.Lazy(`^[0-9a-f]{7,64}$`)

// aim is what an iteration was for, as a sentence without its end.
func (v view) aim(it *loop.Iteration) string {
	story := v.brief(it.Story, 40)
	aim := "the agent " + wording.Doing(it.Mode, story)
	if report.Roles(v.State) && it.Role != "" {
		aim = "the " + v.brief(string(it.Role), 20) + " " + wording.Doing(it.Mode, story)
	}
	if wording.Shifted(it) {
		aim += "; the run was stuck, and it was instructed to try another way"
	}
	return aim
}

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
func (d Detail) files(it *loop.Iteration, m measure) (list []file, note string) {
	v := d.view()
	diff, ok := d.Diffs[it.N]
	if m == everything && ok && strings.TrimSpace(diff.Text) != "" {
		list, note = v.diffFiles(diff.Text)
		return v.counted(list, it.Commit.Files), wording.JoinedBy(" ", note, v.brief(diff.Note, 300))
	}
	for _, f := range it.Commit.Files {
		list = append(list, v.listed(f))
	}
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

func (v view) checks(it *loop.Iteration, m measure) (list []check, more int) {
	verdicts := it.Verdicts
	if more = len(verdicts) - mostChecks; more > 0 {
		verdicts = verdicts[:mostChecks]
	}
	for _, c := range verdicts {
		list = append(list, v.check(c, it.Failure(), m))
	}
	return list, max(more, 0)
}

func (v view) check(c loop.Verdict, failure *loop.Verdict, m measure) check {
	h := check{
		Name: v.brief(c.Check, 200), Reason: v.brief(c.Reason, 400), Took: wording.Duration(c.Duration),
		OutputName: "What it printed",
		Role:       v.brief(string(c.Role), 20),
	}
	switch {
	case c.Skipped != "":
		h.Mood, h.Word, h.Reason, h.Took = "wait", "skipped", v.brief(c.Skipped, 400), ""
	case c.Pass && c.Flaky:
		h.Mood, h.Word, h.Reason = "warn", "flaky", "it failed and passed on the same tree"
	case c.Pass:
		h.Mood, h.Word = "good", "pass"
	case c.Severity == loop.Soft:
		h.Mood, h.Word = "warn", "warning"
	default:
		h.Mood, h.Word, h.Hash = "bad", "fail", v.brief(c.Hash, 16)
		h.Open = failure != nil && failure.Check == c.Check
	}
	h.Sign = moodSigns[h.Mood]
	if reviews(c) {
		h.OutputName, h.Prose = "What the reviewer said", true
	}
	if m < withoutOutput {
		h.Output = v.printed(c.Output)
		for _, f := range c.Findings[:min(len(c.Findings), report.MostFindings)] {
			h.Findings = append(h.Findings, finding{v.where(f), v.brief(wording.Said(f), 300)})
		}
	}
	return h
}

// where is where a finding is, as plain text.
func (v view) where(f loop.Finding) string {
	if f.File != "" && f.Line > 0 {
		return fmt.Sprintf("%s:%d", v.brief(f.File, 150), f.Line)
	}
	return v.brief(cmp.Or(f.File, f.Test), 150)
}
