// Package prompt writes what an agent is told: one template a mode, filled from the run's state.
package prompt

import (
	"embed"
	"fmt"
	"strings"
	"text/template"

	"github.com/ralph-loop/ralph/internal/loop"
)

//go:embed templates/*.md
var files embed.FS

var templates = template.Must(template.New("").ParseFS(files, "templates/*.md"))

// maxAdded bounds what the harness adds to the task's own text, in bytes, however long the run.
const maxAdded = 24 << 10

// Writer writes the prompts of one run.
type Writer struct {
	Completion     string // setting completionResponse
	IterationCount bool   // setting includeIterationCountInPrompt
	Comments       []Comment
}

// Comment is a remark by somebody with write access.
type Comment struct{ Author, Text string }

type implement struct {
	State      loop.State
	Step       loop.Step
	Spec       string
	Comments   []Comment
	Fence      string
	Attempts   []attempt
	Feedback   string
	Completion string
	Fix        bool
	Redo       bool
}

type attempt struct {
	N       int
	Verdict string
	Text    string
}

// For writes the prompt of the next iteration (S0-78…S0-83).
func (w Writer) For(s loop.State, step loop.Step) (string, error) {
	last := s.Last()
	data := implement{
		State: s, Step: step, Spec: s.Start.Spec, Comments: w.Comments, Fence: fence(s.Start.Run),
		Attempts: attempts(s), Completion: w.Completion, Fix: step.Mode == loop.ReviewFix,
		Redo: last != nil && last.N == step.Iteration || s.Turning != nil,
	}
	text, err := render("implement.md", data)
	if err != nil {
		return "", err
	}
	return w.counted(combine(text, failures(s), maxAdded/2), s, step), nil
}

// counted puts how far the run has come before the prompt, when that is wanted (S1-74).
func (w Writer) counted(text string, s loop.State, step loop.Step) string {
	switch {
	case !w.IterationCount:
		return text
	case s.MaxIterations == 0:
		return fmt.Sprintf("Iteration %d.\n\n%s", step.Iteration, text)
	}
	return fmt.Sprintf("Iteration %d of %d, %d remaining.\n\n%s", step.Iteration, s.MaxIterations, s.MaxIterations-step.Iteration, text)
}

// Review writes the reviewer's prompt: the task, the diff from the run's base, and the form of the answer. tree is what the verdict
// is bound to.
func (w Writer) Review(s loop.State, tree, diff string) (string, error) {
	return render("review.md", struct {
		State    loop.State
		Spec     string
		Comments []Comment
		Fence    string
		Tree     string
		Diff     string
	}{s, s.Start.Spec, w.Comments, fence(s.Start.Run), tree, diff})
}

func render(name string, data any) (string, error) {
	var b strings.Builder
	if err := templates.ExecuteTemplate(&b, name, data); err != nil {
		return "", fmt.Errorf("writing the prompt %s: %w", name, err)
	}
	return b.String(), nil
}

// fence names the borders of text that others wrote. The run's name is drawn after that text was written, so the text cannot close it.
func fence(run string) string { return "ralph-data-" + run }

// attempts tells of the last iterations, newest last: what each verdict was, in the verdict's own words.
func attempts(s loop.State) []attempt {
	var out []attempt
	from := max(len(s.Iterations)-loop.Window, 0)
	for _, it := range s.Iterations[from:] {
		if !it.Judged {
			continue
		}
		a := attempt{N: it.N, Verdict: "passed"}
		if f := it.Failure(); f != nil {
			a.Verdict = fmt.Sprintf("failed at %s: %s", f.Check, f.Reason)
		}
		if it.Turn.Class != loop.OK {
			a.Verdict += "; the turn ended early: " + it.Turn.Reason
		}
		a.Text = clip(it.Turn.Text, maxAdded/12)
		out = append(out, a)
	}
	return out
}

// failures are the verdicts of the newest judged iteration that have something to tell.
func failures(s loop.State) []loop.Verdict {
	for i := len(s.Iterations) - 1; i >= 0; i-- {
		it := s.Iterations[i]
		if !it.Judged {
			continue
		}
		var out []loop.Verdict
		for _, v := range it.Verdicts {
			if !v.Pass && v.Skipped == "" && v.Tell != "" {
				out = append(out, v)
			}
		}
		return out
	}
	return nil
}

// combine puts the failed checks' texts into the prompt: REPLACE results first form the base, in order, then PREPEND and APPEND are
// applied in order (C10), two newlines between (S1-72). Together they take at most so many bytes; 0 is no bound.
func combine(base string, failed []loop.Verdict, most int) string {
	if n := len(failed); n > 1 {
		most /= n
	}
	tell := func(v loop.Verdict) string {
		if most == 0 {
			return v.Tell
		}
		return clip(v.Tell, most)
	}
	var replaced []string
	for _, v := range failed {
		if v.FailAction == loop.Replace {
			replaced = append(replaced, tell(v))
		}
	}
	if len(replaced) > 0 {
		base = strings.Join(replaced, "\n\n")
	}
	for _, v := range failed {
		switch v.FailAction {
		case loop.Prepend:
			base = tell(v) + "\n\n" + base
		case loop.Append, "":
			base = base + "\n\n" + tell(v)
		case loop.Replace:
		}
	}
	return base
}

// clip cuts to a number of bytes at the end, between characters, and says so.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "... [truncated]"
}
