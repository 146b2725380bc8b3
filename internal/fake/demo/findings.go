package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/proc"
)

// finding is a claim about how it ended. It holds when there is nothing that is otherwise.
type finding struct {
	claim     string
	otherwise string
}

// findings hold the stand-in and the jobs' exit codes against what ralph promises.
func (s *stage) findings(ctx context.Context, solved, gaveUp int) []finding {
	all := append(s.doneFindings(ctx, solved), s.failedFindings(gaveUp)...)
	return append(all, that("Every request was one that GitHub understands", len(s.hub.Problems()) == 0,
		strings.Join(s.hub.Problems(), "; ")))
}

// that is a finding; seen is what there is when it does not hold.
func that(claim string, holds bool, seen any) finding {
	if holds {
		return finding{claim: claim}
	}
	return finding{claim, fmt.Sprintf("it is %v", seen)}
}

// doneFindings are about the issue that got done. The checks are run once more, on a clone of what was pushed.
func (s *stage) doneFindings(ctx context.Context, exit int) []finding {
	p, ok := s.pull(solvable)
	if !ok {
		return []finding{{"There is a pull request for issue #1", "none"}}
	}
	shown, err := s.shownSHA(ctx, p.Number)
	pushed := s.hub.BranchSHA(owner, name, branch(solvable))
	said, _ := s.comment(p.Number, sticky)
	told, _ := s.comment(p.Number, ended)
	labels := s.hub.Issue(owner, name, solvable).Labels
	return []finding{
		that("The job of issue #1 succeeded", exit == 0, fmt.Sprintf("exit code %d", exit)),
		that(fmt.Sprintf("Pull request #%d is open, ready for review, and closes issue #1", p.Number),
			p.State == "open" && !p.Draft && strings.Contains(p.Body, "Closes #1"),
			fmt.Sprintf("%q, draft %v", p.State, p.Draft)),
		that(fmt.Sprintf("It shows commit %.12s, which is what was pushed to %s", pushed, branch(solvable)),
			err == nil && pushed != "" && shown == pushed, fmt.Sprint(shown, " ", err)),
		s.passes(ctx, "On that commit make test passes", "make", "test"),
		s.passes(ctx, "On that commit 1 / 0 ends with exit code 3, which only the reviewer asked about", "sh", "-c",
			"./calc.sh 1 / 0; test $? -eq 3"),
		that("The requester is notified once: by a request for a review", len(p.Requested) == 1 && told.Body == "",
			fmt.Sprintf("%q, asked %q", firstWords(told.Body), p.Requested)),
		that("The comment that is kept up to date says that it is done after 3 iterations",
			strings.Contains(said.Body, "Done after 3 iterations"), fmt.Sprintf("%q", firstWords(said.Body))),
		that("Issue #1 is labelled ralph:review", slices.Equal(labels, []string{"ralph:review"}), labels),
	}
}

// failedFindings are about the issue that could not be done.
func (s *stage) failedFindings(exit int) []finding {
	p, ok := s.pull(hopeless)
	if !ok {
		return []finding{{"There is a pull request with the work on issue #2", "none"}}
	}
	var kept []string
	for line := range strings.Lines(git(s.hub, "for-each-ref", "--format=%(refname:short)", "refs/heads/wip")) {
		kept = append(kept, strings.TrimSpace(line))
	}
	where := strings.Join(kept, ", ")
	state := git(s.hub, "show", where+":.ralph_state.md")
	told, _ := s.comment(p.Number, failure)
	labels := s.hub.Issue(owner, name, hopeless).Labels
	return []finding{
		that("The job of issue #2 failed", exit == 1, fmt.Sprintf("exit code %d", exit)),
		that(fmt.Sprintf("Its work is kept on %s, with the state of the run", where),
			len(kept) == 1 && strings.HasPrefix(where, "wip/ralph-fail-issue-2-") && strings.Contains(state, "task_id: issue-2"),
			kept),
		that(fmt.Sprintf("Pull request #%d is a draft, and the failure report on it names that branch", p.Number),
			p.Draft && where != "" && strings.Contains(told.Body, where),
			fmt.Sprintf("draft %v, %q", p.Draft, firstWords(told.Body))),
		that("Issue #2 is labelled ralph:failed", slices.Equal(labels, []string{"ralph:failed"}), labels),
	}
}

// shownSHA asks, as anyone would, which commit a pull request shows.
func (s *stage) shownSHA(ctx context.Context, number int) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet,
		fmt.Sprintf("%s/repos/%s/%s/pulls/%d", s.hub.APIURL(), owner, name, number), nil)
	if err != nil {
		return "", err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer func() { _ = answer.Body.Close() }()
	var pull struct{ Head struct{ SHA string } }
	err = json.NewDecoder(answer.Body).Decode(&pull)
	return pull.Head.SHA, err
}

// passes runs a command in a fresh clone of the branch with the work.
func (s *stage) passes(ctx context.Context, claim string, argv ...string) finding {
	dir, err := os.MkdirTemp(s.dir, "clone-")
	if err != nil {
		return finding{claim, err.Error()}
	}
	git(s.hub, "clone", "--quiet", "--branch", branch(solvable), s.hub.GitDir(owner, name), filepath.Join(dir, name))
	var said bytes.Buffer
	result, err := proc.Run(ctx, proc.Spec{
		Argv: argv, Dir: filepath.Join(dir, name), Env: []string{"PATH=" + os.Getenv("PATH")}, Stdout: &said, Stderr: &said,
	})
	return that(claim, err == nil && result.Class == proc.Exited && result.Exit == 0,
		fmt.Sprintf("%s, exit code %d: %s", result.Class, result.Exit, said.String()))
}

// tell prints findings and returns how many do not hold.
func (s *screen) tell(all []finding) (broken int) {
	s.print("\nLooked up at the end:")
	for _, f := range all {
		if f.otherwise == "" {
			s.print("  ✓ " + f.claim)
			continue
		}
		broken++
		s.print("  ✗ " + f.claim + ": " + f.otherwise)
	}
	return broken
}
