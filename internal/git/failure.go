package git

import (
	"context"
	"fmt"
	"strings"
)

// FailureBranch keeps the work of a run that was stopped by a limit: a branch of the run's own commits and one more
// that adds these files. Nothing is checked out. The bot pushes it; in a clone it is a local branch. One of the same
// name is the same run's, made again.
func (t *Tree) FailureBranch(ctx context.Context, name, message string, files map[string][]byte) (commit string,
	err error) {
	if err := CheckBranchName(ctx, name); err != nil {
		return "", err
	}
	ref, message := "refs/heads/"+name, t.harmless(message)
	commit, err = t.write(ctx, snapshot{ref: ref, parent: t.head, keep: true, files: files, message: message})
	if err != nil {
		return "", fmt.Errorf("making the failure branch %s: %w", name, err)
	}
	if t.o.Sign != nil {
		if commit, err = t.signAbove(ctx, ref, t.head); err != nil {
			return "", fmt.Errorf("making the failure branch %s: %w", name, err)
		}
	}
	if signs, err := t.gitSigns(ctx); err != nil {
		return commit, fmt.Errorf("making the failure branch %s: %w", name, err)
	} else if signs {
		if commit, err = t.signAgain(ctx, ref, commit, message); err != nil {
			return commit, fmt.Errorf("making the failure branch %s: %w", name, err)
		}
	}
	if t.o.Remote.URL == "" {
		return commit, nil
	}
	if err := t.pushRefs(ctx, "+"+commit+":"+ref); err != nil {
		return commit, fmt.Errorf("pushing the failure branch %s: %w", name, err)
	}
	return commit, nil
}

// signAgain makes the one commit of a ref above the run's newest again, signed by git.
func (t *Tree) signAgain(ctx context.Context, ref, commit, message string) (string, error) {
	tree, err := t.TreeOf(ctx, commit)
	if err != nil {
		return commit, err
	}
	signed, err := t.commitTree(ctx, tree, t.head, message)
	if err != nil {
		return commit, err
	}
	return signed, t.user.set(ctx, ref, signed)
}

// Archive moves the failure branches of the task's earlier runs from wip/… to wip/archive/…
func (t *Tree) Archive(ctx context.Context) error {
	old := "refs/heads/wip/ralph-fail-" + t.o.Task + "-"
	if t.o.Task == "" {
		return nil
	}
	if !t.bot {
		return t.archiveHere(ctx, old)
	}
	refs, err := t.git.listRemote(ctx, t.o.Remote, old+"*")
	if err != nil {
		return err
	}
	var fetch, push []string
	for ref, commit := range refs.at {
		if to, ok := archived(ref, old); ok {
			fetch = append(fetch, "+"+ref+":"+to)
			push = append(push, lease(ref, commit), commit+":"+to, ":"+ref)
		}
	}
	if len(push) == 0 {
		return nil
	}
	if err := t.git.fetch(ctx, t.o.Remote, nil, fetch...); err != nil {
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

func (t *Tree) archiveHere(ctx context.Context, old string) error {
	out, err := t.user.door.out(ctx, "for-each-ref", "--format=%(objectname) %(refname)", old+"*")
	if err != nil {
		return fmt.Errorf("looking for old failure branches: %w", err)
	}
	var in strings.Builder
	for line := range strings.Lines(out) {
		commit, ref, _ := strings.Cut(strings.TrimSpace(line), " ")
		if to, ok := archived(ref, old); ok {
			fmt.Fprintf(&in, "update %s %s\ndelete %s %s\n", to, commit, ref, commit)
		}
	}
	if in.Len() == 0 {
		return nil
	}
	if _, _, err := t.user.door.run(ctx,
		call{args: []string{"update-ref", "--stdin"}, in: strings.NewReader(in.String())}); err != nil {
		return fmt.Errorf("archiving old failure branches: %w", err)
	}
	return nil
}
