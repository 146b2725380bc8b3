package fake

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path"
	"strings"
)

// putContents writes one file in a commit on a branch. A file that already exists is replaced only by who tells its
// blob.
func (g *GitHub) putContents(r *request) answer {
	var in struct{ Message, Content, SHA, Branch string }
	if bad := r.decode(&in); bad != nil {
		return *bad
	}
	name, branch := r.parts["path"], cmp.Or(in.Branch, r.repo.defaultBranch)
	content, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(in.Content, "\n", ""))
	head := g.branchSHA(r.repo, branch)
	old := g.read(r.repo, "rev-parse", "--verify", "--quiet", head+":"+name)
	switch {
	case in.Message == "":
		return unprocessable("Invalid request.\n\n\"message\" wasn't supplied.")
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
	c := g.newCommit(r)
	c.message, c.parents = in.Message, []string{head}
	if c.tree, err = g.treeWith(r.repo, head, name, string(content)); err != nil {
		return unprocessable(err.Error())
	}
	sha, err := g.writeCommit(r.repo, c)
	if err != nil {
		return unprocessable(err.Error())
	}
	if _, err := runGit(r.repo.gitDir, "", "update-ref", "refs/heads/"+branch, sha, head); err != nil {
		return failure(http.StatusConflict, fmt.Sprintf("is at %s but expected %s", g.branchSHA(r.repo, branch), head))
	}
	shown := g.getContents(&request{Request: r.Request, repo: r.repo, token: r.token, parts: r.parts,
		query: map[string][]string{"ref": {branch}}})
	file, _ := shown.body.(object) // written a moment ago
	delete(file, "content")
	delete(file, "encoding")
	status := http.StatusCreated
	if old != "" {
		status = http.StatusOK
	}
	return answer{status: status, body: object{"content": file, "commit": g.gitCommitShape(r.repo, sha, c)}}
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
