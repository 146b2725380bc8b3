package main

import (
	"github.com/ralph-loop/ralph/internal/local"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/status"
)

// resultJSON is how a run ended, for programs. Every key is always present: empty or null if there is nothing to say.
type resultJSON struct {
	Outcome    loop.Outcome  `json:"outcome"`
	ExitCode   int           `json:"exit_code"`
	Reason     string        `json:"reason"`
	Until      status.Moment `json:"until"` // of waiting: when it may continue by itself
	Run        string        `json:"run"`
	Task       string        `json:"task"`
	Iterations int           `json:"iterations"`
	Verified   *bool         `json:"verified"` // of done: whether anything but the agent's word says so
	Branch     string        `json:"branch"`
	JudgedWith []string      `json:"judged_with"` // paths of the clone that the checks had besides the commit
	LeftOut    []string      `json:"left_out"`    // modified files of the clone that the run left alone
	Conflicts  []string      `json:"conflicts"`   // files in which tasks that it depends on conflict
	findingsJSON
	approvalsJSON
	usageJSON
}

// findingsJSON are the findings that someone has to accept, or has accepted.
type findingsJSON struct {
	ToAccept []loop.Concern    `json:"to_accept"` // for which the run waits
	Accepted []loop.Acceptance `json:"accepted"`  // by whom, and why
}

// approvalsJSON are the stories of a plan that no reviewer approved.
type approvalsJSON struct {
	AtCap  []string `json:"at_cap"`  // only the review cap did
	ByHand []string `json:"by_hand"` // a maintainer did
}

// usageJSON is loop.Usage with every key.
type usageJSON struct {
	CostUSD    float64 `json:"cost_usd"`
	Input      int64   `json:"input_tokens"`
	Output     int64   `json:"output_tokens"`
	CacheRead  int64   `json:"cache_read_tokens"`
	CacheWrite int64   `json:"cache_write_tokens"`
}

// newResultJSON is the result of a run, with the error that ended it before it had one.
func newResultJSON(r loop.Result, code int, failed error) resultJSON {
	s := r.State
	if failed != nil {
		r.Reason = failed.Error()
	}
	out := resultJSON{
		Outcome: r.Outcome, ExitCode: code, Reason: r.Reason, Until: status.Moment{Time: r.Until}, Run: s.Start.Run,
		Task: s.Start.Task, Iterations: len(s.Iterations), Branch: s.Start.Branch, JudgedWith: list(s.JudgedWith()),
		LeftOut: list(s.Start.LeftOut), Conflicts: list(local.Conflicts(failed)),
		findingsJSON:  findingsJSON{list(s.ToAccept()), list(s.Taken())},
		approvalsJSON: approvalsJSON{[]string{}, []string{}}, usageJSON: usageJSON(s.Usage),
	}
	if r.Outcome == loop.Done && s.Start.Run != "" {
		by := s.Verified()
		out.Verified = &by
	}
	if p := s.Plan; p != nil {
		out.AtCap, out.ByHand = list(p.AtCap()), list(p.ByHand())
	}
	return out
}

// list is a list that JSON shows as one also when it is empty.
func list[T any](entries []T) []T { return append([]T{}, entries...) }

// listJSON is how a list of tasks ended: the outcome of all, and of each.
type listJSON struct {
	Outcome  loop.Outcome `json:"outcome"`
	ExitCode int          `json:"exit_code"`
	Reason   string       `json:"reason"`
	Tasks    []entryJSON  `json:"tasks"`
	Left     int          `json:"left"` // tasks that the list did not come to
	All      *allJSON     `json:"all"`  // what holds all that is done; null: nothing does
}

type entryJSON struct {
	resultJSON
	Skipped string `json:"skipped"` // why it did not run
}

type allJSON struct {
	Outcome loop.Outcome `json:"outcome"`
	Reason  string       `json:"reason"`
	Branch  string       `json:"branch"`
	Commit  string       `json:"commit"` // empty: it could not be put together
	Tasks   []string     `json:"tasks"`
	Apart   []string     `json:"apart"` // tasks that do not go together
	Files   []string     `json:"files"` // that they conflict in
}

func newListJSON(ended local.ListResult, code int, failed error) listJSON {
	out := listJSON{Outcome: ended.Outcome, ExitCode: code, Tasks: []entryJSON{}, Left: ended.Left}
	if a := ended.All; a != nil {
		out.All = &allJSON{a.Outcome, a.Reason, a.Branch, a.Commit, list(a.Tasks), list(a.Apart), list(a.Files)}
	}
	if failed != nil {
		out.Reason = failed.Error()
	}
	for _, e := range ended.Entries {
		one := newResultJSON(loop.Result{Outcome: e.Outcome, Reason: e.Reason, State: e.State}, e.Outcome.ExitCode(), nil)
		one.Task, one.Conflicts = e.Task.ID, list(e.Conflicts)
		out.Tasks = append(out.Tasks, entryJSON{one, e.Skipped})
	}
	return out
}
