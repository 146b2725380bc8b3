package git

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/files"
)

// putBackOther puts the branch of another run of this working tree back where it was before the turn: a later run goes
// on from there, and would take what it finds for work that was looked at. What was put there is kept. note is "" for
// any other ref, and for a branch that is checked out in another working tree, where its user may have moved it.
func (t *Tree) putBackOther(ctx context.Context, ref, was, is string) (note string, err error) {
	name, ok := strings.CutPrefix(ref, "refs/heads/")
	if t.bot || !ok || was == "" ||
		!exists(filepath.Join(t.branchNotes(), stateName(name), filepath.Base(t.mark()))) || t.user.byRalph(ref, is) ||
		t.checkedOutElsewhere(ref) {
		return "", nil
	}
	kept := ""
	if is != "" {
		if kept, err = t.keepCommit(ctx, is); err != nil {
			return "", err
		}
		kept = "; what was put there is kept as " + kept
	}
	if err := t.user.set(ctx, ref, was); err != nil {
		return "", err
	}
	t.user.seen[ref] = was
	return fmt.Sprintf("the branch %s of another run was moved during the turn, and is put back to %.12s%s", name, was,
		kept), nil
}

// checkedOutElsewhere reports whether another working tree of the repository stands on a branch.
func (t *Tree) checkedOutElsewhere(ref string) bool {
	heads, _ := filepath.Glob(filepath.Join(t.user.common, "worktrees", "*", "HEAD")) // the pattern is well formed
	for _, head := range append(heads, filepath.Join(t.user.common, "HEAD")) {
		if filepath.Dir(head) == t.user.dir {
			continue
		}
		if text, err := files.Read(head); err == nil && strings.TrimSpace(string(text)) == "ref: "+ref {
			return true
		}
	}
	return false
}
