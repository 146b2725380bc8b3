package bot

import (
	"context"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
)

// view shows a state as this job's reports do.
func (a *Action) view(s loop.State) report.View {
	v := report.View{
		State: s, Now: a.Clock(), Words: report.Words{Redact: a.redact, Phrase: a.rules.TriggerPhrase},
		Site:     report.Site{ServerURL: a.Env.ServerURL, Repo: a.Env.Repository},
		Controls: report.Controls{Label: a.rules.TriggerLabel},
	}
	if a.ways != nil {
		v.Ways = *a.ways
	}
	if a.github != nil {
		v.TokenNote = a.github.TokenNote()
	}
	switch {
	case s.RunURL != "" && a.Server != nil:
		v.ReportURL = s.RunURL
	case s.RunURL != "" && v.Ways.Reports:
		v.ReportURL = s.RunURL + "#artifacts"
	}
	return v
}

// readWays reads once which events start jobs, from the workflow file at the commit that this job runs from. files are
// tried before GitHub. The event of this job certainly works. A server reacts to every event of its App and sweeps.
func (a *Action) readWays(ctx context.Context, ev event.Event, files ...fileReader) {
	if a.Server != nil || a.ways != nil {
		return
	}
	ways := event.UnknownWays()
	path, ours := strings.CutPrefix(a.Env.WorkflowRef, a.Env.Repository+"/")
	path, _, _ = strings.Cut(path, "@")
	for _, file := range append(files, a.github.File) {
		if !ours || a.Env.WorkflowSHA == "" {
			break
		}
		content, ok, err := file(ctx, a.Env.WorkflowSHA, path)
		if err == nil && ok {
			ways, err = event.WaysOf(content)
			a.warn("reading the workflow "+path, err)
			break
		}
	}
	ways.Lacks = slices.DeleteFunc(ways.Lacks, func(k event.Kind) bool { return k == ev.Kind })
	if !a.rules.CIGate && ways.Work(event.Built) {
		ways.Lacks = append(ways.Lacks, event.Built)
	}
	a.ways = &ways
}

// offers is what answers to an event offer. The event of a comment proves that comments start jobs.
func (a *Action) offers(ctx context.Context, ev event.Event) report.View {
	if ev.Kind != event.Commented {
		a.readWays(ctx, ev)
	}
	return a.view(loop.State{})
}

// fileReader reads a file of a commit; ok is false if none exists.
type fileReader func(ctx context.Context, commit, path string) (content []byte, ok bool, err error)
