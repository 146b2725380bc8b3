package loop

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// TestReadClaim has a row for each place of a tag, and each thing that it may hold.
func TestReadClaim(t *testing.T) {
	const done = "<promise>COMPLETE</promise>"
	for name, tt := range map[string]struct {
		text, want string // "done", or the tag with its text, or "left: " and why; empty: nothing
	}{
		"no tag":                    {"All done!", ""},
		"the response":              {"Fine.\n<response>DONE</response>", "done"},
		"case and white space":      {"<RESPONSE>\n  done \n</response>", "done"},
		"another response":          {"<response>NOT DONE</response>", "response NOT DONE"},
		"an empty response":         {"<response></response>", "response "},
		"the first tag counts":      {"<response>NO</response><response>DONE</response>", "response NO"},
		"on lines of their own":     {"<response>NO</response>\nx\n<response>DONE</response>", "response NO"},
		"a promise":                 {done, "done"},
		"the coder's promise":       {"<promise>implementation_complete</promise>", "done"},
		"another promise":           {"<promise>REVIEW_PASSED</promise>", "promise REVIEW_PASSED"},
		"an unclosed tag":           {"<response>DONE", ""},
		"an unclosed tag before":    {"<response> is the tag.\n" + done, "done"},
		"a question":                {"<question>Which one?\n\n```\na or b\n```\n</question>", "question Which one? ``` a or b ```"},
		"nothing to do":             {"<response>NOTHING: it is there</response>", "response NOTHING: it is there"},
		"a list's item":             {"- tests pass\n- " + done, "done"},
		"bold, indented, CRLF":      {"Done.\r\n   **" + done + "**  \r\n", "done"},
		"more text after its line":  {done + "\n\nThe tests are in a_test.go.", "done"},
		"behind a sentence":         {"All five pass. " + done, "done"},
		"behind a bold one":         {"**All five pass!** " + done + "\n", "done"},
		"two behind a sentence":     {"Done. <response>DONE</response> " + done, "done"},
		"a sentence, and more":      {"All pass. " + done + "\nBut not yet.", "left: before other text"},
		"behind no sentence":        {"all five pass " + done, "left: within a sentence"},
		"behind a colon":            {"My answer: " + done, "left: within a sentence"},
		"announced":                 {"I will print " + done, "left: announced, not stated"},
		"announced on its own line": {"When all pass I will then print:\n\n" + done + "\n\nTwo are left.", "left: announced, not stated"},
		"below a colon, at the end": {"The result:\n\n" + done, "done"},
		"below a colon, and more":   {"The last line will be:\n" + done + "\nTwo are left.", "left: before other text"},
		"denied":                    {"Stories remain, so I do not emit " + done + " yet.", "left: announced, not stated"},
		"text after it":             {done + " comes last", "left: before other text"},
		"quoted":                    {"> user: when done print " + done, "left: within a sentence"},
		"inline code":               {"I print `" + done + "` later.", "left: inside inline code"},
		"a line of inline code":     {"`" + done + "`", "left: inside inline code"},
		"a code fence":              {"So:\n```\n" + done + "\n```\n", "left: inside a code fence"},
		"an open fence":             {"~~~text\n" + done, "left: inside a code fence"},
		"behind a fence":            {"````\n```\n````\n" + done, "done"},
		"left out, then stated":     {"I will print `" + done + "`.\n" + done, "done"},
	} {
		t.Run(name, func(t *testing.T) {
			c, ok := ReadClaim(tt.text, "DONE")
			got := c.Tag + " " + c.Text
			switch {
			case c.Done:
				got = "done"
			case c.Left != "":
				got = "left: " + c.Left
			case !ok:
				got = ""
			}
			if got != tt.want || ok != (c.Tag != "") {
				t.Errorf("ReadClaim(%q) = %+v, %v; want %q", tt.text, c, ok, tt.want)
			}
		})
	}
}

// TestTurnsThatDoNoWork: what a run does after turns that changed nothing, and whether they are attempts.
func TestTurnsThatDoNoWork(t *testing.T) {
	at := time.Date(2026, 11, 28, 3, 0, 0, 0, time.UTC)
	said := func(text string) Turn { return Turn{Class: OK, Text: text} }
	reports := Turn{Class: OK, Text: "no seat", Reports: true, ResetAt: at.Add(time.Hour)}
	worked := reports
	worked.Usage.Output = 9
	limited := Turn{Class: UsageLimit, ByWords: true, Reason: "limit"}
	asks := Turn{Class: OK, Claim: Claim{Tag: questionTag, Text: "a or b?"}}
	for name, tt := range map[string]struct {
		turns  []Turn
		commit Commit
		do     Do
		reason string
		until  time.Time
	}{
		"it reports nothing spent":       {[]Turn{reports}, Commit{Empty: true}, Wait, "the agent did nothing and said: no seat", at.Add(30 * time.Second)},
		"twice":                          {[]Turn{reports, reports}, Commit{Empty: true}, Stop, "no seat (the agent cannot work: it spent, changed and claimed nothing)", at.Add(time.Hour)},
		"it spent something":             {[]Turn{worked}, Commit{Empty: true}, Judge, "", time.Time{}},
		"it changed something":           {[]Turn{reports}, Commit{}, Judge, "", time.Time{}},
		"the same line twice":            {[]Turn{said("x"), said("x")}, Commit{Empty: true}, Stop, "x (the agent cannot work: it spent, changed and claimed nothing)", time.Time{}},
		"two lines":                      {[]Turn{said("x"), said("y")}, Commit{Empty: true}, Judge, "", time.Time{}},
		"many lines":                     {[]Turn{said(strings.Repeat("x\n", 6) + "x")}, Commit{Empty: true}, Judge, "", time.Time{}},
		"nobody looks for changes":       {[]Turn{said("x"), said("x")}, Commit{Unchecked: true}, Judge, "", time.Time{}},
		"a limit in words, no change":    {[]Turn{limited}, Commit{Empty: true}, Wait, "limit", at.Add(backoff(1, at))},
		"a limit in words, and a change": {[]Turn{limited}, Commit{}, Judge, "", time.Time{}},
		"a question":                     {[]Turn{asks}, Commit{Empty: true}, Stop, "a or b?", time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			s := Fold([]Record{{Type: Started, At: at, Start: &Start{Run: "r", Task: "t", MaxIterations: 5}}})
			for _, turn := range tt.turns {
				s = s.With(Record{Type: TurnBegun, At: at, Iteration: 1}).With(Record{Type: Turned, At: at, Iteration: 1, Turn: &turn}).
					With(Record{Type: Committed, At: at, Iteration: 1, Commit: &tt.commit})
			}
			step := Next(s, Limits{}, at)
			if step.Do != tt.do || step.Reason != tt.reason || !step.Until.Equal(tt.until) || step.Do == Stop && step.Outcome != Waiting {
				t.Errorf("step = %+v", step)
			}
			s = s.With(Record{Type: Ended, At: at, End: &End{Outcome: Waiting}}).With(Record{Type: Resumed, At: at, Resume: &Resume{}})
			if step = Next(s, Limits{}, at); tt.do != Judge && (step.Do != TakeTurn || step.Iteration != 1) {
				t.Errorf("resumed, step = %+v; want the same iteration's turn", step)
			}
		})
	}
}

// TestExcerpt: what is cut is said once for the lines and once for the bytes, word for word as S0-44 has it.
func TestExcerpt(t *testing.T) {
	line := func(n int) string { return strings.Repeat("x", n-1) + "\n" }
	tests := []struct {
		name, output string
		want         string // of the marks; empty: nothing is cut
		kept         int    // bytes beside them
	}{
		{"nothing", "", "", 0},
		{"no line end", "a\nb", "", 3},
		{"as many lines as are kept", strings.Repeat("a\n", OutputLines), "", 2 * OutputLines},
		{"as many bytes as are kept", strings.Repeat("x", OutputBytes), "", OutputBytes},
		{"a line too many", strings.Repeat("a\n", OutputLines+1), "[... 1 lines truncated ...]\n", 2 * OutputLines},
		{"a byte too many, in one line", strings.Repeat("x", OutputBytes+1), "\n[... 1 bytes truncated ...]\n", OutputBytes},
		{"long lines, not many", strings.Repeat(line(1024), 20), "[... 4096 bytes truncated ...]\n", OutputBytes},
		{"many long lines", strings.Repeat(line(1024), 150),
			"[... 50 lines truncated ...]\n[... 86016 bytes truncated ...]\n", OutputBytes},
		{"many lines, the first long", line(60000) + strings.Repeat("a\n", 200),
			"\n[... 101 lines truncated ...]\n[... 43814 bytes truncated ...]\n", OutputBytes},
		{"many lines, the last long", strings.Repeat("a\n", 200) + line(60000),
			"[... 101 lines truncated ...]\n[... 43814 bytes truncated ...]\n", OutputBytes},
		{"no character is cut", "x" + strings.Repeat("€", OutputBytes), "\n[... 32769 bytes truncated ...]\n", OutputBytes},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Excerpt(tt.output)
			head, tail, cut := strings.Cut(got, tt.want)
			if tt.want == "" {
				head, tail = got, ""
			}
			if !cut || len(head)+len(tail) != tt.kept || !strings.HasPrefix(tt.output, head) ||
				!strings.HasSuffix(tt.output, tail) || !utf8.ValidString(got) {
				t.Errorf("%d bytes before and %d after %q, want %d together:\n%.300q", len(head), len(tail), tt.want, tt.kept, got)
			}
			for _, kind := range []string{" lines truncated ...]", " bytes truncated ...]"} {
				if n := strings.Count(got, kind); n != strings.Count(tt.want, kind) {
					t.Errorf("%q stands there %d times", kind, n)
				}
			}
		})
	}
}

func TestExitCodes(t *testing.T) {
	for o, want := range map[Outcome]int{Done: 0, Capped: 1, Stuck: 1, Timeout: 1, Budget: 1, Failed: 1, Invalid: 2,
		Waiting: 3, Refused: 4, Interrupted: 130} {
		if got := o.ExitCode(); got != want {
			t.Errorf("%s exits %d, want %d", o, got, want)
		}
	}
}
