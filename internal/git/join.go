package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/files"
)

// join settles whether the run's branch is one that its user has made: HEAD is on it, and no run was before, or one
// that noted so.
func (t *Tree) join(ctx context.Context, head place) error {
	if err := t.noteUnnoted(ctx); err != nil {
		return err
	}
	if t.ours() {
		text, _ := files.Read(t.mark()) // it is there
		t.theirs = strings.HasSuffix(string(text), theirMark)
		return nil
	}
	if t.theirs = t.o.Join && head.ref == t.ref(); !t.theirs {
		return nil
	}
	shared := []string{"main", "master"}
	for _, args := range [][]string{{"symbolic-ref", "-q", "--short", "refs/remotes/origin/HEAD"},
		{"config", "init.defaultBranch"}} {
		out, _ := t.user.door.out(ctx, args...) // there may be none
		shared = append(shared, strings.TrimPrefix(strings.TrimSpace(out), "origin/"))
	}
	if slices.Contains(shared, t.branch) {
		return fmt.Errorf("the branch %s is where everybody's work comes together: name another one for the run", t.branch)
	}
	return nil
}

// noteUnnoted notes that the branch is ralph's where an earlier version was killed between making it and noting that.
// Git's log of the branch tells: it knows of nothing but that it was made, from a commit by its full id, as people do
// not write it.
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

// What follows the first line of a mark: the base before the work of others was merged onto it, and where the clone
// stood.
const (
	groundMark = "\nground "
	cameMark   = "\ncame "
)

// Mark is what the mark of a run's branch says: how the run began, for when its process was killed before it could
// record that.
type Mark struct {
	Ground string // the commit that it began from, before the work of others was merged onto it
	Onto   string // the branch that this was on; "" where HEAD was detached
	Came   string // where the clone stood: a ref or a commit; "" of an earlier version's
}

// Marked reads the mark of a branch in the clone that dir is in. ok is false where no run has made the branch here.
func Marked(ctx context.Context, dir string, env []string, branch string) (m Mark, ok bool, err error) {
	t := &Tree{branch: branch, user: users{door: door{dir: dir, env: usersDoor(env), pair: safe}}}
	if err := t.user.find(ctx); err != nil {
		return m, false, err
	}
	t.state = filepath.Join(t.user.dir, "ralph", stateName(branch))
	text, err := readText(t.mark())
	if err != nil || text.text == nil || strings.HasSuffix(string(text.text), theirMark) || t.user.at(ctx, t.ref()) == "" {
		return m, false, err
	}
	first, rest, _ := strings.Cut(string(text.text), "\n")
	m.Ground, m.Onto, _ = strings.Cut(first, " ")
	for line := range strings.Lines("\n" + rest) {
		line = "\n" + strings.TrimSpace(line)
		if at, ok := strings.CutPrefix(line, groundMark); ok {
			m.Ground = at
		}
		if at, ok := strings.CutPrefix(line, cameMark); ok {
			m.Came = at
		}
	}
	return m, t.user.at(ctx, m.Ground) != "", nil
}

// theirMark ends the mark of a branch that its user has made.
const theirMark = "\ntheirs\n"

// writeMark notes that a run has been on the branch, and where it began.
func (t *Tree) writeMark() error {
	text := t.base + " " + t.baseBranch + groundMark + t.Ground() + cameMark + t.Came()
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
