package fake

import (
	"encoding/base64"
	"path"
	"strconv"
	"strings"
)

// mostInline is how large a file may be whose content is in the answer (1 MiB); of a larger one GitHub tells everything but that.
const mostInline = 1 << 20

// getContents answers with a file of a branch, a tag or a commit. A directory, which GitHub would list, is not imitated: nobody asks for
// one, so that whoever does gets a problem.
func (g *GitHub) getContents(r *request) answer {
	ref := r.query.Get("ref")
	if ref == "" {
		ref = r.repo.defaultBranch
	}
	commit := g.branchSHA(r.repo, ref)
	if commit == "" {
		commit = g.read(r.repo, "rev-parse", "--verify", "--quiet", ref+"^{commit}")
	}
	if commit == "" {
		return failure(404, "No commit found for the ref "+ref)
	}
	name := r.parts["path"]
	kind, sha, _ := strings.Cut(g.read(r.repo, "ls-tree", "--full-tree", "--format=%(objecttype) %(objectname)", commit, "--", name), " ")
	switch kind {
	case "":
		return notFound()
	case "blob":
	default:
		r.oddBody = append(r.oddBody, name+" is a "+kind+", and the stand-in answers with files alone")
		return notFound()
	}
	size, err := strconv.Atoi(g.read(r.repo, "cat-file", "-s", sha))
	if err != nil {
		return notFound()
	}
	content, encoding := "", "none"
	if size <= mostInline {
		raw, err := runGitRaw(r.repo.gitDir, "", "cat-file", "blob", sha)
		if err != nil {
			return notFound()
		}
		content, encoding = base64.StdEncoding.EncodeToString([]byte(raw)), "base64"
	}
	api := g.repoAPI(r.repo)
	self := api + "/contents/" + name + "?ref=" + ref
	git, html := api+"/git/blobs/"+sha, g.url+"/"+r.repo.String()+"/blob/"+ref+"/"+name
	return ok(object{
		"type": "file", "encoding": encoding, "size": size, "name": path.Base(name), "path": name, "content": content, "sha": sha,
		"url": self, "git_url": git, "html_url": html, "download_url": g.url + "/" + r.repo.String() + "/raw/" + ref + "/" + name,
		"_links": object{"git": git, "self": self, "html": html},
	})
}
