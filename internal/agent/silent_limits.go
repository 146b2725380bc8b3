package agent

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/stream"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Some agents sit a usage limit out: they print nothing for as long as their provider told them to wait, which may be
// hours. What they wait for is in the requests that they try again, and of some agents only in their log on standard
// error.

// tried notes a request that the agent tries again. When its provider has told it to wait for longer than it may be
// silent, the turn ends at once: nothing would come of it but the time.
func (r *reader) tried(a stream.Attempt) {
	if a.Delay > 0 {
		r.resets = r.talk.now().Add(a.Delay + time.Second - 1) // in whole seconds, no one comes too early
	}
	r.facts.retry, r.waits = a, true
	if patience := r.talk.patience(); patience > 0 && a.Delay > patience && limited(a) && r.talk.stop != nil {
		r.sat = true
		r.talk.stop()
	}
}

// answered notes that the model has answered: what was tried again has come to something.
func (r *reader) answered() { r.waits, r.resets = false, time.Time{} }

// patience is for how long an agent may be silent; 0: forever.
func (t *turnInput) patience() time.Duration {
	if t.Idle > 0 {
		return t.Idle
	}
	return t.Timeout
}

// limited reports whether a request failed because of a usage limit.
func limited(a stream.Attempt) bool {
	class := byWords(a.Text)
	if a.Status > 0 {
		class = byStatus(a.Status, class)
	}
	return class == loop.UsageLimit
}

// satOut reports a turn that was stopped while the agent waited for a usage limit's end; ok is false of any other.
func (a *Agent) satOut(r *reader, end proc.Result) (j judgement, ok bool) {
	idle := end.Class == proc.Idle || end.Class == proc.TimedOut
	if !r.waits || !limited(r.facts.retry) || !idle && (!r.sat || end.Class != proc.Cancelled) {
		return j, false
	}
	now := r.talk.now()
	j = judgement{class: loop.UsageLimit, resets: r.resets}
	if j.resets.IsZero() {
		j.resets = r.facts.resets(r.facts.retry.Text, now)
	}
	f := r.facts
	f.result = &stream.Result{Status: f.retry.Status}
	j.reason = a.dialect.sentence(loop.UsageLimit, f, j.resets.UTC().Truncate(time.Second), now)
	if idle {
		j.reason += fmt.Sprintf("; it waited for that without a word and was stopped after %s", safetext.Duration(r.talk.patience()))
	}
	j.reason = because(j.reason, strings.TrimSuffix(strings.TrimPrefix(f.retry.Text, "("), ")"))
	j.resets = j.resets.UTC().Truncate(time.Second)
	return j, true
}

// retryFilter takes the lines out of an agent's standard error in which it reports requests that it tries again, and
// passes the others on.
type retryFilter struct {
	hears func(line string) (a stream.Attempt, ours bool)
	tell  func(a stream.Attempt)
	to    io.Writer
	line  []byte
	long  bool // the line is longer than any of those; it has been passed on so far
}

// hearingBytes is how long such a line may be.
const hearingBytes = 16 << 10

// Write implements io.Writer.
func (h *retryFilter) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n') + 1
		piece := p
		if end > 0 {
			piece = p[:end]
		}
		p = p[len(piece):]
		h.line = append(h.line, piece...)
		if end > 0 || h.long || len(h.line) > hearingBytes {
			h.pass(end > 0)
		}
	}
	return n, nil
}

// pass hands on what there is of a line, unless it is one of ours.
func (h *retryFilter) pass(whole bool) {
	a, ours := stream.Attempt{}, false
	if !h.long {
		a, ours = h.hears(strings.TrimRight(string(h.line), "\r\n"))
	}
	if !ours {
		_, _ = h.to.Write(h.line)
	} else if a != (stream.Attempt{}) {
		h.tell(a)
	}
	h.line, h.long = h.line[:0], !whole && !ours
}

// close hands on what has no end.
func (h *retryFilter) close() {
	if len(h.line) > 0 {
		h.pass(true)
	}
}

// codexLog is what its log tells at this level: of every request that it tries again, how long it waits before that.
const codexLog = "error,codex_core::responses_retry=warn"

var codexRetry = lazy(
	`codex_core::responses_retry: .*\((\d+)/(\d+) in ([\d.]+)(s|ms|µs|ns)\)\.\.\.(?:.* sampling_error=(.*))?`)

// codexHears reads "… codex_core::responses_retry: stream disconnected - retrying sampling request (1/5 in 7199.9s)...
// … sampling_error=…".
func codexHears(line string) (a stream.Attempt, ours bool) {
	if !strings.Contains(line, "codex_core::responses_retry:") {
		return a, false
	}
	m := codexRetry.FindStringSubmatch(line)
	if m == nil {
		return a, true
	}
	a = stream.Attempt{Number: number(m[1]), Most: number(m[2]), Status: statusInText(m[5]), Text: oneLine(m[5])}
	if m[4] == "s" {
		seconds, _ := strconv.ParseFloat(m[3], 64)
		a.Delay = time.Duration(min(seconds, mostWait.Seconds()) * float64(time.Second))
	}
	return a, true
}

// statusInText is the HTTP status that codex names in words: "last status: 429 Too Many Requests".
func statusInText(said string) int {
	if m := lastStatus.FindStringSubmatch(said); m != nil {
		return number(m[1])
	}
	return 0
}

var lastStatus = lazy(`\bstatus:? (\d{3})\b`)

var (
	opencodeLine = lazy(`^timestamp=\S+ level=[A-Z]+ `)
	opencodeFail = lazy(`message="stream error".* small=false .*error\.error="(?:AI_\w+Error: )?(.*?)"\s*$`)
)

// opencodeHears reads its log, of which a request that failed is the only thing it tells of one that it tries again:
// neither a status nor for how long it waits. small=true is a question for the session's title.
func opencodeHears(line string) (a stream.Attempt, ours bool) {
	if !opencodeLine.MatchString(line) {
		return a, false
	}
	if m := opencodeFail.FindStringSubmatch(line); m != nil {
		a.Text = oneLine(m[1])
	}
	return a, true
}
