package check

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/task"
)

func shell(name, line string) task.Stage {
	return task.Stage{Name: name, Method: task.External, Config: &task.Verification{Command: line}}
}

func beside(s task.Stage) task.Stage { s.Independent = true; return s }

// TestStagesSideBySide: neighbours that are independent wait for each other here, which they can only do when they run
// at once; the stage after them begins when all have ended.
func TestStagesSideBySide(t *testing.T) {
	meet := func(own, other string) string {
		return "touch " + own + "; i=0; while [ ! -e " + other +
			" ]; do sleep 0.01; i=$((i+1)); [ $i -lt 100 ] || exit 1; done; touch " + own + ".met"
	}
	c := verifier(t, task.MultiStage, task.Verification{Stages: []task.Stage{
		beside(shell("one", meet("one", "two"))), beside(shell("two", meet("two", "one"))),
		shell("after", "test -e one.met && test -e two.met"),
	}})
	if v := verdictOf(t, c, promised("x")); !v.Pass || v.Reason != "All 3 verification stages passed" {
		t.Errorf("verdict = %+v", v)
	}
}

// TestStagesAreBounded: no more than four run at once, and what fails first in the list is what is told, whichever
// ended first.
func TestStagesAreBounded(t *testing.T) {
	var stages []task.Stage
	for range 6 {
		stages = append(stages, beside(shell("s", "mkdir at.$$; sleep 0.1; set -- at.*; rmdir at.$$; [ $# -le 4 ]")))
	}
	c := verifier(t, task.MultiStage, task.Verification{Stages: stages})
	if v := verdictOf(t, c, promised("x")); !v.Pass {
		t.Errorf("verdict = %+v", v)
	}
	c = verifier(t, task.MultiStage,
		task.Verification{Stages: []task.Stage{beside(shell("slow", "sleep 0.1; echo slow; false")),
			beside(shell("quick", "echo quick; false"))}})
	if v := verdictOf(t, c, promised("x")); v.Reason != "Stage 'slow' failed: Command exited with 1, expected 0" ||
		v.Output != "slow:\nslow\nquick:\nquick\n" || v.LogFile != "verify_1_coder_slow.log" {
		t.Errorf("verdict = %+v", v)
	}
}

// TestStagesAskInTurn: an asker is asked one question at a time, and what all of them cost is told.
func TestStagesAskInTurn(t *testing.T) {
	var stages []task.Stage
	for range 3 {
		stages = append(stages, beside(task.Stage{Method: task.Semantic, Config: &asks}))
	}
	c := verifier(t, task.MultiStage, task.Verification{Stages: stages})
	var now atomic.Int32
	c.Ask = func(context.Context, string, string) (loop.Turn, error) {
		if now.Add(1) > 1 {
			t.Error("two are asked at once")
		}
		time.Sleep(time.Millisecond)
		now.Add(-1)
		return says("VERIFIED: x")(nil, "", "")
	}
	if v := verdictOf(t, c, promised("x")); !v.Pass || v.Usage == nil || v.Usage.Input != 3*7 {
		t.Errorf("verdict = %+v, usage %+v", v, v.Usage)
	}
}

// TestStagesStop: after a required stage that failed, none begins unless all are to run (S2-39, S2-40). What only warns
// is kept in the output.
func TestStagesStop(t *testing.T) {
	for _, all := range []bool{true, false} {
		c := verifier(t, task.MultiStage, task.Verification{RequireAll: &all, Stages: []task.Stage{
			{Name: "lint", Method: task.External, Required: no(), Config: &task.Verification{Command: "echo untidy; false"}},
			shell("unit", "false"), shell("next", "touch ran"),
		}})
		v := verdictOf(t, c, promised("x"))
		_, err := os.Stat(filepath.Join(c.Runner.Dir, "ran"))
		if ran := err == nil; ran == all || v.Pass || v.Output != "lint:\nuntidy\n" ||
			v.LogFile != "verify_1_coder_unit.log" {
			t.Errorf("require_all %v: the next stage ran: %v; %+v", all, ran, v)
		}
	}
}

// TestStagesHaveLogs: each has one of its own, whatever it is called.
func TestStagesHaveLogs(t *testing.T) {
	c := verifier(t, task.MultiStage,
		task.Verification{Stages: []task.Stage{shell("unit tests", "true"), shell("Unit/tests", "true"),
			shell("../..", "true"), shell("", "true"), shell("unit tests", "true")}})
	c.Role = task.Coder
	verdictOf(t, c, promised("x"))
	entries, err := os.ReadDir(c.Runner.LogDir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(strings.TrimPrefix(e.Name(), "verify_1_coder_"), ".log"))
	}
	if want := []string{"Unit_tests_2", "unit_tests", "unit_tests_3", "unnamed", "unnamed_2"}; !slices.Equal(names, want) {
		t.Errorf("logs = %q, want %q", names, want)
	}
}
