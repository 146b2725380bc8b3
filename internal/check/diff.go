package check

import (
	"context"
	"strings"

	"github.com/ralph-loop/ralph/internal/diffscan"
	"github.com/ralph-loop/ralph/internal/loop"
)

// Diff says no when the agent claims to be done and the whole run has changed nothing that counts: nothing at all,
// white space, empty files, modes, or files that ralph and agents keep for themselves. White space counts when it was
// the task, as far as can be told: a hard check failed on the base commit and passes now. For that Diff must stand
// after the commands in the list.
type Diff struct {
	Changes *diffscan.Changes // nil: only a tree like the base commit's is nothing
	// Kept names further files that are not work, as the setting doneFile.
	Kept []string
}

// Name is the check's name in verdicts.
func (Diff) Name() string { return loop.DiffCheck }

// Severity of an empty diff is hard.
func (Diff) Severity() loop.Severity { return loop.Hard }

// Needs a claim: without one, nothing changed is nothing said.
func (Diff) Needs() Need { return SomeWork | AClaim }

// Run judges the diff from the base commit.
func (c Diff) Run(ctx context.Context, at At) (loop.Verdict, error) {
	if at.Iteration.Commit.NoDiff {
		return loop.Verdict{
			Reason: "the agent claims to be done, but nothing has changed",
			Tell: "The last attempt claimed to be done, but no file differs from where you began. Do the work, or say " +
				"without the claim why nothing needs doing.",
		}, nil
	}
	d, err := changeOf(ctx, c.Changes, at)
	if err != nil || d == nil {
		return loop.Verdict{Pass: true}, err
	}
	amounts := d.Amounts(c.Kept)
	if amounts[diffscan.Work] || len(d.Names) == 0 || amounts[diffscan.Spaces] && repaired(at) {
		return loop.Verdict{Pass: true}, nil
	}
	what := onlyThese(amounts)
	return loop.Verdict{
		Reason: "the agent claims to be done, but " + what,
		Tell: "The last attempt claimed to be done, but " + what +
			". Do the work, or say without the claim why nothing needs doing.",
	}, nil
}

// onlyThese says in words that nothing has changed but what is not work.
func onlyThese(amounts map[diffscan.Amount]bool) string {
	says := map[diffscan.Amount]string{
		diffscan.Spaces: "only white space has changed",
		diffscan.Kept:   "only files that ralph or the agent keeps for itself have changed",
		diffscan.Empty:  "only empty files came or went",
		diffscan.Mode:   "only the modes of files have changed",
	}
	short := map[diffscan.Amount]string{diffscan.Spaces: "white space",
		diffscan.Kept: "files that ralph or the agent keeps for itself", diffscan.Empty: "empty files",
		diffscan.Mode: "modes"}
	var parts []string
	for _, one := range []diffscan.Amount{diffscan.Spaces, diffscan.Kept, diffscan.Empty, diffscan.Mode} {
		if amounts[one] && len(amounts) == 1 {
			return says[one]
		}
		if amounts[one] {
			parts = append(parts, short[one])
		}
	}
	last := len(parts) - 1
	return "only " + strings.Join(parts[:last], ", ") + " and " + parts[last] + " have changed"
}

// repaired reports whether a hard check that failed on the base commit passes now.
func repaired(at At) bool {
	for _, before := range at.State.Baseline {
		for _, now := range at.So {
			if before.Check == now.Check && before.Skipped == "" && before.Blocks() && now.Skipped == "" && now.Pass &&
				now.Severity == loop.Hard {
				return true
			}
		}
	}
	return false
}
