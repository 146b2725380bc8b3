package git

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
)

// join settles whether the run's branch is one that its user has made: HEAD is on it, and no run was before, or one that noted so.
func (t *Tree) join(ctx context.Context, head place) error {
	if err := t.noteUnnoted(ctx); err != nil {
		return err
	}
	if t.ours() {
		text, _ := os.ReadFile(t.mark()) // it is there
		t.theirs = strings.HasSuffix(string(text), theirMark)
		return nil
	}
	if t.theirs = t.o.Join && head.ref == t.ref(); !t.theirs {
		return nil
	}
	shared := []string{"main", "master"}
	for _, args := range [][]string{{"symbolic-ref", "-q", "--short", "refs/remotes/origin/HEAD"}, {"config", "init.defaultBranch"}} {
		out, _ := t.user.door.out(ctx, args...) // there may be none
		shared = append(shared, strings.TrimPrefix(strings.TrimSpace(out), "origin/"))
	}
	if slices.Contains(shared, t.branch) {
		return fmt.Errorf("the branch %s is where everybody's work comes together: name another one for the run", t.branch)
	}
	return nil
}

// noteUnnoted notes that the branch is ralph's where an earlier version was killed between making it and noting that. Git's log of the branch
// tells: it knows of nothing but that it was made, from a commit by its full id, as people do not write it.
func (t *Tree) noteUnnoted(ctx context.Context) error {
	if t.ours() || t.usedIn() != "" {
		return nil
	}
	out, _ := t.user.door.out(ctx, "log", "-g", "-2", "--format=%H %gs", t.ref(), "--") // no branch, or no log of it: ""
	at, what, _ := strings.Cut(strings.TrimSpace(out), " ")
	if at == "" || what != "branch: Created from "+at {
		return nil
	}
	if err := os.WriteFile(t.mark(), []byte(at+" \n"), 0o644); err != nil {
		return fmt.Errorf("noting that the branch %s is ralph's: %w", t.branch, err)
	}
	return nil
}

// theirMark ends the mark of a branch that its user has made.
const theirMark = "\ntheirs\n"

// writeMark notes that a run has been on the branch, and where it began.
func (t *Tree) writeMark() error {
	text := t.base + " " + t.baseBranch
	if t.theirs {
		text += theirMark
	} else {
		text += "\n"
	}
	t.marked = !t.ours()
	if err := replace(t.mark(), []byte(text), 0o644); err != nil {
		return fmt.Errorf("noting that the branch %s is ralph's: %w", t.branch, err)
	}
	return nil
}
