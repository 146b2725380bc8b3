package fake

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path"
	"strconv"
	"strings"
)

// mostInline is how large a file may be whose content is in the answer (1 MiB); of a larger one GitHub tells everything
// but that.
const mostInline = 1 << 20

// getContents answers with a file of a branch, a tag or a commit. Other objects are a problem.
func (g *GitHub) getContents(r *request) answer {
	ref := cmp.Or(r.query.Get("ref"), r.repo.defaultBranch)
	commit := g.commitOf(r.repo, ref)
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
	one := g.entryShape(r.repo, "blob", sha, ref, name, size)
	one["content"], one["encoding"] = content, encoding
	return ok(one)
}

// entryShape is a file or a directory, without its content.
func (g *GitHub) entryShape(r *repo, kind, sha, ref, name string, size int) object {
	api, page := g.repoAPI(r), g.url+"/"+r.String()
	self, git, html := api+"/contents/"+name+"?ref="+ref, api+"/git/"+kind+"s/"+sha, page+"/"+kind+"/"+ref+"/"+name
	o := object{"type": "dir", "size": size, "name": path.Base(name), "path": name, "sha": sha, "url": self, "git_url": git,
		"html_url": html, "download_url": nil, "_links": object{"git": git, "self": self, "html": html}}
	if kind == "blob" {
		o["type"], o["download_url"] = "file", page+"/raw/"+ref+"/"+name
	}
	return o
}

// listDirectory answers with what is in a directory, as GitHub does without the files' contents.
func (g *GitHub) listDirectory(r *request, commit, ref, name string) answer {
	list := []object{}
	for line := range strings.Lines(g.read(r.repo, "ls-tree", "--full-tree",
		"--format=%(objecttype) %(objectname) %(objectsize) %(path)", commit, "--", name+"/")) {
		if parts := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 4); len(parts) == 4 {
			size, _ := strconv.Atoi(strings.TrimSpace(parts[2])) // a directory has none
			list = append(list, g.entryShape(r.repo, parts[0], parts[1], ref, parts[3], size))
		}
	}
	return ok(list)
}

// putContents writes one file in a commit on a branch. A file that already exists is replaced only by who tells its
// blob.
func (g *GitHub) putContents(r *request) answer {
	var in struct{ Message, Content, SHA, Branch string }
	r.decode(&in)
	name, branch := r.parts["path"], cmp.Or(in.Branch, r.repo.defaultBranch)
	content, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(in.Content, "\n", ""))
	head := g.branchSHA(r.repo, branch)
	old := g.read(r.repo, "rev-parse", "--verify", "--quiet", head+":"+name)
	switch {
	case err != nil:
		return unprocessable("content is not valid Base64")
	case head == "":
		return failure(http.StatusNotFound, fmt.Sprintf("Branch %s not found", branch))
	case path.Clean("/"+name) != "/"+name:
		return unprocessable("path contains a malformed path component")
	case strings.HasPrefix(name, ".github/workflows/") && r.token.permissions != nil &&
		r.token.permissions.Workflows != "write":
		return r.token.forbidden()
	case old != "" && in.SHA == "":
		return unprocessable("Invalid request.\n\n\"sha\" wasn't supplied.")
	case old != in.SHA:
		return failure(http.StatusConflict, fmt.Sprintf("%s does not match %s", name, in.SHA))
	}
	tree, err := g.treeWith(r.repo, head, name, string(content))
	if err != nil {
		return unprocessable(err.Error())
	}
	sha, err := g.writeCommit(r.repo, r.token.login, in.Message, tree, head)
	if err != nil {
		return unprocessable(err.Error())
	}
	if _, err := runGit(r.repo.gitDir, "", "update-ref", "refs/heads/"+branch, sha, head); err != nil {
		return failure(http.StatusConflict, fmt.Sprintf("is at %s but expected %s", g.branchSHA(r.repo, branch), head))
	}
	status, blob := http.StatusCreated, g.read(r.repo, "rev-parse", sha+":"+name)
	if old != "" {
		status = http.StatusOK
	}
	return answer{status: status, body: object{"commit": object{"sha": sha},
		"content": g.entryShape(r.repo, "blob", blob, branch, name, len(content))}}
}

// treeWith is a commit's tree with one file replaced or added. Callers hold the lock.
func (g *GitHub) treeWith(r *repo, commit, name, content string) (string, error) {
	blob, err := runGit(r.gitDir, content, "hash-object", "-w", "--stdin")
	if err != nil {
		return "", err
	}
	index, err := os.CreateTemp("", "fake-github-index-")
	if err != nil {
		return "", err
	}
	_ = index.Close()
	defer func() { _ = os.Remove(index.Name()) }() // in the temporary directory
	if err := os.Remove(index.Name()); err != nil {
		return "", err // git takes an empty file for a broken index
	}
	env := "GIT_INDEX_FILE=" + index.Name()
	for _, args := range [][]string{{"read-tree", commit},
		{"update-index", "--add", "--cacheinfo", "100644," + blob + "," + name}} {
		if _, err := runGitEnv(r.gitDir, env, args...); err != nil {
			return "", err
		}
	}
	return runGitEnv(r.gitDir, env, "write-tree")
}
