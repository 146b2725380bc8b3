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
	if statusIs(err, http.StatusNotFound, http.StatusConflict) {
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
	sha, text, err := c.content(ctx, branch, path)
	same := func() bool { return sha != "" && text == string(content) }
	if err == nil && !same() {
		_, _, err = c.api.Repositories.CreateFile(ctx, owner, name, path,
			&github.RepositoryContentFileOptions{Message: &title, Content: content, Branch: &branch, SHA: given(sha)})
		if err != nil { // it is refused as one of an older file when it was made by a try whose answer was lost
			if sha, text, _ = c.content(ctx, branch, path); same() {
				err = nil
			}
		}
	}
	if err != nil {
		return nil, explain(fmt.Sprintf("writing %s on %s", oneLine(path), oneLine(branch)), err)
	}
	return c.OpenPull(ctx, PullRequest{Title: title, Body: body, Head: branch, Base: home.DefaultBranch})
}
