package git

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/secret"
)

// Clone is a user's clone beside which a run works: no branch of its own, no checkout, and commits only where the
// settings ask for them.
type Clone struct {
	users
	secrets []string
}

// Beside finds the clone that a directory is in. ok is false when it is in none, or there is no git: a run of a prompt
// needs neither. env is what git is started with, NAME=value; secrets are values that no commit may hold.
func Beside(ctx context.Context, dir string, env, secrets []string) (c *Clone, ok bool) {
	c = &Clone{users{door: door{dir: dir, env: usersDoor(env), pair: safe}}, secrets}
	err := c.find(ctx)
	c.door.dir = dir // paths of commands are named from there
	return c, err == nil
}

// Identify makes the author and committer of commits those that git itself names in an environment. known is false when
// git names none.
func (c *Clone) Identify(ctx context.Context, env []string) (known bool, err error) {
	who, err := whoCommits(ctx, c.door.dir, env)
	c.door.env = append(c.door.env[:len(c.door.env):len(c.door.env)], who...)
	return who != nil, err
}

// KeepOut keeps ralph's own files out of the commits that the agent and the user make.
func (c *Clone) KeepOut() error { return excludeRuntimeFiles(c.common) }

// ClearLocks removes the locks that a git of a ralph which was killed has left in the clone. It fails while a git is
// running there.
func (c *Clone) ClearLocks(log func(format string, args ...any)) error {
	return c.unlock(c.locks(), true, log)
}

// Guard remembers the files of the clone that decide what git does, hooks and configuration. putBack makes them what they
// were, keeps what they were changed to in a directory, and names them.
func (c *Clone) Guard() (putBack func(kept string) (changed []string, err error), err error) {
	return c.thaw, c.freeze()
}

// Changed reports whether there is anything to commit, new files too.
func (c *Clone) Changed(ctx context.Context) (bool, error) {
	names, err := c.door.uncommitted(ctx, nil)
	return len(names) > 0, err
}

// Commit commits everything that changed, new files too; the message never comes near a command line. Hooks are off:
// the agent can have written them. done is false when git refused, and output says why.
func (c *Clone) Commit(ctx context.Context, message string) (output string, done bool, err error) {
	if _, stderr, err := c.door.run(ctx, call{args: []string{"add", "--all", ":/"}}); err != nil {
		return stderr, false, ignore(err)
	}
	known := secret.NewRedactor(c.secrets)
	seek := known.Finder()
	if _, _, err := c.door.run(ctx,
		call{out: seek, args: []string{"diff", "--cached", "--text", "-U0", "--no-ext-diff", "--no-textconv",
			"--no-color"}}); err != nil {
		return "", false, fmt.Errorf("looking for secrets in the changes: %w", err)
	}
	if _, said := known.First(message); said || seek.Found() {
		if _, err := c.door.out(ctx, "reset", "-q"); err != nil {
			return "", false, fmt.Errorf("taking back what would have been committed: %w", err)
		}
		return "error: the change holds a credential of the environment that ralph runs in; take it out", false, nil
	}
	stdout, stderr, err := c.door.run(ctx, call{in: strings.NewReader(message), args: []string{"commit", "-q", "-F", "-"}})
	return stdout + stderr, err == nil, ignore(err)
}

// Run runs any other git command, as the settings name it: "push", "push origin HEAD".
func (c *Clone) Run(ctx context.Context, args []string) (output string, done bool, err error) {
	var out bytes.Buffer
	_, stderr, err := c.door.run(ctx, call{args: args, out: proc.NewCapped(&out, 64<<10), within: remoteTime})
	return out.String() + stderr, err == nil, ignore(err)
}

// excludeRuntimeFiles adds ralph's files to what a repository keeps out of every commit.
func excludeRuntimeFiles(common string) error {
	path := filepath.Join(common, "info", "exclude")
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) || strings.Contains(string(text), runtimeFiles) {
		return err
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(text, '\n')
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return files.Put(path, append(text, runtimeFiles...), 0o644)
}

// Snapshots are commits of a clone's working tree that no branch and no index of the user's knows of: what a reviewer
// looks at in a run that commits nothing. git forgets them in time.
type Snapshots struct {
	objects
	clone *Clone
	base  loop.Commit // the tree as it was when the run began
	last  loop.Commit
}

// Snapshots begins with what is in the working tree now.
func (c *Clone) Snapshots(ctx context.Context) (*Snapshots, error) {
	s := &Snapshots{clone: c, objects: objects{git: c.door}}
	var err error
	s.base, err = s.take(ctx, "")
	s.last = s.base
	return s, err
}

// Base is what was there when the run began.
func (s *Snapshots) Base() string { return s.base.SHA }

// Commit implements loop.Tree.
func (s *Snapshots) Commit(ctx context.Context, _ string, _ loop.State) (loop.Commit, error) {
	now, err := s.take(ctx, s.last.SHA)
	if err != nil {
		return loop.Commit{}, err
	}
	now.Empty, now.NoDiff = now.Tree == s.last.Tree, now.Tree == s.base.Tree
	s.last = now
	return now, nil
}

// take makes a commit of every file that git does not ignore, by an index of its own.
func (s *Snapshots) take(ctx context.Context, parent string) (loop.Commit, error) {
	dir, remove, err := proc.TempDir("")
	if err != nil {
		return loop.Commit{}, err
	}
	defer remove()
	d := s.clone.door
	d.env = append(append(d.env[:len(d.env):len(d.env)], "GIT_INDEX_FILE="+filepath.Join(dir, "index")),
		identity(Identity{"ralph", "ralph@localhost"})...)
	tree, commit := "", ""
	if _, err = d.out(ctx, "add", "--all", ":/"); err == nil {
		tree, err = d.out(ctx, "write-tree")
	}
	args := []string{"commit-tree", strings.TrimSpace(tree), "-m", "ralph: a snapshot for a review"}
	if parent != "" {
		args = append(args, "-p", parent)
	}
	if err == nil {
		commit, err = d.out(ctx, args...)
	}
	if err != nil {
		return loop.Commit{}, fmt.Errorf("taking a snapshot of the working tree: %w", err)
	}
	commit = strings.TrimSpace(commit)
	return s.between(ctx, cmp.Or(parent, commit), commit)
}
