package git

import (
	"context"
	"fmt"
	"strings"
)

// FailureBranch keeps the work of a run that was stopped by a limit: a branch of the run's own commits and one more
// that adds these files. Nothing is checked out. The bot pushes it; in a clone it is a local branch. One of the same
// name is the same run's, made again. Where another branch is in the way of the name, it has dashes for its slashes.
func (t *Tree) FailureBranch(ctx context.Context, name, message string, files map[string][]byte) (branch string,
	err error) {
	if err := CheckBranchName(ctx, name); err != nil {
		return "", err
	}
	refs, err := t.origin.list(ctx, inTheWay("refs/heads/"+name)...)
	if err != nil {
		return "", err
	}
	if refs.inTheWay("refs/heads/"+name) != "" {
		name = strings.ReplaceAll(name, "/", "-")
	}
	ref, message := "refs/heads/"+name, t.harmless(message)
	commit, err := t.write(ctx, snapshot{ref: ref, parent: t.head, keep: true, files: files, message: message})
	if err != nil {
		return "", fmt.Errorf("making the failure branch %s: %w", name, err)
	}
	if t.o.Sign != nil {
		if commit, err = t.signAbove(ctx, ref, t.head); err != nil {
			return "", fmt.Errorf("making the failure branch %s: %w", name, err)
		}
	}
	if t.signs {
		if commit, err = t.signAgain(ctx, commit, message); err != nil {
			return "", fmt.Errorf("making the failure branch %s: %w", name, err)
		}
	}
	if err := t.pushRefs(ctx, move{ref: ref, to: commit}); err != nil {
		return "", fmt.Errorf("pushing the failure branch %s: %w", name, err)
	}
	return name, nil
}

// signAgain makes a commit above the run's newest again, signed by git.
func (t *Tree) signAgain(ctx context.Context, commit, message string) (string, error) {
	tree, err := t.TreeOf(ctx, commit)
	if err != nil {
		return commit, err
	}
	return t.commitTree(ctx, tree, t.head, message)
}

// Archive moves the failure branches of the task's earlier runs from wip/… to wip/archive/…
func (t *Tree) Archive(ctx context.Context) error {
	old := "refs/heads/wip/ralph-fail-" + t.o.Task + "-"
	if t.o.Task == "" {
		return nil
	}
	refs, err := t.origin.list(ctx, old+"*")
	if err != nil {
		return err
	}
	var fetch []string
	var push []move
	for ref, commit := range refs.at {
		if to, ok := archived(ref, old); ok {
			fetch = append(fetch, "+"+ref+":"+to)
			push = append(push, move{ref: to, to: commit}, move{ref: ref, leased: true, from: commit})
		}
	}
	if len(push) == 0 {
		return nil
	}
	if err := t.origin.fetch(ctx, fetch...); err != nil {
		return err
	}
	if err := t.pushRefs(ctx, push...); err != nil {
		return fmt.Errorf("archiving old failure branches: %w", err)
	}
	return nil
}

// archived is where a failure branch goes; ok is false for the branch of another task whose name begins with ours
// ("issue-4-2").
func archived(ref, old string) (to string, ok bool) {
	stamp, ok := strings.CutPrefix(ref, old)
	if !ok || len(stamp) != len("20060102-150405") || strings.Trim(stamp, "0123456789-") != "" {
		return "", false
	}
	return "refs/heads/wip/archive/" + strings.TrimPrefix(ref, "refs/heads/wip/"), true
}
