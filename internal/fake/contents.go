package fake

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net/http"
	"path"
	"strings"
)

// mostInline is how large a file may be whose content is in the answer (1 MiB); of a larger one GitHub tells everything
// but that.
const mostInline = 1 << 20

// getContents answers with a file of a branch, a tag or a commit.
func (g *GitHub) getContents(r *request) answer {
	ref := cmp.Or(r.query.Get("ref"), r.repo.defaultBranch)
	commit := g.commitOf(r.repo, ref)
	if commit == "" {
		return failure(404, "No commit found for the ref "+ref)
	}
	name := r.parts["path"]
	kind, sha, _ := strings.Cut(g.read(r.repo, "ls-tree", "--full-tree", "--format=%(objecttype) %(objectname)", commit,
		"--", name), " ")
	if kind != "blob" {
		if kind != "" {
			r.problems = append(r.problems, name+" is a "+kind+", and the double only knows files")
		}
		return notFound()
	}
	raw, err := runGitRaw(r.repo.gitDir, "", "cat-file", "blob", sha)
	if err != nil {
		return notFound()
	}
	content, encoding := "", "none"
	if len(raw) <= mostInline {
		content, encoding = base64.StdEncoding.EncodeToString([]byte(raw)), "base64"
	}
	one := fileShape(sha, name, len(raw))
	one["content"], one["encoding"] = content, encoding
	return ok(one)
}

// fileShape is a file without its content.
func fileShape(sha, name string, size int) object {
	return object{"type": "file", "size": size, "name": path.Base(name), "path": name, "sha": sha}
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
	case strings.HasPrefix(name, ".github/workflows/") && r.token.Permissions != nil &&
		r.token.Permissions["workflows"] != "write":
		return r.token.forbidden()
	case old != "" && in.SHA == "":
		return unprocessable("Invalid request.\n\n\"sha\" wasn't supplied.")
	case old != in.SHA:
		return failure(http.StatusConflict, fmt.Sprintf("%s does not match %s", name, in.SHA))
	}
	sha, err := g.commit(r.repo, branch, g.identity(r.token.Login), in.Message, fileChange("100644", name, string(content)))
	if err != nil {
		return unprocessable(err.Error())
	}
	status, blob := http.StatusCreated, g.read(r.repo, "rev-parse", sha+":"+name)
	if old != "" {
		status = http.StatusOK
	}
	return answer{status: status, body: object{"commit": object{"sha": sha},
		"content": fileShape(blob, name, len(content))}}
}
