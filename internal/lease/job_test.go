package lease

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"
)

// ofJob opens a client of a job's process.
func (b *sandbox) ofJob(job string, clock *watch) *Client {
	b.t.Helper()
	if err := os.MkdirAll(b.options().Root, 0o755); err != nil {
		b.t.Fatal(err)
	}
	c := must[*Client](b.t)(Open(b.ctx, b.options(), clock.now))
	b.t.Cleanup(func() { _ = c.Close() })
	if job != "" {
		c.OfJob(job)
	}
	return c
}

// TestLeaseOfAJob: the newest process of a job takes its lease at once, whatever has become of the one before; nobody
// else does, who sees it as held for as long as it lasts.
func TestLeaseOfAJob(t *testing.T) {
	t.Parallel()
	b, clock := newSandbox(t), newWatch()
	first, second, other, action := b.ofJob("5f1e", clock), b.ofJob("5f1e", clock), b.ofJob("5f1", clock),
		b.ofJob("", clock)
	want := Lease{Task: "issue-42", Owner: "ralph serve, job 5f1e, attempt 1"}
	held := must[Lease](t)(first.Take(b.ctx, want))
	if lasts := held.Until.Sub(clock.now()); lasts != longTime {
		t.Errorf("it lasts %s", lasts)
	}
	clock.pass(20 * time.Minute)
	for name, c := range map[string]*Client{"another job": other, "an Action": action} {
		_, err := c.Take(b.ctx, want)
		if err == nil || !strings.Contains(err.Error(), "(ralph serve, job 5f1e, attempt 1)") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if heard, _, err := action.AskStop(b.ctx, "issue-42", Stop{By: "alice"}); err != nil || !heard {
		t.Errorf("heard: %v, %v", heard, err)
	}
	taken := must[Lease](t)(second.Take(b.ctx, want))
	if taken.Stop == nil || taken.Stop.By != "alice" || !taken.Taken.Equal(held.Taken) {
		t.Errorf("the successor has %+v", taken)
	}
	_, err := first.Extend(b.ctx, held)
	if err == nil || !strings.Contains(err.Error(), "no longer holds issue-42") {
		t.Errorf("the first one: %v", err)
	}
	if err := second.Release(b.ctx, taken); err != nil {
		t.Error(err)
	}
	if _, err := action.Take(b.ctx, want); err != nil {
		t.Error(err)
	}
}

// TestLongHeartbeat: a server's lease is renewed every nine minutes and never looked at in between, but for tries after
// an error; it is told to stop by itself.
func TestLongHeartbeat(t *testing.T) {
	t.Parallel()
	clock := newWatch()
	door := &longDoor{saying{clock: clock}}
	running, h := NewHeartbeat(context.Background(), door, Lease{Task: "issue-42", Until: clock.now().Add(longTime)}, clock.now,
		func(context.Context) (string, error) { return "t", nil }, t.Logf)
	h.Long()
	for range 2 * 60 { // an hour
		clock.pass(longBeat)
		if !h.Beat(running) {
			t.Fatal("it is lost")
		}
	}
	if asked := strings.Join(door.asked, " "); asked != "extend extend extend extend extend extend" {
		t.Errorf("asked: %s", asked)
	}
	h.Stop(Stop{By: "alice"})
	h.Stop(Stop{By: "bob"})
	if why := context.Cause(running); why == nil || why.Error() != "asked to stop by alice" {
		t.Errorf("stopped: %v", why)
	}
}

// longDoor extends for as long as a server's leases last.
type longDoor struct{ saying }

func (d *longDoor) Extend(ctx context.Context, held Lease) (Lease, error) {
	now, err := d.saying.Extend(ctx, held)
	now.Until = d.clock.now().Add(longTime)
	return now, err
}
