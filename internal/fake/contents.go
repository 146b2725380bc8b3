package fake

import (
	"encoding/base64"
	"path"
	"strconv"
	"strings"
)

// mostInline is how large a file may be whose content is in the answer (1 MiB); of a larger one GitHub tells everything
// but that.
const mostInline = 1 << 20

// getContents answers with a file of a branch, a tag or a commit. A directory, which GitHub would list, is not
// imitated: no one asks for one, so that whoever does gets a problem.
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
	kind, sha, _ := strings.Cut(g.read(r.repo, "ls-tree", "--full-tree", "--format=%(objecttype) %(objectname)", commit,
		"--", name), " ")
	switch kind {
	case "":
		return notFound()
	case "tree":
		return g.listDirectory(r, commit, ref, name)
	case "blob":
	default:
		r.oddBody = append(r.oddBody, name+" is a "+kind+", and the stand-in answers with files and directories alone")
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
		"type": "file", "encoding": encoding, "size": size, "name": path.Base(name), "path": name, "content": content,
		"sha": sha,
		"url": self, "git_url": git, "html_url": html,
		"download_url": g.url + "/" + r.repo.String() + "/raw/" + ref + "/" + name,
		"_links":       object{"git": git, "self": self, "html": html},
	})
}

// listDirectory answers with what is in a directory, as GitHub does without the files' contents.
func (g *GitHub) listDirectory(r *request, commit, ref, name string) answer {
	api, page := g.repoAPI(r.repo), g.url+"/"+r.repo.String()
	list := []object{}
	for line := range strings.Lines(g.read(r.repo, "ls-tree", "--full-tree",
		"--format=%(objecttype) %(objectname) %(objectsize) %(path)", commit, "--", name+"/")) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 4)
		if len(parts) != 4 {
			continue
		}
		kind, place := map[string]string{"tree": "dir", "blob": "file"}[parts[0]], parts[0]
		size, err := strconv.Atoi(strings.TrimSpace(parts[2]))
		if err != nil { // a directory has none
			size = 0
		}
		self, git, html := api+"/contents/"+parts[3]+"?ref="+ref, api+"/git/"+place+"s/"+parts[1],
			page+"/"+place+"/"+ref+"/"+parts[3]
		one := object{
			"type": kind, "size": size, "name": path.Base(parts[3]), "path": parts[3], "sha": parts[1], "url": self,
			"git_url": git, "html_url": html,
			"download_url": nil, "_links": object{"git": git, "self": self, "html": html},
		}
		if kind == "file" {
			one["download_url"] = page + "/raw/" + ref + "/" + parts[3]
		}
		list = append(list, one)
	}
	return ok(list)
}
