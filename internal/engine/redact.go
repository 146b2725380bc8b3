package engine

import (
	"io"
	"slices"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
)

// RedactingWriter hides secrets in whole lines on their way to a log.
type RedactingWriter struct {
	To     io.Writer
	Redact func(string) string
}

func (r RedactingWriter) Write(p []byte) (int, error) {
	if _, err := io.WriteString(r.To, r.Redact(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// redacted is a record without the secrets that an agent or a check may have printed into it: the journal is pushed,
// and everybody who can read the repository can read it.
func redacted(r loop.Record, redact func(string) string) loop.Record {
	if redact == nil {
		return r
	}
	if r.Start != nil {
		s := *r.Start
		s.Title, s.Spec, s.Hint = redact(s.Title), redact(s.Spec), redact(s.Hint)
		s.Checks = append([]string(nil), s.Checks...)
		for i := range s.Checks {
			s.Checks[i] = redact(s.Checks[i])
		}
		s.Completion = s.Completion.Map(redact)
		s.Accept = redactedAcceptances(s.Accept, redact)
		r.Start = &s
	}
	if r.Start != nil && r.Start.Plan != nil {
		r.Start.Plan = redactedPlan(r.Start.Plan, redact)
	}
	if r.Resume != nil {
		s := *r.Resume
		s.Title, s.Spec, s.Hint = redact(s.Title), redact(s.Spec), redact(s.Hint)
		s.Completion = s.Completion.Map(redact)
		s.Plan = redactedPlan(s.Plan, redact)
		s.Feedback = redactedFeedback(s.Feedback, redact)
		s.Accept = redactedAcceptances(s.Accept, redact)
		r.Resume = &s
	}
	if r.Turn != nil {
		t := *r.Turn
		t.Text, t.Reason, t.Structured, t.Claim.Text = redact(t.Text), redact(t.Reason), redact(t.Structured), redact(
			t.Claim.Text,
		)
		r.Turn = &t
	}
	if r.Commit != nil {
		c := *r.Commit
		c.Note = redact(c.Note)
		c.Files = append([]loop.FileChange(nil), c.Files...)
		for i := range c.Files {
			c.Files[i].Path = redact(c.Files[i].Path)
		}
		c.Plan = redactedAdvance(c.Plan, redact)
		r.Commit = &c
	}
	if r.Pause != nil {
		p := *r.Pause
		p.Reason = redact(p.Reason)
		r.Pause = &p
	}
	if r.End != nil {
		e := *r.End
		e.Reason = redact(e.Reason)
		r.End = &e
	}
	r.Warning = redact(r.Warning)
	r.Verdicts, r.Baseline = redactedVerdicts(r.Verdicts, redact), redactedVerdicts(r.Baseline, redact)
	return r
}

func redactedFeedback(f *loop.Feedback, redact func(string) string) *loop.Feedback {
	if f == nil {
		return nil
	}
	out := loop.Feedback{By: f.By, Text: redact(f.Text), Items: append([]loop.Remark(nil), f.Items...)}
	for i := range out.Items {
		out.Items[i].Path, out.Items[i].Text = redact(out.Items[i].Path), redact(out.Items[i].Text)
	}
	return &out
}

// redactedPlan is a plan without secrets. One that holds some does not begin (see planrun.Use), so that what counts is
// what the file says.
func redactedPlan(p *loop.Planned, redact func(string) string) *loop.Planned {
	if p == nil {
		return nil
	}
	out := *p
	out.Plan = p.Plan.Map(redact)
	return &out
}

func redactedAdvance(a *loop.Advance, redact func(string) string) *loop.Advance {
	if a == nil {
		return nil
	}
	out := *a
	out.Stories = plan.Plan{Stories: a.Stories}.Map(redact).Stories
	if a.Opinion != nil {
		out.Opinion = &plan.Opinion{Approve: a.Opinion.Approve, Feedback: redact(a.Opinion.Feedback)}
	}
	out.Violations = append([]plan.Violation(nil), a.Violations...)
	for i := range out.Violations {
		v := &out.Violations[i]
		v.Story, v.Field, v.Text = redact(v.Story), redact(v.Field), redact(v.Text)
	}
	out.Accepted = redactedAcceptances(a.Accepted, redact)
	out.Reverted = append([]string(nil), a.Reverted...)
	for i := range out.Reverted {
		out.Reverted[i] = redact(out.Reverted[i])
	}
	return &out
}

func redactedConcerns(concerns []loop.Concern, redact func(string) string) []loop.Concern {
	out := slices.Clone(concerns)
	for i := range out {
		c := &out[i]
		c.Name, c.Message, c.Detail, c.File = redact(c.Name), redact(c.Message), redact(c.Detail), redact(c.File)
	}
	return out
}

func redactedAcceptances(list []loop.Acceptance, redact func(string) string) []loop.Acceptance {
	out := slices.Clone(list)
	for i := range out {
		a := &out[i]
		a.Name, a.Reason, a.What = redact(a.Name), redact(a.Reason), redact(a.What)
	}
	return out
}

func redactedVerdicts(verdicts []loop.Verdict, redact func(string) string) []loop.Verdict {
	out := append([]loop.Verdict(nil), verdicts...)
	for i := range out {
		v := &out[i]
		v.Check, v.Skipped, v.Reason = redact(v.Check), redact(v.Skipped), redact(v.Reason)
		v.Output, v.Tell = redact(v.Output), redact(v.Tell)
		v.Findings = append([]loop.Finding(nil), v.Findings...)
		for j := range v.Findings {
			f := &v.Findings[j]
			f.File, f.Test, f.Message = redact(f.File), redact(f.Test), redact(f.Message)
		}
		v.Concerns, v.Accepted = redactedConcerns(v.Concerns, redact), redactedAcceptances(v.Accepted, redact)
		v.Criteria = append([]loop.Criterion(nil), v.Criteria...)
		for j := range v.Criteria {
			v.Criteria[j].Text, v.Criteria[j].Reason = redact(v.Criteria[j].Text), redact(v.Criteria[j].Reason)
		}
		v.Gap = append([]string(nil), v.Gap...)
		for j := range v.Gap {
			v.Gap[j] = redact(v.Gap[j])
		}
	}
	return out
}
