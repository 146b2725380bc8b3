package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// taken is what became of the agent's own commits.
type taken struct {
	parent string   // what our commit goes on top of; HEAD and the run's branch are there
	steady bool     // nothing had moved: our index is at parent
	notes  []string // what was out of the ordinary
}

// agentRef is where the agent's HEAD is kept in our repository while we look at it.
const agentRef = "refs/ralph/agent"

// take finds where the agent left HEAD and brings the run's branch there, or to since when that is not a continuation of it.
func (t *Tree) take(ctx context.Context, since string) (taken, error) {
	if t.bot {
		return t.takeFetched(ctx, since)
	}
	return t.takeHere(ctx, since)
}

// takeFetched is take for the bot: what the agent committed is in its repository, and is fetched from there as from a stranger's.
func (t *Tree) takeFetched(ctx context.Context, since string) (taken, error) {
	ref, commit, err := agentHead(t.work)
	if err == nil && commit == since && t.head == since {
		return taken{parent: since, steady: true, notes: t.wandered(ref)}, nil
	}
	k := taken{parent: since}
	switch {
	case err != nil:
		k.notes = append(k.notes, fmt.Sprintf("the agent's repository cannot be read (%v); its files were kept", err))
	case t.absorb(ctx) != nil:
		k.notes = append(k.notes, "the agent's commits cannot be read; its files were kept")
	default:
		out, err := t.git.out(ctx, "rev-parse", agentRef)
		if err != nil {
			return k, fmt.Errorf("reading the agent's commits: %w", err)
		}
		if err := t.judge(ctx, &k, since, place{ref, strings.TrimSpace(out)}); err != nil {
			return k, err
		}
		if err := t.mute(ctx, &k, since); err != nil {
			return k, err
		}
		// The agent may have committed what is ignored; the index must have it, or our commit would take it out again.
		if _, err := t.git.out(ctx, "read-tree", "-m", agentRef); err != nil {
			return k, fmt.Errorf("reading the agent's commits: %w", err)
		}
		if err := t.dropLinks(ctx); err != nil {
			return k, err
		}
	}
	if _, err := t.git.out(ctx, "update-ref", t.ref(), k.parent); err != nil {
		return k, fmt.Errorf("moving the branch %s: %w", t.branch, err)
	}
	return k, nil
}

// absorb fetches the agent's HEAD. Git's serving side is made for repositories that are not trusted: it runs nothing of theirs.
func (t *Tree) absorb(ctx context.Context) error {
	_, _, err := t.git.run(ctx, call{pair: []pair{{"transfer.fsckObjects", "true"}}, args: []string{
		"fetch", "-q", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance", "--", t.work, "+HEAD:" + agentRef}})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// takeHere is take for a clone, where the agent's commits already are.
func (t *Tree) takeHere(ctx context.Context, since string) (taken, error) {
	k := taken{parent: since, notes: t.dropHalfDone()}
	now, err := t.where(ctx)
	if err != nil {
		return k, fmt.Errorf("reading HEAD: %w", err)
	}
	if now.commit == since {
		k.notes = append(k.notes, t.wandered(now.ref)...)
	} else if err := t.judge(ctx, &k, since, now); err != nil {
		return k, err
	}
	if now.ref == t.ref() && now.commit == k.parent {
		return k, nil
	}
	return k, t.putHead(ctx, k.parent)
}

// putHead puts HEAD on the run's branch and that on a commit. The files stay as they are.
func (t *Tree) putHead(ctx context.Context, commit string) error {
	if _, err := t.git.out(ctx, "symbolic-ref", "HEAD", t.ref()); err != nil {
		return fmt.Errorf("putting HEAD back on %s: %w", t.branch, err)
	}
	if _, err := t.git.out(ctx, "update-ref", t.ref(), commit); err != nil {
		return fmt.Errorf("moving the branch %s: %w", t.branch, err)
	}
	return nil
}

// judge keeps the agent's commits when they go on from since.
func (t *Tree) judge(ctx context.Context, k *taken, since string, now place) error {
	k.notes = append(k.notes, t.wandered(now.ref)...)
	if now.commit == since {
		return nil
	}
	_, err := t.git.out(ctx, "merge-base", "--is-ancestor", since, now.commit+"^{commit}")
	switch {
	case err == nil:
		k.parent = now.commit
	case exit(err) > 0:
		k.notes = append(k.notes, "the agent had rewritten history or gone to another commit; its files were kept, its commits were not")
	default:
		return fmt.Errorf("reading the agent's commits: %w", err)
	}
	return nil
}

// mute keeps the files of the agent's commits, and not the commits, when their messages would do something on GitHub.
func (t *Tree) mute(ctx context.Context, k *taken, since string) error {
	if k.parent == since {
		return nil
	}
	acts, err := t.acts(ctx, since, k.parent)
	if err != nil || !acts {
		return err
	}
	k.parent = since
	k.notes = append(k.notes, "a message of the agent's commits mentions somebody, closes something or keeps workflows from running; its files were kept, its commits were not")
	return nil
}

// wandered notes a HEAD that is not on the run's branch.
func (t *Tree) wandered(ref string) []string {
	switch {
	case ref == t.ref():
		return nil
	case ref == "":
		return []string{"the agent had left the run's branch"}
	}
	return []string{fmt.Sprintf("the agent had switched to %q", strings.TrimPrefix(ref, "refs/heads/"))}
}

// halfDone are the files of a clone's .git by which a merge, a rebase or the like goes on.
var halfDone = []string{"MERGE_HEAD", "MERGE_MODE", "MERGE_MSG", "SQUASH_MSG", "CHERRY_PICK_HEAD", "REVERT_HEAD", "AUTO_MERGE",
	"rebase-merge", "rebase-apply", "sequencer"}

// dropHalfDone ends what the agent had begun and not ended. Our commit would else go on with it.
func (t *Tree) dropHalfDone() (notes []string) {
	found := false
	for _, name := range halfDone {
		file := filepath.Join(t.dir, name)
		if _, err := os.Lstat(file); err == nil {
			found = found || name != "MERGE_MSG" && name != "SQUASH_MSG"
			_ = os.RemoveAll(file) // what is still there fails the commit, which says so
		}
	}
	if found {
		notes = append(notes, "the agent had left a merge or rebase unfinished; its files were kept as they stood")
	}
	return notes
}

// agentHead reads where HEAD is in the repository inside a directory, as plain files: no program may look at its configuration.
func agentHead(dir string) (ref, commit string, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", "", err
	}
	defer root.Close()
	for _, name := range []string{".git", ".git/objects", ".git/refs"} {
		if info, err := root.Lstat(name); err != nil || !info.IsDir() {
			return "", "", fmt.Errorf("%s is not a directory any more", name)
		}
	}
	if _, err := root.Lstat(".git/commondir"); err == nil {
		return "", "", errors.New("it is a part of another one")
	}
	head, err := firstLine(root, ".git/HEAD")
	if err != nil {
		return "", "", err
	}
	ref, symbolic := strings.CutPrefix(head, "ref: ")
	if !symbolic {
		return "", head, nil
	}
	if ref = path.Clean(ref); !strings.HasPrefix(ref, "refs/") {
		return "", "", errors.New("its HEAD points outside")
	}
	if commit, err = firstLine(root, ".git/"+ref); err == nil {
		return ref, commit, nil
	}
	packed, err := smallFile(root, ".git/packed-refs")
	for line := range strings.Lines(packed) {
		if commit, name, _ := strings.Cut(strings.TrimSpace(line), " "); name == ref {
			return ref, commit, nil
		}
	}
	if err == nil {
		err = errors.New("its HEAD points nowhere")
	}
	return ref, "", err
}

func firstLine(root *os.Root, name string) (string, error) {
	text, err := smallFile(root, name)
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(line), err
}

// smallFile reads a regular file that a stranger may have put there.
func smallFile(root *os.Root, name string) (string, error) {
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 16<<20 {
		return "", errors.Join(err, fmt.Errorf("%s is not a file", name))
	}
	text, err := root.ReadFile(name)
	return string(text), err
}
