package fake_test

import (
	"strings"
	"testing"

	"github.com/google/go-github/v60/github"
)

func TestContents(t *testing.T) {
	s := newScene(t)
	big := strings.Repeat("x", 1<<20+1)
	sha, err := s.CommitFiles(owner, name, "work", "files", map[string]string{"ralph/tasks.json": "{}\n\n", "big": big})
	check(t, err)
	c := s.client(actions)
	for _, ref := range []string{"work", sha} {
		file, _, _, err := c.Repositories.GetContents(s.ctx, owner, name, "ralph/tasks.json",
			&github.RepositoryContentGetOptions{Ref: ref})
		check(t, err)
		text, err := file.GetContent()
		check(t, err)
		equal(t, "content at "+ref, text, "{}\n\n")
	}
	file, _, _, err := c.Repositories.GetContents(s.ctx, owner, name, "big",
		&github.RepositoryContentGetOptions{Ref: "work"})
	check(t, err)
	equal(t, "encoding of a large file", file.GetEncoding(), "none")
	equal(t, "size of a large file", file.GetSize(), len(big))
	for _, at := range [][2]string{{"main", "ralph/tasks.json"}, {"work", "nope"}, {"nope", "big"}} {
		_, _, resp, err := c.Repositories.GetContents(s.ctx, owner, name, at[1],
			&github.RepositoryContentGetOptions{Ref: at[0]})
		if err == nil || status(resp) != 404 {
			t.Errorf("%s at %s: %v, want 404", at[1], at[0], err)
		}
	}
}
