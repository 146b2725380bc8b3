package github

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/event"
)

// WriteFileByPull proposes a file: on a branch from the default branch's head, in one commit, by a pull request. A
// branch and a pull request of this name that exist are adopted, and a file that holds this content already is left
// alone: doing it twice is as doing it once. The title is the commit's subject too. A file under .github/workflows
// takes a token that may write workflows.
func (c *Client) WriteFileByPull(ctx context.Context, branch, path string, content []byte, title,
	body string) (*event.Pull, error) {
	if c.dry("propose %s on the branch %s:\n%s", path, branch, content) {
		return &event.Pull{}, nil
	}
	home, err := c.repository(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.makeBranch(ctx, branch, home.DefaultBranch); err != nil {
		return nil, err
	}
	if err := c.putFile(ctx, branch, path, content, title); err != nil {
		return nil, err
	}
	return c.OpenPull(ctx, PullRequest{Title: title, Body: body, Head: branch, Base: home.DefaultBranch})
}

// makeBranch makes a branch at another one's head; one of this name that exists stays where it is.
func (c *Client) makeBranch(ctx context.Context, branch, from string) error {
	doing := "making the branch " + oneLine(branch)
	head, _, err := c.api.Git.GetRef(ctx, c.o.Repo.Owner, c.o.Repo.Name, "heads/"+from)
	if statusIs(err, http.StatusNotFound) || statusIs(err, http.StatusConflict) {
		return &failed{fmt.Sprintf("%s: the branch %s has no commit yet; push a first one", doing, oneLine(from)), err}
	}
	if err != nil {
		return explain("reading the head of "+oneLine(from), err)
	}
	for try := 1; ; try++ {
		_, _, err := c.api.Git.CreateRef(ctx, c.o.Repo.Owner, c.o.Repo.Name, &github.Reference{
			Ref: github.String("refs/heads/" + branch), Object: &github.GitObject{SHA: head.Object.SHA},
		})
		if err == nil {
			return nil
		}
		if refused(err) || ErrAway(err) {
			if _, _, ferr := c.api.Git.GetRef(ctx, c.o.Repo.Owner, c.o.Repo.Name, "heads/"+branch); ferr == nil {
				return nil
			}
		}
		if !ErrAway(err) || try == maxTries {
			return explain(doing, err)
		}
		if err := c.o.Sleep(ctx, backoff(try)); err != nil {
			return explain(doing, err)
		}
	}
}

// putFile commits a file to a branch unless the branch has it with this content. A commit whose answer was lost, and
// which the client has tried again, is refused as one of an older file: then the file is examined once more.
func (c *Client) putFile(ctx context.Context, branch, path string, content []byte, subject string) error {
	doing := fmt.Sprintf("writing %s on %s", oneLine(path), oneLine(branch))
	for look := 1; ; look++ {
		sha, same, err := c.fileOn(ctx, branch, path, content)
		if err != nil || same {
			return explainAny(doing, err)
		}
		_, _, err = c.api.Repositories.CreateFile(ctx, c.o.Repo.Owner, c.o.Repo.Name, path,
			&github.RepositoryContentFileOptions{
				Message: &subject, Content: content, Branch: &branch, SHA: given(sha),
			})
		if err == nil {
			return nil
		}
		if look < 2 && (refused(err) || statusIs(err, http.StatusConflict)) {
			continue
		}
		if _, same, ferr := c.fileOn(ctx, branch, path, content); ferr == nil && same {
			return nil
		}
		return explain(doing, err)
	}
}

// fileOn is the id of a file on a branch, empty when there is none, and whether it holds the content.
func (c *Client) fileOn(ctx context.Context, branch, path string, content []byte) (sha string, same bool, err error) {
	file, dir, _, err := c.api.Repositories.GetContents(ctx, c.o.Repo.Owner, c.o.Repo.Name, path,
		&github.RepositoryContentGetOptions{Ref: branch})
	if ErrGone(err) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	if dir != nil || file == nil {
		return "", false, errors.New("a directory of this name is there; move it away")
	}
	text, err := file.GetContent()
	return file.GetSHA(), err == nil && bytes.Equal([]byte(text), content), nil
}
