package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// The pace of a stream; tests change it.
var (
	heartbeat   = 15 * time.Second // a comment, so that no one in between takes it for dead
	recheck     = time.Minute      // whether the person may still read
	lookAgain   = 2 * time.Second  // for records of which no one told
	writeWithin = 10 * time.Second // a reader that is slower is dropped, and resumes
)

// streamRecords is how many records one event has at most.
const streamRecords = 200

// live sends what becomes known of a run after the record that the browser has: the one that it names in its header, or
// the one that its page was made with.
func (a *asked) live() error {
	ctx, done, err := a.streams.begin(a.r.Context(), a.who.Login, a.token())
	if err != nil {
		return err
	}
	defer done()
	after, ok := number(a.r.Header.Get("Last-Event-ID"))
	if !ok {
		after, _ = number(a.r.URL.Query().Get("after"))
	}
	st := a.newStory(a.run)
	if after > 0 {
		if err := st.upTo(ctx, after); err != nil {
			return err
		}
	}
	st.number, st.output, st.printed = min(after, st.number), nil, 0 // it may know more than a backup that was restored
	h := a.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	f := &follower{asked: a, story: st, out: http.NewResponseController(a.w), drawn: map[int]bool{}}
	for _, it := range st.detail.State.Iterations {
		f.drawn[it.N] = true
	}
	if v, err := st.view(a, 0); err == nil {
		f.can, f.asking = v.Can, v.Asked != nil
	}
	if f.write("retry: 1000\n\n") == nil {
		f.follow(ctx)
	}
	return nil
}

// follower sends a run's records to one browser.
type follower struct {
	*asked
	story  *story
	out    *http.ResponseController
	drawn  map[int]bool // iterations that the page has
	can    can
	asking bool // the prompt of the running turn is shown
}

// write sends bytes, and gives up on a reader that does not take them.
func (f *follower) write(text string) error {
	if err := f.out.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := f.w.Write([]byte(text)); err != nil {
		return err
	}
	return f.out.Flush()
}

// follow sends records until the reader is gone, or may no longer read.
func (f *follower) follow(ctx context.Context) {
	beat, check, look := time.NewTicker(heartbeat), time.NewTicker(recheck), time.NewTicker(lookAgain)
	defer beat.Stop()
	defer check.Stop()
	defer look.Stop()
	for f.step(ctx, beat.C, check.C, look.C) {
	}
}

// step sends what is new and waits for more; it reports whether there is a next step.
func (f *follower) step(ctx context.Context, beat, check, look <-chan time.Time) bool {
	last := f.over.Err() != nil
	changed, stop := f.Runs.Watch(f.run.ID)
	defer stop()
	full, err := f.send(ctx)
	switch {
	case err != nil:
		return false
	case full:
		return ctx.Err() == nil
	case last:
		_ = f.write("event: over\ndata: over\n\n") // the page gets it, or its reader is gone
		return false
	}
	select {
	case <-ctx.Done():
		return false
	case <-check:
		return f.still(ctx)
	case <-beat:
		return f.write(": still here\n\n") == nil
	case <-f.over.Done():
	case <-changed:
	case <-look:
	}
	return true
}

// still reports whether the person is signed in and may read; what cannot be found out is a no.
func (f *follower) still(ctx context.Context) bool {
	if f.alone != nil {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, writeWithin)
	defer cancel()
	who, err := f.Sessions.Find(ctx, f.token())
	if err != nil || who.Login != f.who.Login {
		return false
	}
	may, err := f.Access.Permission(ctx, who, strings.ToLower(f.repository))
	return err == nil && may >= MayRead
}

// send sends the records that there are now as one event; full says that there may be more.
func (f *follower) send(ctx context.Context) (full bool, err error) {
	records, err := f.Runs.Records(ctx, f.run.ID, f.story.number, streamRecords)
	if err != nil { // it is tried again, and the page shows what it has meanwhile
		if ctx.Err() == nil {
			f.Log.Error("reading a run that is followed", "run", f.run.ID, "error", err)
		}
		return false, ctx.Err()
	}
	if len(records) == 0 {
		return false, nil
	}
	var facts bool
	changed := map[int]bool{}
	before := f.story.prompt
	f.story.output, f.story.printed, f.story.cut = nil, 0, false
	for _, r := range records {
		if n := f.story.take(r); n > 0 {
			changed[n] = true
		}
		facts = facts || r.Kind == FactRecord
	}
	text, err := f.event(facts, f.story.prompt != before, changed)
	if err != nil {
		f.Log.Error("writing what is new of a run", "run", f.run.ID, "error", err)
		return false, err
	}
	return len(records) == streamRecords, f.write(text)
}

// liveView is what the template of an event shows.
type liveView struct {
	runView
	Facts, NewAsked, NewCan bool
	Changed                 []liveIteration
}

// liveIteration is an iteration that is new or changed.
type liveIteration struct {
	N    int
	New  bool
	HTML any
}

// event is one event of the stream: parts of the page, each with the place that it goes to.
func (f *follower) event(facts, prompts bool, changed map[int]bool) (string, error) {
	if facts { // the row says what no record does: that it was stopped, or waits
		if row, err := f.Runs.Run(f.r.Context(), f.run.ID); err == nil {
			f.story.run = shown(row)
		}
	}
	base, err := f.story.view(f.asked, 0)
	if err != nil {
		return "", err
	}
	v := liveView{runView: base, Facts: facts, NewAsked: prompts || f.asking && base.Asked == nil,
		NewCan: facts && base.Can != f.can}
	f.can, f.asking = base.Can, base.Asked != nil
	for _, it := range f.story.detail.State.Iterations {
		if !changed[it.N] {
			continue
		}
		text, err := f.story.detail.Iteration(it.N)
		if err != nil {
			return "", err
		}
		v.Changed = append(v.Changed, liveIteration{it.N, !f.drawn[it.N], text})
		f.drawn[it.N] = true
	}
	var b bytes.Buffer
	if err := pages().ExecuteTemplate(&b, "live", v); err != nil {
		return "", fmt.Errorf("writing an event: %w", err)
	}
	var event strings.Builder
	fmt.Fprintf(&event, "id: %d\n", f.story.number)
	for line := range strings.Lines(strings.ReplaceAll(b.String(), "\r", "")) {
		event.WriteString("data: " + strings.TrimSuffix(line, "\n") + "\n")
	}
	event.WriteString("\n")
	return event.String(), nil
}
