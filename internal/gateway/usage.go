package gateway

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ralph-loop/ralph/internal/loop"
)

// Protocol is the form of requests to a model.
type Protocol string

// The protocols. Gemini's paths are also those of Vertex.
const (
	Anthropic Protocol = "anthropic"
	Responses Protocol = "openai-responses"
	Chat      Protocol = "openai-chat"
	Gemini    Protocol = "gemini"
)

const (
	mostTokens = 1 << 40 // of one answer: what says more is wrong
	// perToken is how many bytes of text a token is taken for where no one says it.
	perToken = 4
)

// tally is what one answer has said so far. The numbers are the provider's own until sum.
type tally struct {
	protocol Protocol
	asked    string // the requested model
	served   string // the model that answered

	input, cacheRead, cacheWrite, hourWrite, output, reasoning, tools int64

	known  bool  // it has said what was read
	final  bool  // it has said what was written, as a whole
	failed bool  // it has said that it failed
	text   int64 // bytes of what was written
}

// use takes in what an answer says of tokens, in the words of its protocol. What is not said stays.
func (t *tally) use(kind string, v gjson.Result) {
	set := func(to *int64, path string) {
		if n := v.Get(path); n.Type == gjson.Number {
			*to = int64(min(max(n.Num, 0), mostTokens))
			t.known = true
		}
	}
	switch t.protocol {
	case Anthropic:
		set(&t.input, "input_tokens")
		set(&t.cacheRead, "cache_read_input_tokens")
		set(&t.cacheWrite, "cache_creation_input_tokens")
		set(&t.hourWrite, "cache_creation.ephemeral_1h_input_tokens")
		set(&t.output, "output_tokens")
	case Responses:
		set(&t.input, "input_tokens")
		set(&t.cacheRead, "input_tokens_details.cached_tokens")
		set(&t.cacheWrite, "input_tokens_details.cache_write_tokens")
		set(&t.output, "output_tokens")
	case Chat:
		set(&t.input, "prompt_tokens")
		set(&t.cacheRead, "prompt_tokens_details.cached_tokens")
		set(&t.cacheWrite, "prompt_tokens_details.cache_write_tokens")
		set(&t.output, "completion_tokens")
	case Gemini:
		set(&t.input, "promptTokenCount")
		set(&t.tools, "toolUsePromptTokenCount")
		set(&t.cacheRead, "cachedContentTokenCount")
		set(&t.output, "candidatesTokenCount")
		set(&t.reasoning, "thoughtsTokenCount")
	}
	t.final = t.final || t.known && kind != "message_start"
}

// cut says that the answer broke off. What a protocol says again and again may then be out of date.
func (t *tally) cut() {
	if t.protocol == Chat || t.protocol == Gemini {
		t.final = false
	}
}

// name is the model; "" if no one named it. One that answered under its name with a date has the requested name.
func (t *tally) name() string {
	if t.asked != "" && strings.HasPrefix(t.served, t.asked) {
		return t.asked
	}
	return cmp.Or(t.served, t.asked)
}

// sum is the total. ended: no more bytes follow, so what was not reported is estimated, from the bytes of the request
// and of the text. No token is in two of the kinds. CostUSD is 0 if the price is not known.
func (t *tally) sum(prices Prices, ended bool, asked int64) (u loop.Usage, priced bool) {
	u = loop.Usage{Input: t.input, CacheRead: t.cacheRead, CacheWrite: t.cacheWrite, Output: t.output}
	switch t.protocol {
	case Responses, Chat: // what was read has what the cache had, and what it got
		u.Input = max(0, t.input-t.cacheRead-t.cacheWrite)
	case Gemini: // the same, and what was written is without what was thought
		u.Input = max(0, t.input-t.cacheRead) + t.tools
		u.Output += t.reasoning
	}
	if ended && !t.final && (t.known || t.text > 0 || !t.failed) {
		if !t.known {
			u.Input = asked / perToken
		}
		u.Output = max(u.Output, t.text/perToken)
	}
	p, priced := prices.Of(t.name())
	if !priced { // the model that answered may have another name
		p, priced = prices.Of(t.asked)
	}
	if priced {
		p = p.of(u.Input + u.CacheRead + u.CacheWrite)
		hour := min(t.hourWrite, t.cacheWrite)
		u.CostUSD = (float64(u.Input)*p.Input + float64(u.CacheRead)*p.CacheRead + float64(u.Output)*p.Output +
			float64(u.CacheWrite-hour)*p.CacheWrite + float64(hour)*2*p.Input) / 1e6
	}
	return u, priced
}
