package git

import (
	"context"
	"fmt"
	"strings"
)

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
