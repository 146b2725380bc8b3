package fake

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
)

// ClosePull closes a pull request without merging it.
func (g *GitHub) ClosePull(owner, name string, number int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	r, is := g.mustPull(owner, name, number)
	is.Closed, is.UpdatedAt = true, g.time()
	g.closedHappened(r, is, r.owner)
}

var closing = regexp.MustCompile(`(?i)\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):? #(\d+)\b`)

// Merge merges a pull request as someone, with a merge commit whose id it returns, and closes the issues that its text
// says it closes. When its head is not in the repository, only the records say that it was merged.
func (g *GitHub) Merge(owner, name string, number int, by string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	r, is := g.mustPull(owner, name, number)
	g.user(by)
	is.pull.mergeSHA = cmp.Or(g.mergeCommit(r, is, by), g.headSHA(r, is))
	is.pull.merged, is.pull.mergedBy, is.Closed, is.UpdatedAt = true, by, true, g.time()
	defer g.closedHappened(r, is, by)
	if is.pull.base != r.defaultBranch {
		return is.pull.mergeSHA
	}
	for _, m := range closing.FindAllStringSubmatch(is.Body, -1) {
		n, err := strconv.ParseInt(m[1], 10, 64)
		if linked := r.find(n); err == nil && linked != nil && linked.pull == nil {
			linked.Closed, linked.UpdatedAt = true, g.time()
			g.closedHappened(r, linked, by)
		}
	}
	return is.pull.mergeSHA
}

// mergeCommit merges the head into the base; empty when the head does not exist. Callers hold the lock.
func (g *GitHub) mergeCommit(r *repo, is *issue, by string) string {
	base, head := g.branchSHA(r, is.pull.base), g.headSHA(r, is)
	if base == "" || !g.hasCommit(r, head) {
		return ""
	}
	tree, err := runGit(r.gitDir, "", "merge-tree", "--write-tree", base, head)
	if err != nil {
		panic(fmt.Sprintf("fake: merging %s#%d: %v", r, is.Number, err))
	}
	author := person{name: by, email: by + "@users.noreply.github.com", at: g.time()}
	sha, err := g.writeCommit(r, &commit{
		tree: tree, parents: []string{base, head}, author: author, committer: author,
		message: fmt.Sprintf("Merge pull request #%d from %s\n\n%s", is.Number, headLabel(r, is), is.Title),
	})
	if err == nil {
		_, err = runGit(r.gitDir, "", "update-ref", "refs/heads/"+is.pull.base, sha, base)
	}
	if err != nil {
		panic(fmt.Sprintf("fake: merging %s#%d: %v", r, is.Number, err))
	}
	return sha
}
