package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// front is the state file's front matter; its keys are written in this order.
type front struct {
	TaskID         string    `yaml:"task_id"`
	Iteration      int       `yaml:"iteration"`
	MaxIterations  int       `yaml:"max_iterations"`
	LastGate       string    `yaml:"last_gate"`
	ExitCode       int       `yaml:"exit_code"`
	ErrorHash      string    `yaml:"error_hash"`
	Timestamp      time.Time `yaml:"timestamp"`
	StuckCount     int       `yaml:"stuck_count"`
	StrategyShifts int       `yaml:"strategy_shifts"`
	FilesModified  []string  `yaml:"files_modified"`
	// Stories are those of a plan.
	Stories []frontStory `yaml:"stories,omitempty"`
}

type frontStory struct {
	ID           string `yaml:"id"`
	Title        string `yaml:"title"`
	Passes       bool   `yaml:"passes"`
	ReviewStatus string `yaml:"review_status"`
	ReviewCount  int    `yaml:"review_count"`
	AtCap        bool   `yaml:"at_cap,omitempty"`
}

// mostInState is how many stories of a plan the state file's check list has; its front matter has all.
const mostInState = 200

// StateFile is .ralph_state.md: what the next attempt, and a person, must know of the last ones. Outputs
// are verbatim but for secrets; only the harness writes it.
func StateFile(v View) string {
	its := v.State.Judged()
	var p wording.Markdown
	p.WriteString("---\n" + v.frontMatter() + "---\n")
	p.Part(page{v, rooms[0]}.atCap())
	if v.State.Plan != nil {
		p.Part("## Stories\n" + Tally(v.State) + "\n\n" + v.storyList(mostInState))
	}
	p.Part("## Spec Reviewer Output (verbatim)\n" + v.verbatim(v.State, wording.IsReview))
	p.Part("## Test Output (verbatim)\n" + v.verbatim(v.State, isTest))
	p.Part("## Attempt History\n" + v.attempts(its[max(0, len(its)-loop.Window):]))
	return p.String()
}

func (v View) frontMatter() string {
	s := v.State
	f := front{
		TaskID: s.Start.Task, MaxIterations: s.MaxIterations, LastGate: lastGate(s),
		Timestamp:  s.At.UTC().Truncate(time.Second),
		StuckCount: s.StuckCount(), StrategyShifts: s.Shifts(), FilesModified: []string{},
	}
	if last := s.Last(); last != nil {
		f.Iteration = last.N
	}
	if fail := s.Failure(); fail != nil {
		f.ExitCode, f.ErrorHash = max(fail.Exit, 1), fail.Hash
	}
	files, _ := changedFiles(s)
	for _, file := range files {
		f.FilesModified = append(f.FilesModified, v.Redacted(file.Path))
	}
	f.LastGate = v.Redacted(f.LastGate)
	if s.Plan != nil {
		for _, st := range s.Plan.Stories {
			f.Stories = append(f.Stories, frontStory{v.Redacted(st.ID), v.Redacted(st.Title), st.Passes, string(st.ReviewStatus),
				st.ReviewCount, st.AtCap()})
		}
	}
	out, err := yaml.MarshalWithOptions(f, yaml.IndentSequence(true))
	if err != nil { // a struct of strings and numbers always has a YAML form
		panic(err)
	}
	return string(out)
}

func isTest(c loop.Verdict) bool { return !wording.IsReview(c) }

// verbatim is the newest kept output of the checks that match, fenced: the failing ones of an attempt if any failed,
// else all.
func (w Words) verbatim(s loop.State, match func(loop.Verdict) bool) string {
	for _, it := range slices.Backward(s.Iterations) {
		if out := outputs(it.Verdicts, match); out != "" {
			return w.verbatimFence(out)
		}
	}
	return w.verbatimFence("")
}

// outputs joins what the matching checks put out; a single output stands alone, several are named.
func outputs(verdicts []loop.Verdict, match func(loop.Verdict) bool) string {
	shown := slices.DeleteFunc(slices.Clone(verdicts), func(c loop.Verdict) bool {
		return !match(c) || c.Skipped != "" || c.Output == "" && c.Reason == ""
	})
	if slices.ContainsFunc(shown, func(c loop.Verdict) bool { return !c.Pass }) {
		shown = slices.DeleteFunc(shown, func(c loop.Verdict) bool { return c.Pass })
	}
	var b strings.Builder
	for _, c := range shown {
		if len(shown) > 1 {
			fmt.Fprintf(&b, "$ %s (exit %d)\n", safetext.OneLine(c.Check), c.Exit)
		}
		b.WriteString(strings.TrimRight(cmp.Or(c.Output, c.Reason), "\n") + "\n")
	}
	return b.String()
}

// verbatimFence is a fence without cleaning, for a file that is no comment: only secrets are taken out.
func (w Words) verbatimFence(s string) string {
	s = strings.ToValidUTF8(w.Redacted(s), "\uFFFD")
	if s == "" {
		return "```\n```\n"
	}
	return strings.Replace(safetext.Fence(s), "text\n", "\n", 1)
}
