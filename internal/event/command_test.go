package event

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParseCommand(t *testing.T) {
	tests := []struct {
		name, body string
		want       Command
		ours       bool
		usage      string // part of the usage error
	}{
		{"run", "/ralph run", Command{Verb: Run}, true, ""},
		{"run with a hint of several lines", "/ralph run use the\nexisting parser",
			Command{Verb: Run, Hint: "use the\nexisting parser"}, true, ""},
		{"as a phone writes it", "/Ralph run", Command{Verb: Run}, true, ""},
		{"bare is help", "/ralph", Command{Verb: Help}, true, ""},
		{"status", " \n/ralph status\n", Command{Verb: Status}, true, ""},
		{"retry with everything", "/ralph retry --fresh --max-iterations 8 think again",
			Command{Verb: Retry, Fresh: true, MaxIterations: 8, Hint: "think again"}, true, ""},
		{"retry with =", "/ralph retry --max-iterations=3", Command{Verb: Retry, MaxIterations: 3}, true, ""},
		{"flags after the hint are words", "/ralph retry please --fresh", Command{Verb: Retry, Hint: "please --fresh"}, true,
			""},
		{"accept by name", "/ralph accept TestDiscount lib/x_test.py", Command{Verb: Accept,
			Accepts: []string{"TestDiscount", "lib/x_test.py"}}, true, ""},
		{"accept all", "/ralph accept all", Command{Verb: Accept, Accepts: []string{"all"}}, true, ""},
		{"accept names in quotes, on lines", "/ralph accept \"adds two numbers\",\n`TestA` 'x y'", Command{Verb: Accept,
			Accepts: []string{"adds two numbers", "TestA", "x y"}}, true, ""},
		{"accept without a name", "/ralph accept", Command{}, true, "without a name"},
		{"plan with a hint", "/ralph plan two stories\nat most", Command{Verb: Plan, Hint: "two stories\nat most"}, true, ""},
		{"approve", "/ralph Approve", Command{Verb: Approve}, true, ""},
		{"a flag of another command is a word", "/ralph plan --fresh", Command{Verb: Plan, Hint: "--fresh"}, true, ""},
		{"a no-break space", "\u00a0/ralph\u00a0run", Command{Verb: Run}, true, ""},
		{"a colon after the phrase", "/ralph: run", Command{Verb: Run}, true, ""},
		{"a phone's dash", "/ralph retry —fresh –max-iterations 3 — and think", Command{Verb: Retry, Fresh: true, MaxIterations: 3,
			Hint: "— and think"}, true, ""},
		{"by mail", "/ralph retry use b\n\nOn Mon, 2 Mar 2026 at 10:00, ralph[bot] <n@github.com>\nwrote:\n\n> /ralph stop\n",
			Command{Verb: Retry, Hint: "use b"}, true, ""},
		{"by mail, with a footer", "/ralph retry use b\n> quoted\nand c\n\n—\nReply to this email directly, view it on GitHub",
			Command{Verb: Retry, Hint: "use b\nand c"}, true, ""},
		{"not the first word", "please /ralph run", Command{}, false, ""},
		{"in a quote", "> /ralph run", Command{}, false, ""},
		{"in a fence", "```\n/ralph run\n```", Command{}, false, ""},
		{"a word that begins with it", "/ralph:plan", Command{}, false, ""},
		{"nothing", "", Command{}, false, ""},
		{"an unknown word", "/ralph dance", Command{}, true,
			"“dance” is not understood; allowed: run, retry, continue, accept, fix, stop, hint, plan, approve, status, help"},
		{"an unknown flag", "/ralph retry --hard", Command{}, true, "“--hard”"},
		{"no number", "/ralph retry --max-iterations", Command{}, true, "a whole number from 1 to 100"},
		{"too large a number", "/ralph retry --max-iterations 1000", Command{}, true, "a whole number from 1 to 100"},
		{"a hostile word", "/ralph @everyone<!--", Command{}, true, "“?everyone?!--”"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ours, err := ParseCommand(tt.body, "/ralph")
			if !reflect.DeepEqual(got, tt.want) || ours != tt.ours {
				t.Errorf("ParseCommand(%q) = %+v, %v, want %+v, %v", tt.body, got, ours, tt.want, tt.ours)
			}
			switch {
			case tt.usage == "" && err != nil:
				t.Errorf("error: %v", err)
			case tt.usage != "" && (err == nil || !strings.Contains(err.Error(), tt.usage)):
				t.Errorf("error: %v, want one with %q", err, tt.usage)
			}
		})
	}
}

func FuzzParseCommand(f *testing.F) {
	for _, seed := range []string{"/ralph run", "/ralph retry --max-iterations 3 x", "> /ralph", "/ralph \x00\xff",
		"/ralph retry --fresh=1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		cmd, ours, err := ParseCommand(body, "/ralph")
		if !ours && (err != nil || !reflect.DeepEqual(cmd, Command{})) {
			t.Errorf("%q is not ours, but gives %+v, %v", body, cmd, err)
		}
		if ours && !strings.HasPrefix(strings.ToLower(strings.TrimSpace(body)), "/ralph") {
			t.Errorf("%q is taken for a command", body)
		}
		var usage *UsageError
		if err != nil && (!errors.As(err, &usage) || strings.ContainsAny(err.Error(), "\n@<`") ||
			!utf8.ValidString(err.Error())) {
			t.Errorf("%q: the error is not one harmless line: %q", body, err)
		}
		if cmd.MaxIterations < 0 || cmd.MaxIterations > 100 {
			t.Errorf("%q asks for %d iterations", body, cmd.MaxIterations)
		}
	})
}
