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
	p := proposal{c, branch, path, content}
	if err := p.makeBranch(ctx, home.DefaultBranch); err != nil {
		return nil, err
	}
	if err := p.putFile(ctx, title); err != nil {
		return nil, err
	}
	return c.OpenPull(ctx, PullRequest{Title: title, Body: body, Head: branch, Base: home.DefaultBranch})
}

// proposal is a file that a branch is made for.
type proposal struct {
	*Client
	branch, path string
	content      []byte
}

// makeBranch makes the branch at another one's head; one of this name that exists stays where it is.
func (p proposal) makeBranch(ctx context.Context, from string) error {
	owner, name, doing := p.o.Repo.Owner, p.o.Repo.Name, "making the branch "+oneLine(p.branch)
	head, _, err := p.api.Git.GetRef(ctx, owner, name, "heads/"+from)
	if statusIs(err, http.StatusNotFound) || statusIs(err, http.StatusConflict) {
		return &failed{fmt.Sprintf("%s: the branch %s has no commit yet; push a first one", doing, oneLine(from)), err}
	}
	if err != nil {
		return explain("reading the head of "+oneLine(from), err)
	}
	there := func() (bool, error) {
		_, _, err := p.api.Git.GetRef(ctx, owner, name, "heads/"+p.branch)
		return err == nil, nil // made twice, GitHub refuses it
	}
	return explain(doing, p.post(ctx, func() error {
		_, _, err := p.api.Git.CreateRef(ctx, owner, name, &github.Reference{
			Ref: github.String("refs/heads/" + p.branch), Object: &github.GitObject{SHA: head.Object.SHA},
		})
		if refused(err) {
			if made, _ := there(); made {
				return nil
			}
		}
		return err
	}, there))
}

// putFile commits the file to the branch unless the branch has it with this content. A commit whose answer was lost, and
// which the client has tried again, is refused as one of an older file: then the file is examined once more.
func (p proposal) putFile(ctx context.Context, subject string) error {
	doing := fmt.Sprintf("writing %s on %s", oneLine(p.path), oneLine(p.branch))
	for look := 1; ; look++ {
		sha, same, err := p.file(ctx)
		if err != nil || same {
			return explain(doing, err)
		}
		_, _, err = p.api.Repositories.CreateFile(ctx, p.o.Repo.Owner, p.o.Repo.Name, p.path,
			&github.RepositoryContentFileOptions{
				Message: &subject, Content: p.content, Branch: &p.branch, SHA: given(sha),
			})
		if err == nil {
			return nil
		}
		if look < 2 && (refused(err) || statusIs(err, http.StatusConflict)) {
			continue
		}
		if _, same, ferr := p.file(ctx); ferr == nil && same {
			return nil
		}
		return explain(doing, err)
	}
}

// file is the id of the file on the branch, empty if none exists, and whether it holds the content.
func (p proposal) file(ctx context.Context) (sha string, same bool, err error) {
	file, dir, _, err := p.api.Repositories.GetContents(ctx, p.o.Repo.Owner, p.o.Repo.Name, p.path,
		&github.RepositoryContentGetOptions{Ref: p.branch})
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
	return file.GetSHA(), err == nil && bytes.Equal([]byte(text), p.content), nil
}
