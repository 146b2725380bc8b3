package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake"
)

// flood sends deliveries to a server.
type flood struct {
	*serving
	client  http.Client
	payload []byte // of a comment of 10 kB that asks for nothing

	mu  sync.Mutex
	got map[int]int // answers, by their status
}

// newFlood needs a server that has had a delivery of a comment.
func newFlood(s *serving) *flood {
	s.Helper()
	s.hub.AddComment("alice", "demo", s.hub.AddIssue("alice", "demo", fake.Issue{Title: "Talk", Author: "alice"}),
		fake.Comment{Author: "alice", Body: "first " + strings.Repeat("and so on ", 700)})
	f := &flood{serving: s, got: map[int]int{}}
	f.client.Transport = &http.Transport{MaxIdleConnsPerHost: 64}
	f.client.Timeout = time.Minute
	s.until("a delivery to learn from", func() bool {
		for _, d := range s.hub.Deliveries(7) {
			if d.Event == "issue_comment" {
				f.payload = d.Payload
			}
		}
		return f.payload != nil
	})
	var checked map[string]any
	if err := json.Unmarshal(f.payload, &checked); err != nil {
		s.Fatal(err)
	}
	return f
}

// send delivers once; forged ones ask for a run, under a secret that is not the App's.
func (f *flood) send(id string, forged bool) {
	body, secret := f.payload, "made-up-secret"
	if forged {
		body, secret = bytes.Replace(body, []byte("first and"), []byte("/ralph run"), 1), "another"
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	req, err := http.NewRequestWithContext(f.Context(), http.MethodPost, f.url+"/webhook", bytes.NewReader(body))
	if err != nil {
		f.Error(err)
		return
	}
	for name, value := range map[string]string{"X-Hub-Signature-256": "sha256=" + hex.EncodeToString(mac.Sum(nil)),
		"X-GitHub-Delivery": id, "X-GitHub-Event": "issue_comment", "Content-Type": "application/json"} {
		req.Header.Set(name, value)
	}
	resp, err := f.client.Do(req)
	status := 0
	if err == nil {
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		status = resp.StatusCode
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.got[status]++
}

// TestServeMeetsAFlood: deliveries that come all at once, each twice, with as many forged ones between them as would make
// a third, are stored once or refused; and what is asked for meanwhile is done once.
func TestServeMeetsAFlood(t *testing.T) {
	rare(t)
	t.Parallel()
	const count = 5000
	s := newServing(t)
	s.start()
	f := newFlood(s)
	s.hub.RepeatDeliveries(7, true)
	first := s.label("Add new.txt")
	s.hub.AddComment("alice", "demo", first, fake.Comment{Author: "alice", Body: "/ralph help"})
	begun := time.Now()
	f.all(count)
	t.Logf("%d deliveries were answered within %s", 3*count, time.Since(begun).Round(time.Millisecond))
	if f.got[202] != 2*count || f.got[401] != count {
		t.Errorf("answers are %v", f.got)
	}
	s.until("all is decided and done", func() bool {
		got := s.get("/metrics")
		return strings.Contains(got, fmt.Sprintf("ralph_deliveries_total{result=\"forged\"} %d\n", count)) &&
			strings.Contains(got, `ralph_runs_total{outcome="done"} 1`) && strings.Contains(got, `ralph_jobs{state="running"} 0`) &&
			len(s.hub.Comments("alice", "demo", first)) > 1
	})
	f.judge(count)
}

// all sends as many deliveries as it can at once.
func (f *flood) all(count int) {
	var senders sync.WaitGroup
	for n := range 32 {
		senders.Go(func() {
			for i := n; i < 3*count; i += 32 {
				f.send(fmt.Sprintf("%d-%08x", i%3/2, uint32(i/3)*2654435761), i%3 == 2)
			}
		})
	}
	senders.Wait()
}

// judge looks at what has become of it.
func (f *flood) judge(count int) {
	f.Helper()
	var taken, duplicate int
	for line := range strings.Lines(f.get("/metrics")) {
		_, _ = fmt.Sscanf(line, "ralph_deliveries_total{result=\"taken\"} %d", &taken)
		_, _ = fmt.Sscanf(line, "ralph_deliveries_total{result=\"duplicate\"} %d", &duplicate)
	}
	own := map[string]bool{}
	for _, d := range f.hub.Deliveries(7) {
		own[d.GUID] = true
	}
	if taken != count+len(own) || duplicate < count {
		f.Errorf("%d were taken and %d known, of %d of ours and %d of the stand-in", taken, duplicate, count, len(own))
	}
	if pulls := f.hub.Pulls("alice", "demo"); f.turns() != 1 || len(pulls) != 1 {
		f.Errorf("%d turns, pull requests %+v", f.turns(), pulls)
	}
	helps := 0
	for _, c := range f.hub.Comments("alice", "demo", 2) {
		if strings.Contains(c.Body, "/ralph stop") && c.Author != "alice" {
			helps++
		}
	}
	if helps != 1 {
		f.Errorf("help was given %d times: %+v", helps, f.hub.Comments("alice", "demo", 2))
	}
	f.understood()
}
