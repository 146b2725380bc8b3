package github

import (
	"context"
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
	owner, name, from := c.o.Repo.Owner, c.o.Repo.Name, home.DefaultBranch
	head, _, err := c.api.Git.GetRef(ctx, owner, name, "heads/"+from)
	if statusIs(err, http.StatusNotFound) || statusIs(err, http.StatusConflict) {
		return nil, &failed{fmt.Sprintf("making the branch %s: the branch %s has no commit yet; push a first one",
			oneLine(branch), oneLine(from)), err}
	}
	if err != nil {
		return nil, explain("reading the head of "+oneLine(from), err)
	}
	_, _, err = c.api.Git.CreateRef(ctx, owner, name, &github.Reference{
		Ref: github.String("refs/heads/" + branch), Object: &github.GitObject{SHA: head.Object.SHA},
	})
	if err != nil && !refused(err) { // as it is for a branch that exists
		return nil, explain("making the branch "+oneLine(branch), err)
	}
	if err := c.putFile(ctx, branch, path, content, title); err != nil {
		return nil, explain(fmt.Sprintf("writing %s on %s", oneLine(path), oneLine(branch)), err)
	}
	return c.OpenPull(ctx, PullRequest{Title: title, Body: body, Head: branch, Base: home.DefaultBranch})
}

// putFile commits the file to the branch unless the branch has it with this content. A commit whose answer was lost, and
// which was tried again, is refused as one of an older file: then the file is examined once more.
func (c *Client) putFile(ctx context.Context, branch, path string, content []byte, subject string) error {
	sha, text, err := c.content(ctx, branch, path)
	if err != nil || sha != "" && text == string(content) {
		return err
	}
	_, _, err = c.api.Repositories.CreateFile(ctx, c.o.Repo.Owner, c.o.Repo.Name, path,
		&github.RepositoryContentFileOptions{Message: &subject, Content: content, Branch: &branch, SHA: given(sha)})
	if err != nil {
		if sha, text, _ := c.content(ctx, branch, path); sha != "" && text == string(content) {
			return nil
		}
	}
	return err
}
