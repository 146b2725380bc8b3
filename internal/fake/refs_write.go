package fake

import (
	"net/http"
	"strings"
)

func (g *GitHub) createRef(r *request) answer {
	var in struct{ Ref, SHA, Key string }
	if bad := r.decode(&in); bad != nil {
		return *bad
	}
	switch {
	case !strings.HasPrefix(in.Ref, "refs/") || strings.Count(in.Ref, "/") < 2 || g.oddRef(r.repo, in.Ref):
		return unprocessable("Reference name must start with 'refs/' and have at least two slashes.")
	case !isSHA(in.SHA) || g.read(r.repo, "cat-file", "-t", in.SHA) == "":
		return unprocessable("Object does not exist")
	case r.repo.ref(in.Ref) != "":
		return unprocessable("Reference already exists")
	}
	if _, err := runGit(r.repo.gitDir, "", "update-ref", in.Ref, in.SHA, ""); err != nil {
		return unprocessable("Reference update failed")
	}
	return g.refAnswer(r.repo, in.Ref, http.StatusCreated)
}

func (g *GitHub) oddRef(r *repo, ref string) bool {
	_, err := runGit(r.gitDir, "", "check-ref-format", ref)
	return err != nil
}

func (g *GitHub) refAnswer(r *repo, ref string, status int) answer {
	sha := r.ref(ref)
	kind := g.read(r, "cat-file", "-t", sha)
	return answer{status: status, body: object{
		"ref": ref, "node_id": node("REF", r.id), "url": g.repoAPI(r) + "/git/" + ref,
		"object": object{"type": kind, "sha": sha, "url": g.repoAPI(r) + "/git/" + kind + "s/" + sha},
	}}
}
