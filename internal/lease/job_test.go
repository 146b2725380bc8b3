package lease

import (
	"strings"
	"testing"
	"time"
)

// ofJob opens a client of a job's process.
func (b *sandbox) ofJob(job string, clock *watch) *Client {
	b.t.Helper()
	c := b.leases(clock)
	c.OfJob(job)
	return c
}

// TestLeaseOfAJob: the newest process of a job takes its lease at once, whatever has become of the one before; nobody
// else does, who sees it as held for as long as it lasts.
func TestLeaseOfAJob(t *testing.T) {
	t.Parallel()
	b, clock := newSandbox(t), newWatch()
	first, second, other, action := b.ofJob("5f1e", clock), b.ofJob("5f1e", clock), b.ofJob("5f1", clock),
		b.leases(clock)
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
	if heard, err := action.AskStop(b.ctx, "issue-42", Stop{By: "alice"}); err != nil || !heard {
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
