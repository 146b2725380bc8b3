package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/notify"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/report"
)

// Notice is what somebody else tells of the end of a run: who keeps the addresses of the places.
type Notice struct {
	Message notify.Message
	To      []string // names of variables, RALPH_NOTIFY_TEAM; empty: all that there are
}

// Notice is what Notify would tell; nil where that is nothing.
func (run *Run) Notice(v report.View, page string) *Notice {
	kind := v.NotifyKind()
	if kind == "" {
		return nil
	}
	n := &Notice{Message: message(v, kind, page)}
	for _, w := range run.Settings.Notify {
		if len(w.On) == 0 || slices.Contains(w.On, kind) {
			n.To = append(n.To, w.To)
		}
	}
	if len(run.Settings.Notify) > 0 && len(n.To) == 0 {
		return nil
	}
	return n
}

// Notify tells the places of the environment and the setting notify how the run ended. page is the job's; empty: there
// is none. What fails is logged: the run is what it is, whoever was told.
func (run *Run) Notify(ctx context.Context, v report.View, page string) {
	n := run.Notice(v, page)
	if n == nil {
		return
	}
	environ := run.Parent
	if own := run.Settings.NotifyCommand; own != "" { // what the environment says comes after it
		environ = append([]string{notify.Command + "=" + own}, environ...)
	}
	places, missing := notify.Named(notify.Places(environ), n.To)
	for _, name := range missing {
		run.Log("no notification by %s: the environment variable is not set", name)
	}
	for _, place := range places {
		if err := place.Send(ctx, n.Message, proc.Environment(run.Parent, proc.Allowed)); err != nil {
			run.Log("%v", err)
		}
	}
}

// message is what the run came to.
func message(v report.View, kind, page string) notify.Message {
	s := v.State
	outcome, cause := report.PlainOutcome(v)
	title := "ralph: " + outcome
	if about := v.PlainTitle(); about != "" {
		title = "ralph: " + strings.TrimSuffix(about, ".") + ": " + outcome
	}
	m := notify.Message{
		Kind: kind, Title: title, Text: cause, Outcome: string(s.End.Outcome), Repository: v.Repo, Task: s.Start.Task,
		Run: s.Start.Run, Branch: s.Branch().Name(), PullRequest: v.PullPage(), Page: page, Iterations: len(s.Iterations),
	}
	if s.Usage.CostUSD > 0 {
		m.CostUSD = &s.Usage.CostUSD
	}
	return m
}
