package git

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// keptRefs is where work is kept that is no part of the run's branch: refs/ralph/kept/<task>/….
const keptRefs = "refs/ralph/kept/"

// bringBack is for an agent that has gone to another commit, which the run's branch does not lead to: what it changed
// there is put on top of the run's branch, and the working tree is brought back to that.
func (t *history) bringBack(ctx context.Context, k *taken, l left) error {
	if err := t.indexAs(ctx, l.commit); err != nil {
		return err
	}
	if _, _, err := t.stage(ctx, l.commit, false); err != nil {
		return err
	}
	tree, there, err := t.treesOf(ctx, l.commit)
	if err != nil {
		return err
	}
	made := l.commit
	switch {
	case tree == there && (l.ref == "" || t.handedAs[l.ref] == l.commit): // it only looked around
		k.notes = append(k.notes, "nothing was changed there, and the run continues")
		return t.lay(ctx, k.parent, true)
	case tree != there:
		made, err = t.objects.commit(ctx, newCommit{tree: tree, parents: []string{l.commit},
			message: "ralph: what was changed on another branch"})
		if err != nil {
			return fmt.Errorf("keeping what was changed elsewhere: %w", err)
		}
	}
	k.brought = l.ref
	merged, _, err := t.mergeTrees(ctx, k.parent, made)
	switch {
	case err != nil && exit(err) < 0:
		return err
	case merged != "":
		k.notes = append(k.notes, "what was changed there is put on the run's branch")
		return t.lay(ctx, merged, true)
	}
	where, err := t.keepCommit(ctx, made)
	if err != nil {
		return err
	}
	k.notes = append(k.notes, fmt.Sprintf("what was changed there does not fit on the run's branch; it is kept as %s",
		where))
	return t.lay(ctx, k.parent, true)
}

// treesOf are the tree of our index and that of a commit.
func (t *checkout) treesOf(ctx context.Context, commit string) (index, of string, err error) {
	if index, err = t.git.out(ctx, "write-tree"); err != nil {
		return "", "", fmt.Errorf("looking what was changed elsewhere: %w", err)
	}
	of, err = t.TreeOf(ctx, commit)
	return strings.TrimSpace(index), of, err
}

// keepCommit keeps a commit that is on no branch, and says where.
func (t *history) keepCommit(ctx context.Context, commit string) (ref string, err error) {
	ref = fmt.Sprintf("%s%s/%.12s", keptRefs, t.o.Task, commit)
	found, err := t.leaks.leaksIn(ctx, &t.objects, t.base, commit)
	if err != nil {
		return "", err
	}
	if found.any() {
		return "", errors.New("what was changed elsewhere must not be pushed: " + strings.Join(found.notes(), "; "))
	}
	if t.keeping == nil {
		t.keeping = map[string]string{}
	}
	t.keeping[ref] = commit
	return ref, nil
}

// keepRef keeps what the agent committed elsewhere in a repository that is thrown away, and says so in a sentence.
func (t *history) keepRef(ctx context.Context, name, commit string) (note string, err error) {
	if t.filter != "" {
		return unfiltered("what the agent has left in "+refInWords(name)+" is not kept", t.filter), nil
	}
	of, err := t.git.out(ctx, "rev-parse", "--verify", "-q", commit+"^{commit}")
	if exit(err) > 0 {
		return "", nil // it leads to no commit
	}
	if err != nil {
		return "", err
	}
	ref, err := t.keepCommit(ctx, strings.TrimSpace(of))
	if err != nil && ctx.Err() == nil {
		return fmt.Sprintf("the agent has left work in %s that is not in the run's commit; it could not be kept: %v",
			refInWords(name), err), nil
	}
	return fmt.Sprintf("the agent has left work in %s that is not in the run's commit; it is kept as %s", refInWords(name),
		ref), err
}
