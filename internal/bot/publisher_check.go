package bot

import (
	"context"

	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
)

// checkName is what ralph calls its check run, and the commit status that stands for it.
const checkName = "ralph"

// checkRun says the outcome on the newest commit, with a remark on each line that a failing check names.
func (p *publisher) checkRun(ctx context.Context, s loop.State) *loop.Post {
	if s.Tip == "" || s.Post.Pull == 0 {
		return nil
	}
	said := report.CheckRunOf(p.view(s))
	run := github.CheckRun{
		Name: checkName, SHA: s.Tip, ExternalID: s.Start.Run, URL: s.RunURL, Conclusion: said.Conclusion,
		Title: said.Title, Summary: said.Summary, Text: said.Text, Find: p.again || !s.ResumedAt.IsZero(),
	}
	if s.Post.CheckedSHA == s.Tip {
		run.ID = s.Post.CheckRun
	}
	for _, a := range said.Annotations {
		run.Annotations = append(run.Annotations,
			github.Annotation{Path: a.Path, Line: a.Line, Level: a.Level, Title: a.Title, Message: a.Message})
	}
	id, err := p.github.PutCheckRun(ctx, run)
	p.try("writing the check run", err)
	if id == 0 || id == run.ID {
		return nil
	}
	return &loop.Post{CheckRun: id, CheckedSHA: s.Tip}
}
