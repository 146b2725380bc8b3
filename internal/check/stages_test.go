package check

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/task"
)

func shell(name, line string) task.Stage {
	return task.Stage{Name: name, Method: task.External, Config: &task.Verification{Command: line}}
}

// TestStagesStop: after a required stage that failed, none begins unless all are to run . What only warns
// is kept in the output.
func TestStagesStop(t *testing.T) {
	for _, all := range []bool{true, false} {
		c := verifier(t, task.MultiStage, task.Verification{RequireAll: &all, Stages: []task.Stage{
			{Name: "lint", Method: task.External, Required: new(false), Config: &task.Verification{Command: "echo untidy; false"}},
			shell("unit", "false"), shell("next", "touch ran"),
		}})
		v := verdictOf(t, c, promised("x"))
		_, err := os.Stat(filepath.Join(c.Runner.Dir, "ran"))
		if ran := err == nil; ran == all || v.Pass || v.Output != "lint:\nuntidy\n" ||
			v.LogFile != "verify_1_coder_2_unit.log" {
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
	noError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(strings.TrimPrefix(e.Name(), "verify_1_coder_"), ".log"))
	}
	if want := []string{"1_unit_tests", "2_Unit_tests", "3", "4_unnamed", "5_unit_tests"}; !slices.Equal(names, want) {
		t.Errorf("logs = %q, want %q", names, want)
	}
}
