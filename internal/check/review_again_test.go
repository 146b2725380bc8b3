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
	named := ok(`{"verdict":"approve","tree":"t","summary":"named","issues":[],"accepts":[{"name":"a_test.go","reason":"asked for"}]}`)
	busy := loop.Turn{Class: loop.Overloaded, Reason: "busy"}
	reset := time.Date(2026, 11, 21, 14, 0, 0, 0, time.UTC)
	long := ok(strings.Repeat("x", loop.TextBytes))
	long.Transcript = `{"verdict":"approve","tree":"t","summary":"` + strings.Repeat("x", 2*loop.TextBytes) + `","issues":[]}`
	for _, tt := range []struct {
		name    string
		answers []loop.Turn
		promise string
		touched string
		open    string // the name of a finding
		asked   int
		want    string // "+", "-" or "." as in words
		reason  string
	}{
		{name: "an answer that can be read", answers: []loop.Turn{good}, asked: 1, want: "+", reason: "does it"},
		{name: "prose, then an answer", answers: []loop.Turn{ok("LGTM"), good}, asked: 2, want: "+", reason: "does it"},
		{name: "another tree, then no verdict, then an answer",
			answers: []loop.Turn{approves("u"), ok(`{"verdict":"fine","tree":"t"}`), good}, asked: 3, want: "+",
			reason: "does it"},
		{name: "prose three times", answers: []loop.Turn{ok("LGTM"), ok("LGTM"), ok("LGTM")}, asked: 3, want: "waits",
			reason: "checked, not reviewed: the reviewer's answer does not count, asked 3 times: it holds no verdict that can be read"},
		{name: "a rejection is an answer", answers: []loop.Turn{rejects}, asked: 1, want: "-",
			reason: "the reviewer asks for changes: no"},
		{name: "an approval without its promise, then with it", answers: []loop.Turn{good, promised}, promise: "QA_PASSED",
			asked: 2, want: "+", reason: "seen"},
		{name: "an approval without its promise, three times", answers: []loop.Turn{good, good, good}, promise: "QA_PASSED",
			asked: 3, want: "waits",
			reason: `checked, not reviewed: the reviewer's answer does not count, asked 3 times: it approves without its promise "QA_PASSED"`},
		{name: "an answer longer than a record keeps", answers: []loop.Turn{long}, asked: 1, want: "+",
			reason: strings.Repeat("x", 2*loop.TextBytes)},
		{name: "one who touched anything is not asked again", answers: []loop.Turn{ok("LGTM")}, touched: "a.txt was changed",
			asked: 1, want: "-", reason: "the reviewer changed something, which voids its verdict: a.txt was changed"},
		{name: "a turn that was cut off", answers: []loop.Turn{{Class: loop.TimedOut, Reason: "too slow"}}, asked: 1,
			want: "waits", reason: "checked, not reviewed: the reviewer's turn did not end well: too slow"},
		{name: "a turn that broke, then an answer", answers: []loop.Turn{{Class: loop.Broke, Reason: "oops"}, good}, asked: 2,
			want: "+", reason: "does it"},
		{name: "a name is forgotten", answers: []loop.Turn{good, named}, open: "a_test.go", asked: 2, want: "+", reason: "named"},
		{name: "a name is forgotten twice: a person is asked", answers: []loop.Turn{good, good}, open: "a_test.go", asked: 2,
			want: "+", reason: "does it"},
		{name: "a name is forgotten, then anything: the approval holds", answers: []loop.Turn{good, ok("LGTM")},
			open: "a_test.go", asked: 2, want: "+", reason: "does it"},
		{name: "a name is forgotten, then not accepted", answers: []loop.Turn{good, rejects}, open: "a_test.go", asked: 2,
			want: "-", reason: "the reviewer asks for changes: no"},
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
			r := reader(&checkout{touched: tt.touched}, func(prompt string) loop.Turn {
				prompts = append(prompts, prompt)
				turn := tt.answers[len(prompts)-1]
				turn.Usage = loop.Usage{Input: 5}
				return turn
			})
			r.Pause = func(_ context.Context, d time.Duration, why string) { pauses = append(pauses, d.String()+" "+why) }
			r.Promise, r.Log = tt.promise, t.Logf
			judged := Input{State: at(claimed, changed), Iteration: *at(claimed, changed).Last()}
			if tt.open != "" {
				judged.Verdicts = []loop.Verdict{{Check: WeakenedCheck, Severity: loop.Soft,
					Concerns: []loop.Concern{{Name: tt.open, Kind: loop.Weakens, Message: "m"}}}}
			}
			v, err := r.Run(t.Context(), judged)
			if v.Severity = loop.Hard; err != nil {
				t.Fatal(err)
			}
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
				want := "exactly one JSON object in the form above, about the tree t,"
				if tt.open != "" {
					want = "without a word on some of these findings: a_test.go."
				}
				if told := strings.Contains(prompt, want); !strings.HasPrefix(prompt, "judge") ||
					told == (tt.answers[i].Class == loop.Overloaded) || strings.Contains(prompt, "LGTM") {
					t.Errorf("it is told %q", prompt)
				}
			}
		})
	}
}
