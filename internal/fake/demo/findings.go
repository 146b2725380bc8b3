package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/proc"
)

// finding is a claim about the end.
type finding struct {
	claim string
	holds bool
}

// findings compare the double and the jobs' exit codes with what ralph promises.
func (s *stage) findings(ctx context.Context, solved, gaveUp int) []finding {
	all := append(s.doneFindings(ctx, solved), s.failedFindings(gaveUp)...)
	return append(all, finding{"Every request was one that GitHub understands", len(s.hub.Problems()) == 0})
}

// doneFindings are about the issue that ralph solved. The checks run once more, on a clone of what was pushed.
func (s *stage) doneFindings(ctx context.Context, exit int) []finding {
	p, ok := s.pull(solvable)
	if !ok {
		return []finding{{"There is a pull request for issue #1", false}}
	}
	said, _ := s.comment(p.Number, sticky)
	_, told := s.comment(p.Number, ended)
	return []finding{
		{"The job of issue #1 succeeded", exit == 0},
		{fmt.Sprintf("Pull request #%d is open, ready for review, and closes issue #1", p.Number),
			p.State == "open" && !p.Draft && strings.Contains(p.Body, "Closes #1")},
		{"On its branch make test passes", s.passes(ctx, "make", "test")},
		{"On its branch 1 / 0 ends with exit code 3, which only the reviewer asked about",
			s.passes(ctx, "sh", "-c", "./calc.sh 1 / 0; test $? -eq 3")},
		{"The requester is notified once: by a request for a review", len(p.Requested) == 1 && !told},
		{"The comment that is kept up to date says that it is done after 3 iterations",
			strings.Contains(said.Body, "Done after 3 iterations")},
		{"Issue #1 is labeled ralph:review",
			slices.Equal(s.hub.Issue(owner, name, solvable).Labels, []string{"ralph:review"})},
	}
}

// failedFindings are about the hopeless issue.
func (s *stage) failedFindings(exit int) []finding {
	p, ok := s.pull(hopeless)
	if !ok {
		return []finding{{"There is a pull request with the work on issue #2", false}}
	}
	where := git(s.hub, "for-each-ref", "--format=%(refname:short)", "refs/heads/wip")
	state := git(s.hub, "show", where+":.ralph_state.md")
	told, _ := s.comment(p.Number, failure)
	return []finding{
		{"The job of issue #2 failed", exit == 1},
		{fmt.Sprintf("Its work is kept on %s, with the state of the run", where),
			strings.HasPrefix(where, "wip/ralph-fail-issue-2-") && strings.Contains(state, "task_id: issue-2")},
		{fmt.Sprintf("Pull request #%d is a draft, and the failure report on it names that branch", p.Number),
			p.Draft && where != "" && strings.Contains(told.Body, where)},
		{"Issue #2 is labeled ralph:failed",
			slices.Equal(s.hub.Issue(owner, name, hopeless).Labels, []string{"ralph:failed"})},
	}
}

// passes reports whether a command succeeds in a fresh clone of the branch with the work. It prints what the command
// says otherwise.
func (s *stage) passes(ctx context.Context, argv ...string) bool {
	dir, err := os.MkdirTemp(s.dir, "clone-")
	if err != nil {
		return false
	}
	git(s.hub, "clone", "--quiet", "--branch", branch(solvable), s.hub.GitDir(owner, name), filepath.Join(dir, name))
	var said bytes.Buffer
	result, err := proc.Run(ctx, proc.Spec{
		Argv: argv, Dir: filepath.Join(dir, name), Env: []string{"PATH=" + os.Getenv("PATH")}, Stdout: &said, Stderr: &said,
	})
	passed := err == nil && result.Class == proc.Exited && result.Exit == 0
	if !passed {
		s.screen.print(said.String())
	}
	return passed
}

// reports are the texts that ralph left on the double for people.
func (s *stage) reports() (texts []string) {
	for _, p := range s.hub.Pulls(owner, name) {
		texts = append(texts, fmt.Sprintf("Pull request #%d: %s\n\n%s", p.Number, p.Title, p.Body))
		for _, kind := range []string{sticky, failure} {
			if c, ok := s.comment(p.Number, kind); ok {
				texts = append(texts, fmt.Sprintf("Comment on pull request #%d\n\n%s", p.Number, c.Body))
			}
		}
	}
	return texts
}

// What the bot's comments contain.
const (
	sticky  = "<!-- ralph:run:"
	ended   = ".ended."
	failure = ".failure."
)

// pull is the pull request with the work for an issue.
func (s *stage) pull(issue int) (fake.Pull, bool) {
	for _, p := range s.hub.Pulls(owner, name) {
		if p.Head == branch(issue) {
			return p, true
		}
	}
	return fake.Pull{}, false
}

func branch(issue int) string { return fmt.Sprintf("ralph/issue-%d", issue) }

// comment is the bot's comment that contains a text. ok is false if it wrote several.
func (s *stage) comment(number int, holds string) (found fake.Comment, ok bool) {
	n := 0
	for _, c := range s.hub.Comments(owner, name, number) {
		if c.Author == bot && strings.Contains(c.Body, holds) && (holds == ended || !strings.Contains(c.Body, ended)) {
			found = c
			n++
		}
	}
	return found, n == 1
}

// keep writes the comment and the report of the successful run to comment.md and run.html, for make pictures.
func (s *stage) keep(dir string) error {
	p, _ := s.pull(solvable)
	comment, ok := s.comment(p.Number, sticky)
	pages, err := filepath.Glob(filepath.Join(s.jobDir(solvable), "workspace", ".ralph", "runs", "*", "report.html"))
	if err != nil {
		return err
	}
	if !ok || len(pages) != 1 {
		return fmt.Errorf("the run left %d pages, and a comment: %t", len(pages), ok)
	}
	page, err := os.ReadFile(pages[0])
	if err != nil {
		return err
	}
	return errors.Join(os.MkdirAll(dir, 0o755),
		os.WriteFile(filepath.Join(dir, "comment.md"), []byte(comment.Body), 0o644),
		os.WriteFile(filepath.Join(dir, "run.html"), page, 0o644)) // for people to read
}
