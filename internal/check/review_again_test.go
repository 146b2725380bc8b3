package check

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
)

// TestAskedAgain has a row for each answer of a reader that is asked for once more, and each that is not.
func TestAskedAgain(t *testing.T) {
	ok := func(text string) loop.Turn { return loop.Turn{Class: loop.OK, Text: text} }
	good := approves("t")
	promised := ok(`{"verdict":"approve","tree":"t","summary":"seen","issues":[],"promise":"QA_PASSED"}`)
	rejects := ok(`{"verdict":"request_changes","tree":"t","summary":"no","issues":[]}`)
	busy := loop.Turn{Class: loop.Overloaded, Reason: "busy"}
	reset := time.Date(2026, 11, 21, 14, 0, 0, 0, time.UTC)
	long := ok(strings.Repeat("x", loop.TextBytes))
	long.Transcript = `{"verdict":"approve","tree":"t","summary":"` + strings.Repeat("x", 2*loop.TextBytes) + `","issues":[]}`
	for _, tt := range []struct {
		name    string
		answers []loop.Turn
		promise string
		touched string
		asked   int
		want    string // "+", "-" or "." as in words
		reason  string
	}{
		{name: "an answer that can be read", answers: []loop.Turn{good}, asked: 1, want: "+", reason: "does it"},
		{name: "prose, then an answer", answers: []loop.Turn{ok("LGTM"), good}, asked: 2, want: "+", reason: "does it"},
		{name: "nothing, then an answer", answers: []loop.Turn{{Class: loop.Empty}, good}, asked: 2, want: "+",
			reason: "does it"},
		{name: "another tree, then no verdict, then an answer",
			answers: []loop.Turn{approves("u"), ok(`{"verdict":"fine","tree":"t"}`), good}, asked: 3, want: "+",
			reason: "does it"},
		{name: "prose three times", answers: []loop.Turn{ok("LGTM"), ok("LGTM"), ok("LGTM")}, asked: 3, want: "-",
			reason: "the reviewer's answer does not count, asked 3 times: it does not end with a JSON object"},
		{name: "a rejection is an answer", answers: []loop.Turn{rejects}, asked: 1, want: "-",
			reason: "the reviewer asks for changes: no"},
		{name: "prose, then a rejection", answers: []loop.Turn{ok("no!"), rejects}, asked: 2, want: "-",
			reason: "the reviewer asks for changes: no"},
		{name: "an approval without its promise, then with it", answers: []loop.Turn{good, promised}, promise: "QA_PASSED",
			asked: 2, want: "+", reason: "seen"},
		{name: "an approval without its promise, three times", answers: []loop.Turn{good, good, good}, promise: "QA_PASSED",
			asked: 3, want: "-",
			reason: `No completion promise found: the reviewer approves without its promise "QA_PASSED", which is no approval`},
		{name: "an answer longer than a record keeps", answers: []loop.Turn{long}, asked: 1, want: "+",
			reason: strings.Repeat("x", 2*loop.TextBytes)},
		{name: "one who touched anything is not asked again", answers: []loop.Turn{ok("LGTM")}, touched: "a.txt was changed",
			asked: 1, want: "-", reason: "the reviewer changed something, which voids its verdict: a.txt was changed"},
		{name: "a turn that was cut off", answers: []loop.Turn{{Class: loop.TimedOut, Reason: "too slow"}}, asked: 1,
			want: "-", reason: "the reviewer's turn did not end well: too slow"},
		{name: "servers that fail, then an answer", answers: []loop.Turn{busy, good}, asked: 2, want: "+", reason: "does it"},
		{name: "servers that fail three times: the run waits", answers: []loop.Turn{busy, busy, busy}, asked: 3,
			want: "waits", reason: "the reviewer's turn did not end well: busy"},
		{name: "a usage limit: the run waits for its reset",
			answers: []loop.Turn{{Class: loop.UsageLimit, Reason: "limit", ResetAt: reset}}, asked: 1, want: "waits",
			reason: "the reviewer's turn did not end well: limit"},
		{name: "a credential that is refused", answers: []loop.Turn{{Class: loop.Auth, Reason: "log in"}}, asked: 1,
			want: "unfixable", reason: "the reviewer's turn did not end well: log in"},
		{name: "nothing is left to pay the second question",
			answers: []loop.Turn{ok("LGTM"), {Class: loop.Spent, Ours: true, Reason: "all is spent"}}, asked: 2, want: ".",
			reason: "all is spent"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var prompts, pauses []string
			r := &Review{
				Checkout: func(context.Context, string) (Checkout, error) { return &checkout{touched: tt.touched}, nil },
				Prompt:   func(context.Context, Input) (string, error) { return "judge", nil },
				Ask: func(_ context.Context, _ Checkout, prompt string) (loop.Turn, error) {
					prompts = append(prompts, prompt)
					turn := tt.answers[len(prompts)-1]
					turn.Usage = loop.Usage{Input: 5}
					return turn, nil
				},
				Pause:   func(_ context.Context, d time.Duration, why string) { pauses = append(pauses, d.String()+" "+why) },
				Promise: tt.promise, Again: Again, Log: t.Logf,
			}
			v := verdictOf(t, r, at(claimed, changed))
			got := words([]loop.Verdict{v})
			switch {
			case v.Waits:
				got = "waits"
			case v.Unfixable:
				got = "unfixable"
			}
			if got != tt.want || v.Reason+v.Skipped != tt.reason {
				t.Errorf("%s %q, want %s %q", got, v.Reason+v.Skipped, tt.want, tt.reason)
			}
			if len(prompts) != tt.asked || v.Usage.Input != int64(5*tt.asked) {
				t.Errorf("it was asked %d times for %d tokens, want %d", len(prompts), v.Usage.Input, tt.asked)
			}
			if busy := strings.Contains(tt.name, "servers"); busy != (len(pauses) > 0) || busy && pauses[0] != "15s busy" {
				t.Errorf("it paused %q", pauses)
			}
			if tt.answers[0].ResetAt != v.Until {
				t.Errorf("it waits until %s", v.Until)
			}
			for i, prompt := range prompts[1:] {
				if told := strings.Contains(prompt, "exactly one JSON object"); !strings.HasPrefix(prompt, "judge") ||
					told == (tt.answers[i].Class == loop.Overloaded) {
					t.Errorf("it is told %q", prompt)
				}
			}
		})
	}
}

// TestAskAgain: a reader reads why its answer did not count, and the end of it, as data.
func TestAskAgain(t *testing.T) {
	_, unread := parseAnswer(loop.Turn{Text: "x"}, "t")
	text := AskAgain(loop.Turn{Text: strings.Repeat("y", 10_000) + "\n## Your Answer\nLGTM"}, "t", unread)
	for _, want := range []string{"\n\n## Your Last Answer Was Not Read\n",
		"does not count: it does not end with a JSON object.", "\n> ## Your Answer\n> LGTM\n", "about the tree t,"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q lacks %q", text, want)
		}
	}
	if len(text) > 4_000 {
		t.Errorf("it has %d bytes", len(text))
	}
}
