package fake

import (
	"net/http"
	"strings"
)

func (g *GitHub) getRef(r *request) answer {
	name := "refs/" + r.parts["ref"]
	if r.repo.ref(name) == "" {
		return notFound()
	}
	return g.refAnswer(r.repo, name, http.StatusOK)
}

// branchSHA is a branch's commit, empty when there is no such branch.
func (g *GitHub) branchSHA(r *repo, branch string) string {
	return r.ref("refs/heads/" + branch)
}

// ahead reports whether head has commits that base has not.
func (g *GitHub) ahead(r *repo, base, head string) bool {
	return g.read(r, "rev-list", "--max-count=1", "refs/heads/"+base+"..refs/heads/"+head) != ""
}

// headSHA is a pull request's head: the branch as it is, or as it was before it was deleted.
func (g *GitHub) headSHA(r *repo, is *issue) string {
	if is.pull.headRepo == "" {
		if sha := g.branchSHA(r, is.pull.head); sha != "" {
			is.pull.headSHA = sha
		}
	}
	if is.pull.headSHA == "" { // a fork, or seeded without git: a commit that nothing has
		is.pull.headSHA = strings.Repeat("f", 40)
	}
	return is.pull.headSHA
}
