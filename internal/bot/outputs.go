package bot

import (
	"cmp"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/actions"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
)

// reportDir is in the workspace, where later steps find it.
func (a *Action) reportDir(run string) string {
	dir := cmp.Or(a.Env.Workspace, a.Env.RunnerTemp)
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, ".ralph", "runs", run)
}

// WrongInputs ends a job whose inputs cannot be read: later steps find its outputs as after every other end.
func WrongInputs(runner *actions.Runner, err error) error {
	runner.Error(err.Error())
	return runner.SetOutputs(outputsOf(loop.Result{Outcome: loop.Invalid, Reason: err.Error()}, ""))
}

// outputsOf are the step's outputs: enums, numbers, names and addresses, never an agent's text.
func outputsOf(result loop.Result, file string) map[string]string {
	s := result.State
	values := map[string]string{
		"conclusion": report.Conclusion(result.Outcome), "outcome": string(result.Outcome),
		"branch_name": branchOutput(s.Branch().Name()), "iterations": strconv.Itoa(len(s.Iterations)),
		"total_cost_usd": strconv.FormatFloat(s.Usage.CostUSD, 'f', 4, 64),
		"input_tokens":   strconv.FormatInt(s.Usage.Input, 10), "output_tokens": strconv.FormatInt(s.Usage.Output, 10),
		"cache_read_tokens":  strconv.FormatInt(s.Usage.CacheRead, 10),
		"cache_write_tokens": strconv.FormatInt(s.Usage.CacheWrite, 10),
		"pr_url":             s.Post.PullURL, "pr_number": "", "failure_branch": "", "report_file": file,
	}
	if s.Post.Pull != 0 {
		values["pr_number"] = strconv.Itoa(s.Post.Pull)
	}
	if s.End != nil {
		values["failure_branch"] = branchOutput(s.End.FailureBranch)
	}
	return values
}

// branchOutput is a name for later steps; empty when git allows no branch to be called so. A name comes from the run
// record, which everyone who can push can write.
func branchOutput(name string) string {
	if strings.HasPrefix(name, "-") || strings.Contains(name, "..") || strings.ContainsAny(name, " ~^:?*[\\") {
		return ""
	}
	return name
}
