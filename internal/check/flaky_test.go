package check

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
)

// judgedBefore is a run that has judged a tree with these verdicts, and now judges the tree "t".
func judgedBefore(tree string, verdicts ...loop.Verdict) loop.State {
	for i := range verdicts {
		verdicts[i].Tree = tree
	}
	return loop.Fold([]loop.Record{
		{Type: loop.Started, Start: &loop.Start{Run: "r", Task: "t", MaxIterations: 5}},
		{Type: loop.Turned, Iteration: 1, Turn: &silent},
		{Type: loop.Committed, Iteration: 1, Commit: &loop.Commit{SHA: "b", Tree: tree}},
		{Type: loop.Judged, Iteration: 1, Verdicts: verdicts},
		{Type: loop.Turned, Iteration: 2, Turn: &silent},
		{Type: loop.Committed, Iteration: 2, Commit: &changed},
	})
}

// TestFlaky: a hard command that fails on a tree it has passed on is run once more, and only then.
func TestFlaky(t *testing.T) {
	passed, failed := loop.Verdict{Check: "check", Pass: true}, loop.Verdict{Check: "check", Severity: loop.Hard}
	onBase := judgedBefore("old", passed)
	onBase.Baseline = []loop.Verdict{{Check: "check", Pass: true, Tree: "t"}}
	// once fails its first time, and passes ever after.
	const once = `echo run >>$LOG; if [ -e $LOG.seen ]; then echo fine; else touch $LOG.seen; echo broken; exit 1; fi`
	const never = `echo run >>$LOG; echo broken; exit 1`
	tests := []struct {
		name  string
		state loop.State
		line  string
		soft  bool
		runs  int
		want  string // + passed, - blocked, ~ warned
		flaky bool
		says  string
	}{
		{"passed on this tree", judgedBefore("t", passed), once, false, 2, "+", true,
			"it failed once and passed once on the same tree: flaky"},
		{"passed on this tree, and fails again", judgedBefore("t", passed), never, false, 2, "-", true,
			"it exited with code 1: broken; it has passed on this very tree before, and failed twice now"},
		{"passed on the base commit, which is this tree", onBase, once, false, 2, "+", true, "flaky"},
		{"passed on another tree", judgedBefore("old", passed), once, false, 1, "-", false, "it exited with code 1: broken"},
		{"failed on this tree", judgedBefore("t", failed), once, false, 1, "-", false, ""},
		{"was skipped on this tree", judgedBefore("t", loop.Verdict{Check: "check", Pass: true, Skipped: "why"}), once, false,
			1, "-", false, ""},
		{"another check passed on this tree", judgedBefore("t", loop.Verdict{Check: "other", Pass: true}), once, false, 1,
			"-", false, ""},
		{"a soft one only warns", judgedBefore("t", passed), once, true, 1, "~", false, ""},
		{"passes at once", judgedBefore("t", passed), "echo run >>$LOG", false, 1, "+", false, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := command(t, tt.line)
			runs := filepath.Join(t.TempDir(), "runs")
			c.Env, c.Hard = append(os.Environ(), "LOG="+runs), !tt.soft
			where := &tree{}
			verdicts, log := judgeOne(t, tt.state, where, c)
			v := verdicts[0]
			if words(verdicts) != tt.want || v.Flaky != tt.flaky || !strings.Contains(v.Reason, tt.says) {
				t.Errorf("%s, flaky %v, reason %q; want %s, %v, %q", words(verdicts), v.Flaky, v.Reason, tt.want, tt.flaky, tt.says)
			}
			content, _ := os.ReadFile(runs)
			if n := strings.Count(string(content), "run"); n != tt.runs || where.restored != tt.runs {
				t.Errorf("it ran %d times, want %d; restored %d times", n, tt.runs, where.restored)
			}
			if told := strings.Contains(log,
				"check failed on a tree that it has passed on before (it exited with code 1: broken); it is run once more"); told != (tt.runs > 1) {
				t.Errorf("log:\n%s", log)
			}
			if tt.runs > 1 {
				keepsBothLogs(t, c, v)
			}
		})
	}
}

// keepsBothLogs: the first failure is what somebody will want to read.
func keepsBothLogs(t *testing.T, c *Command, v loop.Verdict) {
	t.Helper()
	first := c.logName(2)
	content, err := os.ReadFile(filepath.Join(c.LogDir, first))
	if err != nil || !strings.Contains(string(content), "broken") {
		t.Errorf("log of the first run = %q, %v", content, err)
	}
	second := strings.TrimSuffix(first, ".log") + "_rerun.log"
	if _, err := os.Stat(filepath.Join(c.LogDir, second)); err != nil {
		t.Error(err)
	}
	if want := map[bool]string{true: first, false: second}[v.Pass]; v.LogFile != want {
		t.Errorf("the verdict names %s, want %s", v.LogFile, want)
	}
}

// judgeOne runs one check and gives what was logged.
func judgeOne(t *testing.T, s loop.State, where Tree, c *Command) ([]loop.Verdict, string) {
	t.Helper()
	var log []string
	l := List{Tree: where, Checks: []Check{c}, Clock: time.Now,
		Log: func(format string, args ...any) { log = append(log, fmt.Sprintf(format, args...)) }}
	return l.judge(t, s), strings.Join(log, "\n")
}

// TestFlakyLeavesTheTreeAlone: a check that changes tracked files is not run again, it judges something else. One that
// changes them on the base commit, too, has the habit.
func TestFlakyLeavesTheTreeAlone(t *testing.T) {
	where := &tree{dirty: []string{"go.sum"}}
	verdicts, log := judgeOne(t, judgedBefore("t", loop.Verdict{Check: "check", Pass: true}), where, command(t, "exit 1"))
	if v := verdicts[0]; v.Pass || v.Flaky || !strings.Contains(v.Reason, "go.sum") || strings.Contains(log, "once more") {
		t.Errorf("verdict %+v\n%s", v, log)
	}
	s := judgedBefore("t", loop.Verdict{Check: "check", Pass: true})
	s.Baseline = []loop.Verdict{{Check: "check", Rewrites: []string{"go.sum"}}}
	if verdicts, _ := judgeOne(t, s, where, command(t, "exit 0")); !verdicts[0].Pass || where.restored == 0 {
		t.Errorf("verdict %+v", verdicts[0])
	}
}

// TestCancelledIsNotFlaky: a run that is ended is not begun again.
func TestCancelledIsNotFlaky(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var runs []string
	l := list(t, &tree{}, silent, &checkout{})
	c := command(t, "echo begun; sleep 60")
	c.Console = writes(func(p []byte) { runs = append(runs, string(p)); cancel() })
	l.Checks = []Check{c}
	_, _ = l.Judge(ctx, judgedBefore("t", loop.Verdict{Check: "check", Pass: true}))
	if begun := slices.DeleteFunc(runs, func(s string) bool { return !strings.Contains(s, "begun") }); len(begun) != 1 {
		t.Errorf("it ran %d times: %q", len(begun), runs)
	}
}

type writes func(p []byte)

func (w writes) Write(p []byte) (int, error) { w(p); return len(p), nil }
