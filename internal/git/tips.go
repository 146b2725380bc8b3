package git

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/files"
)

// Several runs can be at work in working trees of one repository. Each notes where it puts a ref, before it does, in a
// directory that they share and that no agent writes to. So a run knows what another one has moved from what an agent
// has.

// note says that a ref is about to be put on a commit.
func (u *users) note(ref, commit string) error {
	if u.tips == "" {
		return nil
	}
	if err := os.MkdirAll(u.tips, 0o700); err != nil {
		return fmt.Errorf("noting where %s is: %w", short(ref), err)
	}
	if err := replace(u.tipFile(ref), []byte(commit+"\n"), 0o600); err != nil {
		return fmt.Errorf("noting where %s is: %w", short(ref), err)
	}
	return nil
}

func (u *users) tipFile(ref string) string { return filepath.Join(u.tips, url.PathEscape(ref)) }

// byRalph reports whether a run has put a ref on a commit, last of all that runs have done with it.
func (u *users) byRalph(ref, commit string) bool {
	if u.tips == "" || commit == "" {
		return false
	}
	text, err := files.Read(u.tipFile(ref))
	return err == nil && strings.TrimSpace(string(text)) == commit
}

// ofOthers reports whether a ref that is not the run's own was moved by somebody who has a right to: another run, and
// beside a run with a working tree of its own whoever works in another one.
func (t *Tree) ofOthers(ref, is string) bool {
	return !t.bot && (t.user.byRalph(ref, is) || t.o.Marks != "" && t.checkedOutElsewhere(ref))
}

// Top is the top of the clone that dir is in.
func Top(ctx context.Context, dir string, env []string) (string, error) {
	d := door{dir: dir, env: environment(env), pair: safe}
	out, err := d.out(ctx, "rev-parse", "--show-toplevel")
	return strings.TrimSuffix(out, "\n"), err
}

// Standing is the branch that the clone is on, or the commit where it is on none.
func Standing(ctx context.Context, dir string, env []string) (string, error) {
	d := door{dir: dir, env: environment(env), pair: safe}
	if out, err := d.out(ctx, "symbolic-ref", "-q", "--short", "HEAD"); err == nil {
		return strings.TrimSpace(out), nil
	}
	out, err := d.out(ctx, "rev-parse", "--verify", "-q", "HEAD^{commit}")
	if err != nil {
		return "", fmt.Errorf("%s is not in a git repository with a commit: change into one, or run git init and make a "+
			"first commit", dir)
	}
	return strings.TrimSpace(out), nil
}

// Place is where the clone stands: a full ref, or a commit where HEAD is detached.
func Place(ctx context.Context, dir string, env []string) (string, error) {
	at, err := Standing(ctx, dir, env)
	if err == nil && HasBranch(ctx, dir, env, at) {
		d := door{dir: dir, env: environment(env), pair: safe}
		if out, err := d.out(ctx, "symbolic-ref", "-q", "HEAD"); err == nil {
			return strings.TrimSpace(out), nil
		}
	}
	return at, err
}

// HasBranch reports whether the clone has a branch.
func HasBranch(ctx context.Context, dir string, env []string, branch string) bool {
	d := door{dir: dir, env: environment(env), pair: safe}
	_, err := d.out(ctx, "rev-parse", "--verify", "-q", "refs/heads/"+branch+"^{commit}")
	return err == nil
}
