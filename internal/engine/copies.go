package engine

import (
	"context"
	"os"
	"path"

	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/secret"
)

// WorkOn is work that is committed to a git tree. host is in the addresses of its commits.
func WorkOn(t *git.Tree, host string) Work {
	return Work{Commits: Committer{t, host}, Copies: t}
}

// WorkInSnapshots is work that no one commits: a reviewer looks at snapshots of it.
func WorkInSnapshots(s *git.Snapshots) Work {
	return Work{Commits: s, Base: s.Base(), Copies: s}
}

// NoCommits is a run without a tree of its own: it commits nothing, and no one looks what has changed.
type NoCommits struct{}

// Commit implements loop.Tree.
func (NoCommits) Commit(context.Context, string, loop.State) (loop.Commit, error) {
	return loop.Commit{Unchecked: true}, nil
}

// Committer is the tree as the loop sees it: it words the commits.
type Committer struct {
	Tree *git.Tree
	Host string
}

// Commit implements loop.Tree.
func (c Committer) Commit(ctx context.Context, since string, s loop.State) (loop.Commit, error) {
	c.Tree.AcceptCredentials(func(path string, m secret.Mark) bool {
		return s.HasAccepted(check.CredentialConcern(path, m))
	})
	return c.Tree.Commit(ctx, since, report.CommitMessage(s, *s.Last(), c.Host))
}

// copyPath copies a path, with slashes, from one directory to another: files, directories and links, which stay links. No
// link leads it out of either. rewrite leads what a text says of the one directory to the other, as scripts of a virtual
// environment do; nil: nothing has to be led.
func copyPath(name, from, to string, rewrite func(text string) string) error {
	source, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer target.Close()
	if err := target.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	return files.Copy(source, name, target, name, files.Copying{Rewrite: rewrite})
}
