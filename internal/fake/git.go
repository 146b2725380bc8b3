package fake

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-loop/ralph/internal/fake/count"
)

var gitPath = regexp.MustCompile(`^/([^/]+)/([^/]+)\.git/(info/refs|git-upload-pack|git-receive-pack)$`)

func isGit(r *http.Request) bool { return gitPath.MatchString(r.URL.Path) }

// gitEnv is the environment of every git process here: no one's configuration, and repositories of any owner, so that a
// directory that another user made works too.
func gitEnv() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "LC_ALL=C",
		"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
		"GIT_CONFIG_KEY_1=core.fsync", "GIT_CONFIG_VALUE_1=none",
	}
}

// git serves clone, fetch and push: what lists references by itself, the rest through git.
func (g *GitHub) git(w http.ResponseWriter, r *http.Request) {
	service := gitPath.FindStringSubmatch(r.URL.Path)[3]
	found, status, refusal := g.admit(r, isPush(r, service))
	if refusal != "" {
		if status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
		}
		http.Error(w, refusal, status)
		return
	}
	w.Header().Set("Cache-Control", "no-cache")
	if service == "info/refs" {
		g.advertise(w, r, found)
		return
	}
	body, err := io.ReadAll(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" && err == nil {
		var unzipped *gzip.Reader
		if unzipped, err = gzip.NewReader(bytes.NewReader(body)); err == nil {
			body, err = io.ReadAll(unzipped)
		}
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/x-"+service+"-result")
	if list, ok := found.lsRefs(body); ok && service == "git-upload-pack" {
		_, _ = io.WriteString(w, list)
		return
	}
	count.Add()
	cmd := exec.Command("git", strings.TrimPrefix(service, "git-"), "--stateless-rpc", found.gitDir)
	cmd.Env = append(gitEnv(), "GIT_PROTOCOL="+r.Header.Get("Git-Protocol"))
	cmd.Stdin, cmd.Stdout = bytes.NewReader(body), w
	_ = cmd.Run() // its last line tells the client
}

// admit checks who asks for what. The refusal is empty if they may.
func (g *GitHub) admit(r *http.Request, push bool) (found *repo, status int, refusal string) {
	defer g.lock()()
	user, password, _ := r.BasicAuth()
	t := g.tokens[password]
	if t == nil || !g.counts(t) {
		return nil, http.StatusUnauthorized, "Invalid username or token. Password authentication is not supported for Git operations."
	}
	if user != "x-access-token" {
		g.problems = append(g.problems, fmt.Sprintf("%s %s: the user is %q, not x-access-token", r.Method, r.URL.Path, user))
	}
	parts := gitPath.FindStringSubmatch(r.URL.Path)
	if found = g.repos[strings.ToLower(parts[1]+"/"+parts[2])]; found == nil {
		g.problems = append(g.problems, fmt.Sprintf("%s %s: no such repository", r.Method, r.URL.Path))
	}
	switch {
	case found == nil || g.unreachable(t, found, push) != nil:
		return nil, http.StatusNotFound, "Repository not found."
	case push && (!t.may("contents=write") || t.classic() && !t.writes()):
		return nil, http.StatusForbidden, fmt.Sprintf("Permission to %s.git denied to %s.", found, t.Login)
	}
	return found, http.StatusOK, ""
}

// isPush reports whether a request of git is part of a push.
func isPush(r *http.Request, service string) bool {
	return service == "git-receive-pack" || r.URL.Query().Get("service") == "git-receive-pack"
}

// initBare makes what git init --bare makes, without a process.
func initBare(dir, branch string) error {
	for _, sub := range []string{"refs/heads", "refs/tags", "objects/info", "objects/pack", "hooks"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "HEAD"), []byte("ref: refs/heads/"+branch+"\n"), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "config"), []byte(bareConfig), 0o644)
}

// bareConfig has no background gc, which would outlive the test that the directory belongs to.
const bareConfig = `[core]
	repositoryformatversion = 0
	filemode = true
	bare = true
[http]
	receivepack = true
[uploadpack]
	allowAnySHA1InWant = true
	allowFilter = true
[gc]
	auto = 0
[receive]
	autogc = false
`

// runGit is what git prints, without the white space around it.
func runGit(dir, stdin string, args ...string) (string, error) {
	out, err := runGitRaw(dir, stdin, args...)
	return strings.TrimSpace(out), err
}

func runGitRaw(dir, stdin string, args ...string) (string, error) {
	count.Add()
	cmd := exec.Command("git", args...)
	var problems strings.Builder
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stderr = dir, gitEnv(), strings.NewReader(stdin), &problems
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(problems.String()))
	}
	return string(out), nil
}

// read asks a repository something; empty when git says no.
func (g *GitHub) read(r *repo, args ...string) string {
	out, _ := runGit(r.gitDir, "", args...)
	return out
}

// CommitFiles adds one commit to a branch of a repository without a clone, and returns its id. The branch is made when
// it does not exist: from the default branch, or from nothing when that does not exist either. A file is executable when
// its name begins with "+", which is not part of the name.
func (g *GitHub) CommitFiles(owner, name, branch, message string, files map[string]string) (string, error) {
	defer g.lock()()
	var changes strings.Builder
	for _, path := range slices.Sorted(maps.Keys(files)) {
		mode, file := "100644", path
		if rest, executable := strings.CutPrefix(path, "+"); executable {
			mode, file = "100755", rest
		}
		changes.WriteString(fileChange(mode, file, files[path]))
	}
	r := g.mustRepo(owner, name)
	return g.commit(r, branch, fmt.Sprintf("%s <%s@example.com>", owner, owner), message, changes.String())
}

// fileChange is a file in a commit, in the language of git fast-import.
func fileChange(mode, path, content string) string {
	return fmt.Sprintf("M %s inline %s\ndata %d\n%s\n", mode, path, len(content), content)
}

// commit adds a commit to a branch, with changes in the language of git fast-import. Callers hold the lock.
func (g *GitHub) commit(r *repo, branch, by, message, changes string) (sha string, err error) {
	in := fmt.Sprintf("commit refs/heads/%s\ncommitter %s %d +0000\ndata %d\n%s\n", branch, by, g.now().Unix(), len(message),
		message)
	if from := cmp.Or(g.branchSHA(r, branch), g.branchSHA(r, r.defaultBranch)); from != "" {
		in += "from " + from + "\n"
	}
	if _, err := runGit(r.gitDir, in+changes, "fast-import", "--quiet"); err != nil {
		return "", fmt.Errorf("committing to %s: %w", r, err)
	}
	return g.branchSHA(r, branch), nil
}

// identity is an account as the author of a commit that GitHub makes.
func (g *GitHub) identity(login string) string {
	u := g.user(login)
	return fmt.Sprintf("%s <%d+%s@users.noreply.github.com>", u.login, u.id, u.login)
}

// BranchSHA is the commit that a branch points to, empty when there is no such branch.
func (g *GitHub) BranchSHA(owner, name, branch string) string {
	defer g.lock()()
	return g.branchSHA(g.mustRepo(owner, name), branch)
}

// refs reads the references of a bare repository without a process.
func (r *repo) refs() map[string]string {
	all := map[string]string{}
	if packed, err := os.ReadFile(filepath.Join(r.gitDir, "packed-refs")); err == nil {
		for line := range strings.Lines(string(packed)) {
			if sha, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && isSHA(sha) {
				all[name] = sha
			}
		}
	}
	_ = filepath.WalkDir(filepath.Join(r.gitDir, "refs"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil // a reference that is deleted meanwhile takes its directory with it
		}
		text, err := os.ReadFile(path)
		if sha := strings.TrimSpace(string(text)); err == nil && isSHA(sha) && !strings.HasSuffix(path, ".lock") {
			name, _ := filepath.Rel(r.gitDir, path) // it is below
			all[filepath.ToSlash(name)] = sha
		}
		return nil
	})
	return all
}

// ref is what a full reference points to, empty if it does not exist.
func (r *repo) ref(name string) string { return r.refs()[name] }

// packet is a line of git's protocol, of which flush ends a list.
func packet(line string) string { return fmt.Sprintf("%04x%s", len(line)+4, line) }

const flush = "0000"

// advertise answers a client's first request: what the service can do and, for a push, the references.
func (g *GitHub) advertise(w http.ResponseWriter, r *http.Request, found *repo) {
	service := strings.TrimPrefix(r.URL.Query().Get("service"), "git-")
	if service != "receive-pack" && (service != "upload-pack" || !strings.Contains(r.Header.Get("Git-Protocol"), "version=2")) {
		g.problem("%s %s: only version 2 of git's protocol is known here", r.Method, r.URL.Path)
		http.Error(w, "Please upgrade your git client.", http.StatusForbidden)
		return
	}
	w.Header().Set("Content-Type", "application/x-git-"+service+"-advertisement")
	if service == "upload-pack" {
		_, _ = w.Write(abilities(found, service))
		return
	}
	refs := found.refs()
	names := slices.Sorted(maps.Keys(refs))
	if len(names) == 0 {
		names, refs = []string{"capabilities^{}"}, map[string]string{"capabilities^{}": strings.Repeat("0", 40)}
	}
	answer := packet("# service=git-receive-pack\n") + flush
	for i, name := range names {
		if i == 0 {
			answer += packet(refs[name] + " " + name + "\x00" + string(abilities(found, service)) + "\n")
			continue
		}
		answer += packet(refs[name] + " " + name + "\n")
	}
	_, _ = w.Write([]byte(answer + flush))
}

var able sync.Map

// abilities is what this machine's git can do as a service, which is the same for every repository here: its whole
// answer in version 2 of the protocol or, for a push, the list behind the first reference.
func abilities(of *repo, service string) []byte {
	if known, ok := able.Load(service); ok {
		return known.([]byte)
	}
	count.Add()
	cmd := exec.Command("git", service, "--http-backend-info-refs", of.gitDir)
	cmd.Env = append(gitEnv(), "GIT_PROTOCOL=version=2")
	answer, _ := cmd.Output() // a client that gets nothing says so
	if service == "receive-pack" {
		_, answer, _ = bytes.Cut(answer, []byte{0})
		answer, _, _ = bytes.Cut(answer, []byte("\n"))
	}
	if len(answer) > 0 {
		able.Store(service, answer)
	}
	return answer
}

var refPrefix = regexp.MustCompile(`ref-prefix (\S+)\n`)

// lsRefs answers the command ls-refs of version 2. It returns false for what only git can: references of tags, which
// can be objects of their own.
func (r *repo) lsRefs(request []byte) (string, bool) {
	asks := func(line string) bool { return bytes.Contains(request, []byte(line+"\n")) }
	if !asks("command=ls-refs") {
		return "", false
	}
	prefixes := refPrefix.FindAllSubmatch(request, -1)
	wants := func(name string) bool {
		return prefixes == nil || slices.ContainsFunc(prefixes, func(p [][]byte) bool { return strings.HasPrefix(name, string(p[1])) })
	}
	refs, answer := r.refs(), ""
	head, err := os.ReadFile(filepath.Join(r.gitDir, "HEAD"))
	target, ok := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: ")
	if err != nil || !ok {
		return "", false
	}
	if wants("HEAD") {
		line, symbolic := refs[target]+" HEAD", ""
		if asks("symrefs") {
			symbolic = " symref-target:" + target
		}
		if refs[target] == "" {
			line = "unborn HEAD"
		}
		if refs[target] != "" || asks("unborn") {
			answer += packet(line + symbolic + "\n")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		if !wants(name) {
			continue
		}
		if strings.HasPrefix(name, "refs/tags/") && asks("peel") {
			return "", false
		}
		answer += packet(refs[name] + " " + name + "\n")
	}
	return answer + flush, true
}

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
	if is.pull.HeadRepo == "" {
		if sha := g.branchSHA(r, is.pull.Head); sha != "" {
			is.pull.headSHA = sha
		}
	}
	if is.pull.headSHA == "" { // a fork, or seeded without git: a commit that nothing has
		is.pull.headSHA = strings.Repeat("f", 40)
	}
	return is.pull.headSHA
}

func (g *GitHub) createRef(r *request) answer {
	var in struct{ Ref, SHA, Key string }
	r.decode(&in)
	if r.repo.ref(in.Ref) != "" {
		return unprocessable("Reference already exists")
	}
	if _, err := runGit(r.repo.gitDir, "", "update-ref", in.Ref, in.SHA, ""); err != nil {
		return unprocessable("Reference update failed: " + err.Error())
	}
	return g.refAnswer(r.repo, in.Ref, http.StatusCreated)
}

func (g *GitHub) refAnswer(r *repo, ref string, status int) answer {
	sha := r.ref(ref)
	return answer{status: status, body: object{"ref": ref, "object": object{"type": g.read(r, "cat-file", "-t", sha), "sha": sha}}}
}

var shaPattern = regexp.MustCompile(`^[0-9a-f]{40}$`)

func isSHA(s string) bool { return shaPattern.MatchString(s) }

func (g *GitHub) hasCommit(r *repo, sha string) bool {
	return g.read(r, "rev-parse", "--verify", "--quiet", sha+"^{commit}") != ""
}
