package bot

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/lease"
	"github.com/ralph-loop/ralph/internal/loop"
)

// withLease is the state of a run record, with the process that holds the run; the zero lease means that no process does.
// Records of the bot do not have it themselves. A run without an end that no process holds was abandoned.
func withLease(s loop.State, held lease.Lease) loop.State {
	switch {
	case held.Task != "":
		s.Lease, s.Owner = held.Ends(), held.Who()
		if held.RunURL != "" {
			s.RunURL = held.RunURL
		}
	case s.End == nil && s.Lease.IsZero():
		s.Lease = s.At
	}
	return s
}

// canResume reports whether a run that waits for a known time may continue.
func canResume(s loop.State, now time.Time) bool {
	return s.End != nil && s.End.Outcome == loop.Waiting && !s.End.Until.IsZero() && !now.Before(s.End.Until)
}

// recorded are the newest runs of every task, from their records on the remote, oldest first.
func (a *Action) recorded(ctx context.Context) ([]loop.State, error) {
	o, err := a.gitOptions(ctx, "")
	if err != nil {
		return nil, err
	}
	all, leases, err := lease.RecordsAndLeases(ctx, o, a.Clock)
	if err != nil {
		return nil, fmt.Errorf("listing the runs on the remote: %w", err)
	}
	var out []loop.State
	for _, record := range all {
		records, _, err := journal.Read(bytes.NewReader(record.Files[journal.File]))
		if err != nil {
			a.log("the run record of %s is skipped: %v", record.Task, err)
			continue
		}
		out = append(out, withLease(loop.Fold(records), leases[record.Task]))
	}
	sort.Slice(out, func(i, j int) bool { return out[i].StartedAt.Before(out[j].StartedAt) })
	return out, nil
}

// orphan is the request to continue with a run: it was authorized when it began, and only people who may write can have
// changed its record.
func (a *Action) orphan(ctx context.Context, ev event.Event, s loop.State) (event.Request, event.Facts, bool) {
	var facts event.Facts
	issue, err := a.github.Issue(ctx, s.Start.Issue)
	switch {
	case err != nil:
	case issue.Closed:
		err = fmt.Errorf("issue #%d is closed", issue.Number)
	case a.endShown(ctx, issue, s):
		err = fmt.Errorf("its run %s has failed and could not record that; %s retry resumes it", s.Start.Run, a.rules.TriggerPhrase)
	default:
		ev.Issue, ev.At = issue, s.StartedAt
		ev, facts, err = a.github.Gather(ctx, ev)
	}
	if err != nil {
		a.log("%s is skipped: %v", s.Start.Task, err)
	}
	return event.Request{Command: event.Command{Verb: event.Run}, Event: ev}, facts, err == nil
}

// endShown reports whether the issue's label says that a run has failed whose record knows no end: the remote took
// neither its commits nor its record. To continue with it would be paid for every hour. A label from before the run was
// last asked for says nothing of it.
func (a *Action) endShown(ctx context.Context, issue *event.Issue, s loop.State) bool {
	failed := a.rules.StatusLabel(github.LabelFailed)
	if s.End != nil || !slices.ContainsFunc(issue.Labels, func(l string) bool { return strings.EqualFold(l, failed) }) {
		return false
	}
	_, at, err := a.github.LabelChanged(ctx, issue.Number, event.Labeled, failed)
	// GitHub tells times in whole seconds, rounded down. What was continued with in that very second has not failed in it,
	// but before.
	return err != nil || !begunSince(s, at.Add(time.Second)) && s.ResumedAt.Before(at)
}
