package hook

import (
	"errors"
	"strings"
	"testing"
)

// TestThresholds: each is told of once; of several at once the highest is, and none of them again (S4-116).
func TestThresholds(t *testing.T) {
	said := 0
	for _, step := range []struct {
		percent float64
		want    string // how the message begins; "" is none
		said    int
	}{
		{49.99, "", 0},
		{50, "[NOTICE] About 50% of the context window is used. Be mindful of remaining space.", 50},
		{55, "", 50},
		{60, "[NOTICE]", 60},
		{60, "", 60},
		{70.4, "[WARNING] About 70% of the context window is used. Finish your current task and commit soon.", 70},
		{80, "[WARNING]", 80},
		{55, "", 80},
		{90, "[CRITICAL] About 90% of the context window is used. Wrap up immediately. Do NOT start new work.", 90},
		{150, "", 90},
	} {
		var a Answer
		a, said = Monitor("", step.percent, said)
		got := ""
		if a.Specific != nil {
			got = a.Specific.AdditionalContext
		}
		if step.want == "" && got != "" || !strings.HasPrefix(got, step.want) || said != step.said {
			t.Errorf("at %v: %q, said %v", step.percent, got, said)
		}
	}
	a, said := Monitor("AfterTool", 95, 50)
	if !strings.HasPrefix(a.Specific.AdditionalContext, "[CRITICAL]") || a.Specific.Event != "AfterTool" || said != 90 {
		t.Errorf("several at once: %+v, %v", a.Specific, said)
	}
}

// TestMessages are those of the specification, letter for letter (S4-53).
func TestMessages(t *testing.T) {
	for percent, want := range map[float64]string{
		60: `Be mindful of remaining space. Plan to finish your current task within this session. If you discover follow-up work, add new stories to tasks.json — the next iteration will pick them up.`,
		80: `Finish your current task and commit soon. Do not start additional tasks. If work remains, create new stories in tasks.json for the next iteration and capture any implementation details or insights in progress.txt so the next iteration has full context.`,
		90: `Wrap up immediately. Do NOT start new work. Instead: (1) create tasks in tasks.json for any remaining work, (2) write implementation details, insights, and handoff notes to progress.txt, (3) commit all changes, (4) stop. The next iteration will continue from where you left off.`,
	} {
		if a, _ := Monitor("", percent, 0); !strings.HasSuffix(a.Specific.AdditionalContext, ". "+want) &&
			!strings.HasSuffix(a.Specific.AdditionalContext, "used. "+want) {
			t.Errorf("%v: %s", percent, a.Specific.AdditionalContext)
		}
	}
}

func TestGauge(t *testing.T) {
	for _, c := range []struct {
		env      map[string]string
		percent  float64 // of 400,000 bytes
		problems int
	}{
		{nil, 50, 0},
		{map[string]string{WindowVariable: "100000"}, 100, 0},
		{map[string]string{DivisorVariable: "5"}, 40, 0},
		{map[string]string{DivisorVariable: "3", WindowVariable: "1000000"}, 400000.0 / 3 / 1000000 * 100, 0},
		{map[string]string{DivisorVariable: "2.9"}, 50, 1},
		{map[string]string{DivisorVariable: "NaN", WindowVariable: "-1"}, 50, 2},
		{map[string]string{DivisorVariable: "x", WindowVariable: "0"}, 50, 2},
		{map[string]string{WindowVariable: "99999999999999999999"}, 50, 1},
	} {
		g, problems := ReadGauge(c.env)
		if got := g.Percent(400_000); got != c.percent || len(problems) != c.problems {
			t.Errorf("%v: %v%%, %q", c.env, got, problems)
		}
	}
}

// TestSessionFiles: a session's id leads nowhere but to a name, and no two sessions share one (S4-55).
func TestSessionFiles(t *testing.T) {
	if got := AlertsFile("0b1c-2d_3.e"); got != "claude-context-alerts-0b1c-2d_3.e" {
		t.Error(got)
	}
	seen := map[string]string{}
	for _, id := range []string{"", "x", "../../x", "..//../x", "a b", "ab", "é", "\x00", "..", strings.Repeat("x", 5000),
		strings.Repeat("x", 5001), "/etc/passwd", "x\n"} {
		name := AlertsFile(id)
		if strings.ContainsAny(name, "/\\\x00 \n") || len(name) > 200 {
			t.Errorf("%.20q becomes %q", id, name)
		}
		if other, ok := seen[name]; ok {
			t.Errorf("%.20q and %.20q share %s", id, other, name)
		}
		seen[name] = id
	}
	if got := ReadNumber(Number(7)); got != 7 {
		t.Error(got)
	}
	if got := ReadNumber([]byte("-1")) + ReadNumber([]byte("x")) + ReadNumber(nil); got != 0 {
		t.Error(got)
	}
}

func TestRead(t *testing.T) {
	in,
		err := Read(strings.NewReader(
		`{"session_id":"s","tool_name":"Bash","tool_input":{"command":["rm","-rf","a b"],"file_path":3},"new":{}}`))
	if err != nil || in.SessionID != "s" || in.ToolInput.Command != `rm -rf 'a b'` || in.ToolInput.FilePath != "" {
		t.Errorf("%+v %v", in, err)
	}
	for text, wrong := range map[string]bool{"": false, " \n": false, "{}": false, "\xef\xbb\xbf{}": false, "null": false,
		`{"tool_input":"x"}`: false, `{"tool_input":[1]}`: false, "x": true, "[]": true, `{"session_id":1}`: true,
		"{}{}": true} {
		if _, err := Read(strings.NewReader(text)); (err != nil) != wrong {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := Read(strings.NewReader(strings.Repeat(" ", MostInput+1))); !errors.As(err, &TooLong{}) {
		t.Error(err)
	}
}

func BenchmarkMonitor(b *testing.B) {
	for b.Loop() {
		in,
			_ := Read(
			strings.NewReader(`{"session_id":"s","transcript_path":"/x","tool_name":"Bash","tool_input":{"command":"ls"}}`))
		g, _ := ReadGauge(nil)
		Monitor(in.Event, g.Percent(500_000), 0)
	}
}
