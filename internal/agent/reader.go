package agent

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/stream"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// reader folds what an agent prints into a turn: the last message, the claim, and within bounds all that the agent
// said.
type reader struct {
	io.Writer // standard output
	spending
	waiting

	talk    *turnInput
	decoder *stream.Decoder
	facts   facts
	noise   *proc.Tail
	session string
	message string           // id of the message that text is of
	text    []byte           // the end of it, at least its last claimBytes
	said    *proc.Tail       // every message
	claim   loop.Claim       // of the last message with one
	tags    loop.ClaimReader // of this message
	tools   int
	failed  int // of the tools
}

// spending is what a turn has taken so far.
type spending struct {
	seen    loop.Usage
	counted []string // ids of the last messages that seen has
	over    string   // why the turn was stopped: it has spent more than was left; "": it was not
}

// waiting is what a turn waits for, if it does.
type waiting struct {
	waits  bool      // facts.retry is the last that it reported: the model has not answered since
	resets time.Time // when it retries that request, as far as it reported
	sat    bool      // it was stopped because that is too far away
	spoke  bool      // the model has answered anything
	// grace ends an agent that does not end after it has said how it ended; lingers: it did.
	grace   *time.Timer
	lingers atomic.Bool
}

// plain reports whether what the agent prints is text, of which any line is a word of its own.
func (r *reader) plain() bool { return r.talk.Text || r.talk.dialect.name == command.name }

func newSaid() *proc.Tail { return proc.NewTail(loop.SaidBytes/2, loop.SaidBytes/2) }

// event folds one event. Strings in it may be a part of a whole line, so what is kept of it is copied.
func (r *reader) event(e stream.Event) {
	first := !r.facts.any
	r.facts.any = true
	if e.Kind != stream.Retry {
		r.talk.pulse.Beat()
	}
	r.talk.console.event(e)
	switch e.Kind {
	case stream.Text, stream.ToolStart, stream.ToolEnd, stream.Todo, stream.Ended:
		r.answered()
		r.spoke = true
	case stream.Noise:
		r.spoke = r.spoke || r.plain()
	}
	if r.grace != nil {
		r.grace.Stop() // it continues
	}
	switch e.Kind {
	case stream.Session:
		r.session = strings.Clone(e.Session)
	case stream.Text:
		r.count(e)
		if !e.Nested {
			r.words(e)
		}
	case stream.Progress:
		r.count(e)
	case stream.ToolStart:
		r.count(e)
		r.tools++
	case stream.ToolEnd:
		if e.Tool.Failed {
			r.failed++
		}
	case stream.Retry:
		r.tried(e.Retry)
	case stream.Limit:
		r.facts.limit = e.Limit
	case stream.Ended:
		result := e.Result
		r.facts.result = &result
		if r.talk.linger > 0 && r.talk.stop != nil {
			r.grace = time.AfterFunc(r.talk.linger, func() { r.lingers.Store(true); r.talk.stop() })
		}
		if e.Session != "" {
			r.session = strings.Clone(e.Session)
		}
	case stream.Noise:
		if r.facts.asked {
			return
		}
		_, _ = io.WriteString(r.noise, e.Text+"\n")
		if asks := r.talk.dialect.loginPrompt; first && asks != nil && asks.MatchString(e.Text) {
			r.ask()
		}
	}
}

// ask ends a turn that would wait for a human to log in.
func (r *reader) ask() {
	if r.facts.asked = true; r.talk.stop != nil {
		r.talk.stop()
	}
}

// words notes what the agent itself says: its first tag in a message counts, and the last message with one.
func (r *reader) words(e stream.Event) {
	r.facts.plain = r.facts.plain || e.Told
	if strings.TrimSpace(e.Text) == "" && !e.Delta {
		return
	}
	if e.Told {
		e.Text = strings.TrimSpace(withoutEcho(e.Text, r.talk.prompt, e.Beheaded))
	}
	if e.Beheaded {
		_, _ = io.WriteString(r.said, "[... the beginning is truncated ...]\n")
	}
	switch {
	case len(r.text) == 0 || e.Message == "" || e.Message != r.message:
		if r.said.Len() > 0 {
			_, _ = io.WriteString(r.said, "\n")
		}
		r.endMessage()
		r.text, r.message = r.text[:0], strings.Clone(e.Message)
	case !e.Delta:
		r.add("\n")
	}
	r.add(e.Text)
	if extra := len(r.text) - claimBytes; extra > claimBytes { // now and then, not at every piece
		r.text = append([]byte(nil), r.text[extra:]...)
	}
}

func (r *reader) add(text string) {
	r.text = append(r.text, text...)
	_, _ = io.WriteString(r.said, text)
	_, _ = io.WriteString(&r.tags, text)
}

// endMessage notes what the message claims that has ended.
func (r *reader) endMessage() {
	if c := r.tags.Claim(); c.Tag != "" || c.Left != "" && r.claim.Tag == "" {
		r.claim = c
	}
	r.tags = loop.ClaimReader{Completion: r.talk.Completion, Promises: r.talk.Promises}
}

// trouble is what blocked a turn, as far as it reported: the last request that it retried.
func (r *reader) trouble() string {
	if r.facts.retry == (stream.Attempt{}) {
		return ""
	}
	return fmt.Sprintf("its model did not answer, status %d %s, attempt %d", r.facts.retry.Status, r.facts.retry.Text,
		r.facts.retry.Number)
}

// turn tells what the output said: class, reason, text, claim, usage. It is asked once, after the end.
func (r *reader) turn(end proc.Result, stderr string) loop.Turn {
	_ = r.decoder.Close()
	if said := r.talk.answer(); said != "" {
		r.said = newSaid() // what it printed besides has its tools' answers in it
		r.words(stream.Event{Kind: stream.Text, Text: said})
	}
	r.endMessage()
	t := loop.Turn{Text: safetext.LastBytes(strings.ToValidUTF8(string(r.text), "\uFFFD"), claimBytes), Claim: r.claim,
		Session: r.session, Usage: r.seen, Tools: r.tools, ToolErrors: r.failed,
		Reports: r.talk.dialect.counts && !r.talk.Text}
	if res := r.facts.result; res != nil {
		t.Structured = string(res.Structured)
		if t.Usage = res.Usage; t.Usage == (loop.Usage{}) { // amp's has no usage
			t.Usage = r.seen
		}
		if t.Text == "" && !res.Failed { // the formats without messages have only this
			t.Text = res.Text
			t.Claim, _ = loop.ReadClaim(res.Text, r.talk.Completion, r.talk.Promises...)
			_, _ = io.WriteString(r.said, res.Text)
		}
	}
	t.Transcript = strings.ToValidUTF8(r.said.String(), "\uFFFD")
	if r.facts.asked { // the address to log in at is no one's business
		t.Text, t.Transcript, r.facts.plain = "", "", false
	}
	r.facts.end, r.facts.stderr, r.facts.text, r.facts.noise = end, stderr, t.Text, r.noise.String()
	// of an agent that gives its form in words
	if t.Structured == "" && r.talk.Schema != "" && json.Valid([]byte(t.Text)) &&
		strings.HasPrefix(strings.TrimSpace(t.Text), "{") {
		t.Structured = strings.TrimSpace(t.Text)
	}
	r.facts.said = strings.TrimSpace(t.Text) != "" || t.Structured != ""
	r.facts.idle = t.Usage == loop.Usage{} && t.Tools == 0 && t.Claim == loop.Claim{} && t.Structured == "" &&
		(t.Reports || strings.Count(strings.TrimSpace(t.Text), "\n") < loop.FewLines)
	r.facts.reports, r.facts.hung = t.Reports, r.lingers.Load()
	judged := r.talk.dialect.judge(r.facts, r.talk.now())
	t.Class, t.Reason, t.ResetAt, t.ByWords = judged.class, judged.reason, judged.resets, judged.byWords
	return t
}

// longestAgo is how many messages are remembered by their ids: those of several contexts come in turn.
const longestAgo = 32

// count adds up what the messages took, which is all that is known of a turn that was killed before its result. All
// blocks of a message report the same. A turn that continues although it has spent more than is left is stopped: it
// asks its model again, or will as soon as its tool has run. One that only finishes its answer is not stopped, because
// that costs nothing more.
func (r *reader) count(e stream.Event) {
	fresh := !slices.Contains(r.counted, e.Message)
	if e.Message == "" { // a sign of life, or a message without an id, which reports its usage once
		fresh = e.Usage != (loop.Usage{})
	}
	beyond := fresh && r.beyond() != ""
	if fresh {
		r.seen = r.seen.Plus(e.Usage)
	}
	if fresh && e.Message != "" {
		if r.counted = append(r.counted, strings.Clone(e.Message)); len(r.counted) > longestAgo {
			r.counted = slices.Delete(r.counted, 0, 1)
		}
	}
	if why := r.beyond(); r.over == "" && why != "" && (beyond || e.Kind == stream.ToolStart) && r.talk.stop != nil {
		r.over = why
		r.talk.stop()
	}
}

// beyond says of which limit the turn has spent more than was left; empty: of none.
func (r *reader) beyond() string {
	switch left := r.talk.Left; {
	case left.Tokens > 0 && r.seen.Tokens() > left.Tokens:
		return fmt.Sprintf("the agent was stopped, since the run had %d tokens left and it took %d: raise maxTokens, or "+
			"ask for less at once", left.Tokens, r.seen.Tokens())
	case left.CostUSD > 0 && r.seen.CostUSD > left.CostUSD:
		return fmt.Sprintf("the agent was stopped, since the run had %s left and it spent %s: raise %s, or ask for "+
			"less at once", loop.Dollars(left.CostUSD), loop.Dollars(r.seen.CostUSD), left.Setting())
	}
	return ""
}

func newReader(t *turnInput, d dialect) *reader {
	if t.Text {
		d.decode, t.dialect.ends = stream.NewPlain, false
	}
	r := &reader{talk: t, noise: proc.NewTail(0, 8<<10), said: newSaid()}
	r.decoder = d.decode(t.now, r.event)
	r.Writer = t.console.stdout(r.decoder)
	return r
}

// Some agents sit a usage limit out: they print nothing for as long as their provider told them to wait, which may be
// hours. What they wait for is in the requests that they try again, and of some agents only in their log on standard
// error.

// tried notes a request that the agent tries again. If it must wait for longer than it can be silent, the turn ends
// immediately, because it would only cost time.
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

// limited reports whether a request failed because of a usage limit.
func limited(a stream.Attempt) bool {
	class := byWords(a.Text)
	if a.Status > 0 {
		class = byStatus(a.Status, class)
	}
	return class == loop.UsageLimit
}
