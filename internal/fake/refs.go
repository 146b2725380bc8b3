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

func (g *GitHub) getBranch(r *request) answer {
	name := r.parts["branch"]
	sha := g.branchSHA(r.repo, name)
	if sha == "" {
		return failure(404, "Branch not found")
	}
	fields := strings.SplitN(g.read(r.repo, "show", "-s", "--format=%T%n%P%n%an%n%ae%n%aI%n%cn%n%ce%n%cI%n%B", sha), "\n",
		9)
	api := g.repoAPI(r.repo)
	parents := []object{}
	for parent := range strings.FieldsSeq(fields[1]) {
		parents = append(parents, object{
			"sha": parent, "url": api + "/commits/" + parent, "html_url": g.url + "/" + r.repo.String() + "/commit/" + parent,
		})
	}
	_, protected := r.repo.settings.protections[name]
	return ok(object{
		"name": name, "protected": protected, "protection": object{"enabled": protected},
		"protection_url": api + "/branches/" + name + "/protection",
		"_links":         object{"html": g.url + "/" + r.repo.String() + "/tree/" + name, "self": api + "/branches/" + name},
		"commit": object{
			"sha": sha, "node_id": node("C", r.repo.id), "url": api + "/commits/" + sha,
			"html_url":     g.url + "/" + r.repo.String() + "/commit/" + sha,
			"comments_url": api + "/commits/" + sha + "/comments", "author": nil, "committer": nil, "parents": parents,
			"commit": object{
				"url": api + "/git/commits/" + sha, "message": strings.TrimSpace(fields[8]), "comment_count": 0,
				"author":    object{"name": fields[2], "email": fields[3], "date": fields[4]},
				"committer": object{"name": fields[5], "email": fields[6], "date": fields[7]},
				"tree":      object{"sha": fields[0], "url": api + "/git/trees/" + fields[0]},
			},
		},
	})
}

// branchSHA is a branch's commit, empty when there is no such branch.
func (g *GitHub) branchSHA(r *repo, branch string) string {
	return r.ref("refs/heads/" + branch)
}

// ahead reports whether head has commits that base has not.
func (g *GitHub) ahead(r *repo, base, head string) bool {
	return g.read(r, "rev-list", "--max-count=1", "refs/heads/"+base+"..refs/heads/"+head) != ""
}

// headSHA is a pull request's head: the branch as it stands, or as it stood before it was deleted.
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
