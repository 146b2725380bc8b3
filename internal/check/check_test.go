package check

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/loop"
)

// tree is a checkout that can be made dirty.
type tree struct {
	dirty    []string
	restored int
	prepared int
	fresh    bool
	unfit    *loop.Verdict
	why      string
}

func (t *tree) Prepare(_ context.Context, _ Input, fresh bool) (*loop.Verdict, error) {
	t.prepared, t.fresh = t.prepared+1, fresh
	return t.unfit, nil
}
func (t *tree) Clean(context.Context) ([]string, error) { return t.dirty, nil }
func (t *tree) Restore(context.Context) error           { t.restored++; return nil }
func (t *tree) Explain(_ context.Context, _ Input, v *loop.Verdict) error {
	v.PromptText += t.why
	return nil
}

// checkout is a reviewer's copy.
type checkout struct {
	touched string
	closed  bool
}

func (c *checkout) Dir() string   { return "/nowhere" }
func (c *checkout) Env() []string { return nil }
func (c *checkout) Untouched(context.Context) (bool, string, error) {
	return c.touched == "", c.touched, nil
}
func (c *checkout) Close() error { c.closed = true; return nil }

func at(turn loop.Turn, c loop.Commit) loop.State {
	return loop.Fold([]loop.Record{
		{Type: loop.Started, Start: &loop.Start{Run: "r", Task: "t", MaxIterations: 5}},
		{Type: loop.Turned, Iteration: 1, Turn: &turn},
		{Type: loop.Committed, Iteration: 1, Commit: &c},
	})
}

var (
	claimed = loop.Turn{Class: loop.OK, Claim: loop.Claim{Done: true, Tag: "response", Text: "DONE"}}
	silent  = loop.Turn{Class: loop.OK}
	broken  = loop.Turn{Class: loop.Broke, Exit: 1, Reason: "the agent exited with code 1"}
	changed = loop.Commit{SHA: "c", Tree: "t"}
	nothing = loop.Commit{SHA: "c", Tree: "t", Empty: true, NoDiff: true}
)

func list(t *testing.T, where *tree, turn loop.Turn, c *checkout, commands ...string) List {
	dir := t.TempDir()
	l := List{Tree: where, Clock: time.Now, Log: t.Logf, Checks: []Check{Turn{}, Claim{Completion: "DONE"}, Diff{}}}
	for _, line := range commands {
		l.Checks = append(l.Checks, &Command{Title: line, Line: line, Hard: !strings.Contains(line, "soft"), Timeout: time.Minute,
			OnFailure: OnFailure{TruncateChars: 5000}, Place: placeIn(dir)})
	}
	l.Checks = append(l.Checks, reader(c, func(string) loop.Turn { return turn }))
	return l
}

// reader is a reviewer in a checkout, which answers what it is asked.
func reader(in Checkout, answer func(prompt string) loop.Turn) *Review {
	return &Review{
		Checkout: func(context.Context, string) (Checkout, error) { return in, nil },
		Prompt:   func(context.Context, Input) (string, error) { return "judge", nil }, Log: func(string, ...any) {},
		Ask: func(_ context.Context, _ Checkout, prompt string) (loop.Turn, error) { return answer(prompt), nil },
	}
}

// judge is what a list says of a run's newest iteration.
func (l List) judge(t *testing.T, s loop.State) []loop.Verdict {
	t.Helper()
	verdicts, err := l.Judge(t.Context(), s)
	noError(t, err)
	return verdicts
}

// placeIn is a directory to run commands in, which has their logs too.
func placeIn(dir string) Place { return Place{Dir: dir, Env: os.Environ(), LogDir: dir} }

func approves(tree string) loop.Turn {
	return loop.Turn{Class: loop.OK,
		Text: fmt.Sprintf("Fine.\n```json\n{\"verdict\":\"approve\",\"tree\":%q,\"summary\":\"does it\",\"issues\":[]}\n```",
			tree)}
}

// words makes verdicts short: + passed, - blocks, ~ warns, . skipped.
func words(verdicts []loop.Verdict) string {
	var b strings.Builder
	for _, v := range verdicts {
		switch {
		case v.Skipped != "":
			b.WriteByte('.')
		case v.Pass:
			b.WriteByte('+')
		case v.Severity == loop.Soft:
			b.WriteByte('~')
		default:
			b.WriteByte('-')
		}
	}
	return b.String()
}

// TestJudge has a row for each way through the list: agent, claim, diff, the commands, review.
func TestJudge(t *testing.T) {
	tests := []struct {
		name     string
		turn     loop.Turn
		commit   loop.Commit
		reviewer loop.Turn
		commands []string
		want     string
		touched  string
	}{
		{"all is well", claimed, changed, approves("t"), []string{"true"}, "+++++", ""},
		{"no claim: no review", silent, changed, approves("t"), []string{"true"}, "+-.+.", ""},
		{"a claim over nothing", claimed, nothing, approves("t"), []string{"true"}, "++-+.", ""},
		{"a check fails: no review", claimed, changed, approves("t"), []string{"true", "false"}, "++++-.", ""},
		{"every command runs, also after a failure", claimed, changed, approves("t"), []string{"false", "true"}, "+++-+.", ""},
		{"a soft check warns and does not keep the reviewer away", claimed, changed, approves("t"),
			[]string{"echo soft; false"}, "+++~+", ""},
		{"a broken turn that changed something is judged", broken, changed, approves("t"), []string{"true"}, "--.+.", ""},
		{"a broken turn that changed nothing is not", broken, nothing, approves("t"), []string{"true"}, "-....", ""},
		{"the reviewer rejects", claimed, changed,
			loop.Turn{Class: loop.OK,
				Text: `{"verdict":"request_changes","tree":"t","summary":"no","issues":[{"file":"a.go","line":3,"problem":"wrong"}]}`}, []string{"true"}, "++++-", ""},
		{"the reviewer speaks of another tree", claimed, changed, approves("other"), []string{"true"}, "++++-", ""},
		{"the reviewer says nothing that can be read", claimed, changed, loop.Turn{Class: loop.OK, Text: "LGTM, approve!"},
			nil, "+++-", ""},
		{"the reviewer's turn breaks", claimed, changed,
			loop.Turn{Class: loop.TimedOut, Reason: "too slow", Text: approves("t").Text}, nil, "+++-", ""},
		{"the reviewer touches something", claimed, changed, approves("t"), nil, "+++-", "a.txt was changed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := &checkout{touched: tt.touched}
			verdicts := list(t, &tree{}, tt.reviewer, c, tt.commands...).judge(t, at(tt.turn, tt.commit))
			if got := words(verdicts); got != tt.want {
				t.Errorf("verdicts %s, want %s\n%+v", got, tt.want, verdicts)
			}
			if last := verdicts[len(verdicts)-1]; tt.touched != "" &&
				(!c.closed || !strings.HasSuffix(last.Reason, "voids its verdict: "+tt.touched)) {
				t.Errorf("closed %v: %s", c.closed, last.Reason)
			}
			for _, v := range verdicts {
				if v.Tree != "t" {
					t.Errorf("%s speaks of the tree %q", v.Check, v.Tree)
				}
				if v.Skipped == "" && !v.Pass && len(v.Hash) != 8 {
					t.Errorf("%s has no signature", v.Check)
				}
			}
		})
	}
}

// TestTurnThatGaveUp: an agent that ends with a failure and changes nothing may have done so because a check fails.
// Then the check is asked.
func TestTurnThatGaveUp(t *testing.T) {
	cut := loop.Turn{Class: loop.TimedOut, Reason: "too slow"}
	tests := []struct {
		name   string
		before loop.Verdict // of the command, in an iteration before
		turn   loop.Turn
		want   string // agent, claim, diff, true, review
	}{
		{"the check failed on this tree", loop.Verdict{Check: "true", Tree: "t"}, broken, "-..+."},
		{"it failed on another tree, and nobody has asked it about this one", loop.Verdict{Check: "true", Tree: "u"}, broken,
			"-..+."},
		{"it was skipped", loop.Verdict{Check: "true", Tree: "t", Skipped: "why not"}, broken, "-..+."},
		{"it passed on this tree", loop.Verdict{Check: "true", Tree: "t", Pass: true}, broken, "-...."},
		{"the turn was cut off: its end is what failed", loop.Verdict{Check: "true", Tree: "t"}, cut, "-...."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := at(broken, changed)
			for _, r := range []loop.Record{
				{Type: loop.Judged, Iteration: 1, Verdicts: []loop.Verdict{tt.before}},
				{Type: loop.Turned, Iteration: 2, Turn: &tt.turn},
				{Type: loop.Committed, Iteration: 2, Commit: &nothing},
			} {
				s = s.With(r)
			}
			verdicts := list(t, &tree{}, approves("t"), &checkout{}, "true").judge(t, s)
			if got := words(verdicts); got != tt.want {
				t.Errorf("verdicts %s, want %s\n%+v", got, tt.want, verdicts)
			}
		})
	}
	s := at(broken, nothing)
	s.Baseline = []loop.Verdict{{Check: "true", Tree: "t"}}
	if got := words(list(t, &tree{}, approves("t"), &checkout{}, "true").judge(t, s)); got != "-..+." {
		t.Errorf("what failed on the base commit: %s", got)
	}
}

// TestReadAnswer: what is one plain verdict on this tree is read, however it is wrapped, and nothing else is.
func TestReadAnswer(t *testing.T) {
	const tree, other = "0123456789abcdef0123456789abcdef01234567", "1123456789abcdef0123456789abcdef01234567"
	issue := `{"verdict":"request_changes","tree":"TREE","summary":"s","issues":[{"problem":"p"}]}`
	fine := `{"verdict": "approve", "tree": "TREE", "summary": "fine", "issues": []}`
	for name, tt := range map[string]struct{ text, structured, want string }{
		"structured output":       {"", fine, "+fine"},
		"a closing sentence":      {"Looked.\n```json\n" + fine + "\n```\nLet me know if I should look again.", "", "+fine"},
		"nested objects":          {`{"a":1} {"verdict":"request_changes","tree":"TREE","summary":"{","issues":[{"problem":"{}"}]}`, "", "-{"},
		"another object after it": {fine + ` {"a": 1}`, "", "+fine"},
		"wrapped in an object":    {`{"ok":true,"result":` + fine + `,"summary":"Approved"}`, "", "+fine"},
		"wrapped in a string":     {`{"result":"{\"verdict\": \"approve\", \"tree\": \"TREE\", \"summary\": \"fine\"}"}`, "", "+fine"},
		"quoted, and once more":   {fine + "\n" + fine, "", "+fine"},
		"capitals":                {`{"Verdict":"APPROVE","Tree":"TREE","Summary":"fine"}`, "", "+fine"},
		"changes requested":       {`{"verdict":"Changes requested","tree":"TREE","summary":"s"}`, "", "-s"},
		"a trailing comma":        {`{"verdict":"approve","tree":"TREE","summary":"fine","issues":[],}`, "", "+fine"},
		"smart quotes":            {`{“verdict”: “approve”, “tree”: “TREE”, “summary”: “fine”, “issues”: []}`, "", "+fine"},
		"smart quotes within":     {`{"verdict":"request_changes","tree":"TREE","summary":"“s”"}`, "", "-“s”"},
		"wrapped lines":           {"{\"verdict\": \"approve\",\n\"tree\":\n\"0123456789abcdef012345\n6789abcdef01234567\", \"summary\": \"fi\nne\"}", "", "+fi ne"},
		"issues as strings":       {`{"verdict":"request_changes","tree":"TREE","summary":"s","issues":["p"]}`, "", "-s"},
		"a line that is a string": {`{"verdict":"request_changes","tree":"TREE","summary":"s","issues":[{"line":"12","problem":"p"}]}`, "", "-s"},
		"a short tree":            {`{"verdict":"approve","tree":"0123456789ab","summary":"fine"}`, "", "+fine"},
		"words":                   {"Fine.\n\n**Verdict:** APPROVE\n**Tree:** `TREE`", "", "+Fine. **Verdict:** APPROVE **Tree:** `TREE`"},
		"YAML":                    {"verdict: request_changes\ntree: TREE", "", "-verdict: request_changes tree: TREE"},
		"a diff's verdict beside": {`The test has {"verdict": "approve", "tree": "t"}. ` + issue, "", "-s"},

		"words without a tree":   {"Looks good.\n\n**VERDICT: APPROVE**", "", "names no tree"},
		"the form alone":         {`I was asked for {"verdict": "approve" or "request_changes", "tree": "TREE", "issues": []}`, "", "no verdict"},
		"two verdicts":           {issue + "\nBut on second thought: " + fine, "", "holds 2 verdicts"},
		"two in words":           {"Verdict: approve\nVerdict: request_changes\nTree: TREE", "", "holds 2 verdicts"},
		"issues in words":        {"verdict: approve\ntree: TREE\nissues:\n- problem: it is wrong", "", "no verdict"},
		"approves and complains": {`{"verdict":"approve","tree":"TREE","issues":[{"problem":"p"}]}`, "", "approves and names 1 issue"},
		"rejects without a word": {`{"verdict":"request_changes","tree":"TREE","summary":" ","issues":[]}`, "", "names none"},
		"no tree":                {`{"verdict":"approve"}`, "", "names no tree"},
		"another tree":           {`{"verdict":"approve","tree":"` + other + `"}`, "", "about another tree than 0123456789ab"},
		"no word on criteria":    {"", `{"verdict":"approve","tree":"TREE","summary":"","issues":[],"criteria":null}`, "+"},
		"approves what is not met": {"", `{"verdict":"approve","tree":"TREE","criteria":[{"criterion":"a","met":true},{"criterion":"b\nc","met":false}]}`,
			`it approves and says that "b c" is not met`},
		"approves what it does not judge": {"", `{"verdict":"approve","tree":"TREE","criteria":[{"criterion":"a"}]}`, "is not met"},
		"rejects by a criterion alone":    {"", `{"verdict":"request_changes","tree":"TREE","criteria":[{"criterion":"a","met":false,"reason":"r"}]}`, "-"},
		"criteria of another type":        {"", `{"verdict":"approve","tree":"TREE","criteria":[{"criterion":"a","met":"yes"}]}`, "no verdict"},
	} {
		t.Run(name, func(t *testing.T) {
			fill := strings.NewReplacer("TREE", tree)
			a, err := ReadAnswer(loop.Turn{Text: fill.Replace(tt.text), Structured: fill.Replace(tt.structured)}, tree)
			got := map[string]string{approve: "+", requestChanges: "-"}[a.Verdict] + a.Summary
			if err != nil {
				got = err.Error()
			}
			want := fill.Replace(tt.want)
			if got != want && (err == nil || !strings.Contains(got, want)) || err != nil && strings.Contains(got, other[:12]) {
				t.Errorf("it is read as %q, want %q", got, want)
			}
		})
	}
}

// TestCriteriaOfAnAnswer: a verdict keeps fifty, each within bounds, and tells the coder those that are not met.
func TestCriteriaOfAnAnswer(t *testing.T) {
	a := Answer{Verdict: "request_changes", Summary: "no"}
	for i := range 60 {
		a.Criteria = append(a.Criteria,
			loop.Criterion{Text: strings.Repeat("é \n", 300), Met: i != 59, Reason: strings.Repeat("why ", 300)})
	}
	v := a.verdict(loop.Verdict{}, "the reviewer")
	if len(v.Criteria) != 50 || v.Criteria[0].Met || !v.Criteria[1].Met {
		t.Errorf("%d criteria, the first is %+v", len(v.Criteria), v.Criteria[0])
	}
	for _, c := range v.Criteria {
		if len(c.Text) > 500 || len(c.Reason) > 500 || !utf8.ValidString(c.Text) || strings.Contains(c.Text, "\n") ||
			!strings.HasSuffix(c.Reason, "…") {
			t.Fatalf("a criterion of %d and %d bytes: %q", len(c.Text), len(c.Reason), c.Text)
		}
	}
	if strings.Count(v.PromptText, "- not met: é") != 1 {
		t.Errorf("it tells %q", v.PromptText)
	}
	met := Answer{Verdict: "approve", Criteria: []loop.Criterion{{Text: "a\n b", Met: true, Reason: "r"}}}
	if v := met.verdict(loop.Verdict{}, "the reviewer"); !v.Pass || len(v.Criteria) != 1 ||
		v.Criteria[0] != (loop.Criterion{Text: "a b", Met: true, Reason: "r"}) {
		t.Errorf("verdict = %+v", v)
	}
}

func TestCommandTells(t *testing.T) {
	c := command(t, `echo out; echo 'err"x' >&2; exit 3`)
	c.OnFailure = OnFailure{Hint: "look there", TruncateChars: 4}
	v := outcomeOf(t, c)
	log := filepath.Join(c.Dir, "guardrail_1_echo_out_echo_err_x_2_exit_3.log")
	want := `Guardrail "echo out; echo 'err"x' >&2; exit 3" failed with exit code 3.
Hint: look there
Output file: ` + log + `
Output (truncated):
out
... [truncated]`
	if v.PromptText != want {
		t.Errorf("tell:\n%s\nwant:\n%s", v.PromptText, want)
	}
	if whole, _ := os.ReadFile(log); string(whole) != v.Output {
		t.Errorf("log = %q", whole)
	}
	if v.Pass || v.Exit != 3 || v.Missing || !strings.HasPrefix(v.Output, "out\nerr") {
		t.Errorf("verdict = %+v", v)
	}
	c = command(t, "echo warning")
	c.Expect.NotContains = []string{"warning"}
	if v := outcomeOf(t, c); !strings.HasPrefix(v.PromptText,
		"Guardrail \"echo warning\" failed: its output contains \"warning\", which it must not.\nOutput file: ") {
		t.Errorf("tell:\n%s", v.PromptText)
	}
}

func TestShell(t *testing.T) { // S1-88, S1-89
	for system, want := range map[string]string{"linux": "sh -c", "darwin": "sh -c", "windows": "cmd /c"} {
		if got := strings.Join(Shell(system), " "); got != want {
			t.Errorf("%s: %s, want %s", system, got, want)
		}
	}
}

func TestMessage(t *testing.T) { // S1-101…S1-103
	long := strings.Repeat("word ", 100) + "end"
	for name, c := range map[string]struct{ said, want string }{
		"a response":             {"Here:\n<response>Add it</response>", "Add it"},
		"its lines stay lines":   {"<Response>\nAdd it\n\nBecause.\n</response>", "Add it\n\nBecause."},
		"nothing is cut off":     {"<response>" + long + "</response>", long},
		"the first response":     {"<response>one</response> <response>two</response>", "one"},
		"the first line":         {"\n  \n Add it \nand more", "Add it"},
		"an empty response":      {"<response> </response>\nAdd it", ""},
		"nothing":                {" \n", ""},
		"a promise is no answer": {"<promise>COMPLETE</promise>", "<promise>COMPLETE</promise>"},
	} {
		if got := Message(loop.Turn{Class: loop.OK, Text: c.said}); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := Message(loop.Turn{Class: loop.Killed, Text: "Add it"}); got != "" {
		t.Errorf("of a turn that failed: %q", got)
	}
}

func TestCommandThatIsMissing(t *testing.T) {
	for line, missing := range map[string]bool{"no-such-tool --all": true, "exit 1": false, ". ./no-such-file": false} {
		if v := outcomeOf(t, command(t, line)); v.Missing != missing || v.Pass {
			t.Errorf("%q: missing = %v (%s)", line, v.Missing, v.Reason)
		}
	}
}

func TestSlug(t *testing.T) {
	for command, want := range map[string]string{
		"./mvnw clean install -T 2C": "mvnw_clean_install_T_2C",
		"../..":                      "",
		strings.Repeat("ab ", 30):    "ab_ab_ab_ab_ab_ab_ab_ab_ab_ab_ab_ab_ab_ab_ab_ab_ab",
	} {
		if got := Slug(command); got != want || len(got) > 50 {
			t.Errorf("Slug(%q) = %q, want %q", command, got, want)
		}
	}
}

func TestErrorsAreTheHarnesss(t *testing.T) {
	l := list(t, &tree{}, silent, &checkout{})
	l.Checks = []Check{&Review{Checkout: func(context.Context, string) (Checkout, error) {
		return nil, errors.New("disk full")
	}}}
	if _, err := l.Judge(context.Background(), at(claimed, changed)); err == nil ||
		!strings.Contains(err.Error(), "running the check review: disk full") {
		t.Errorf("error = %v", err)
	}
}

func TestBaselineRunsCommandsOnly(t *testing.T) {
	verdicts, err := list(t, &tree{}, silent, &checkout{}, "true", "false").Baseline(t.Context(), loop.State{})
	if err != nil || words(verdicts) != "+-" || verdicts[1].Check != "false" {
		t.Errorf("baseline = %+v, %v", verdicts, err)
	}
}
