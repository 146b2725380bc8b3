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
	all, err := t.files(files)
	var commit string
	if err == nil {
		commit, _, err = t.commitOn(ctx, t.head, "", all, t.leaks.harmless(message))
	}
	if err != nil {
		return "", fmt.Errorf("making the failure branch %s: %w", name, err)
	}
	if err := t.pushRefs(ctx, move{ref: "refs/heads/" + name, to: commit}); err != nil {
		return "", fmt.Errorf("pushing the failure branch %s: %w", name, err)
	}
	return name, nil
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
