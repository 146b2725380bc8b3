package agent

import (
	"io"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent/stream"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// facts are what a turn's output and its end say, before anybody judges them.
type facts struct {
	end    proc.Result
	any    bool           // it printed anything on standard output
	plain  bool           // what it printed was text, not its format
	result *stream.Result // how it says it ended; nil: it does not say
	retry  stream.Attempt // the last request to a model that it tried again
	limit  stream.Window  // the last it told of a usage limit
	said   bool           // it has an answer: words, or the form asked for
	text   string         // its last words
	noise  string         // the last lines that are not its format
	stderr string
}

// reader folds what an agent prints into a turn. It keeps the last message and the claim, not what was said before.
type reader struct {
	io.Writer // standard output
	talk      *talk
	decoder   *stream.Decoder
	facts     facts
	session   string
	message   string // id of the message that text is of
	text      string // its last claimBytes
	claim     loop.Claim
	claimed   bool // claim is of this message
	seen      loop.Usage
	counted   string // id of the last message that seen has
	tools     int
	failed    int // of the tools
}

// claimBytes is how much of a message is kept while it comes; a tag is looked for in that.
const claimBytes = 64 << 10

func newReader(t *talk, d dialect) *reader {
	r := &reader{talk: t}
	r.decoder = d.decode(t.clock(), r.event)
	r.Writer = r.decoder
	return r
}

func (r *reader) event(e stream.Event) {
	r.facts.any = true
	if e.Kind != stream.Retry { // C12
		r.talk.pulse.Beat()
	}
	r.talk.console.event(e)
	switch e.Kind {
	case stream.Session:
		r.session = strings.Clone(e.Session)
	case stream.Text:
		r.count(e)
		if !e.Nested {
			r.words(e)
		}
	case stream.ToolStart:
		r.count(e)
		r.tools++
	case stream.ToolEnd:
		if e.Tool.Failed {
			r.failed++
		}
	case stream.Retry:
		r.facts.retry = e.Retry
	case stream.Limit:
		r.facts.limit = e.Limit
	case stream.Ended:
		result := e.Result
		r.facts.result = &result
		if e.Session != "" {
			r.session = strings.Clone(e.Session)
		}
	case stream.Noise:
		r.facts.noise = lastBytes(r.facts.noise+"\n"+e.Text, 8<<10)
	}
}

// words notes what the agent itself says: its first tag in a message counts, and the last message with one (C2).
func (r *reader) words(e stream.Event) {
	r.facts.plain = r.facts.plain || e.Told
	if strings.TrimSpace(e.Text) == "" && !e.Delta {
		return
	}
	if e.Told {
		e.Text = strings.TrimSpace(withoutEcho(e.Text, r.talk.prompt, e.Beheaded))
	}
	switch {
	case r.text == "" || e.Message == "" || e.Message != r.message:
		r.text, r.message, r.claimed = "", strings.Clone(e.Message), false
	case !e.Delta:
		r.text += "\n"
	}
	r.text = lastBytes(r.text+e.Text, claimBytes)
	if r.claimed || !strings.Contains(e.Text, ">") {
		return
	}
	if claim, ok := loop.ReadClaim(r.text, r.talk.Completion); ok {
		r.claim, r.claimed = claim, true
	}
}

// count adds up what the messages had read, which is all there is to say of a turn that was killed before its result.
func (r *reader) count(e stream.Event) {
	if e.Message != r.counted || e.Message == "" {
		r.counted = strings.Clone(e.Message)
		r.seen = r.seen.Plus(e.Usage)
	}
}

// settled reports whether the agent had said how it ended, so that being killed afterwards changes nothing.
func (r *reader) settled() bool { return r.facts.result != nil && !r.facts.result.Failed }

// turn tells what the output said: class, reason, text, claim, usage. It is asked once, after the end.
func (r *reader) turn(end proc.Result, stderr string) loop.Turn {
	_ = r.decoder.Close()
	t := loop.Turn{Text: r.text, Claim: r.claim, Session: r.session, Usage: r.seen, Tools: r.tools, ToolErrors: r.failed}
	if res := r.facts.result; res != nil {
		t.Usage, t.Structured = res.Usage, string(res.Structured)
		if t.Text == "" && !res.Failed { // the formats without messages have only this
			t.Text = res.Text
			t.Claim, _ = loop.ReadClaim(res.Text, r.talk.Completion)
		}
	}
	r.facts.end, r.facts.stderr, r.facts.text = end, stderr, t.Text
	r.facts.said = strings.TrimSpace(t.Text) != "" || t.Structured != ""
	judged := r.talk.dialect.judge(r.facts, r.talk.now())
	t.Class, t.Reason, t.ResetAt = judged.class, judged.reason, judged.resets
	return t
}
