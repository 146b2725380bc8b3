package fake

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

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
	found, service := g.admit(w, r)
	if found == nil {
		return
	}
	w.Header().Set("Cache-Control", "no-cache")
	if service == "info/refs" {
		g.advertise(w, r, found)
		return
	}
	w.Header().Set("Content-Type", "application/x-"+service+"-result")
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		unzipped, err := gzip.NewReader(body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = unzipped
	}
	if service == "git-upload-pack" && protocol2(r) {
		request, err := io.ReadAll(body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if list, ok := found.lsRefs(request); ok {
			_, _ = io.WriteString(w, list)
			return
		}
		body = bytes.NewReader(request)
	}
	count.Add()
	cmd := exec.Command("git", strings.TrimPrefix(service, "git-"), "--stateless-rpc", found.gitDir)
	cmd.Env = append(gitEnv(), "GIT_PROTOCOL="+r.Header.Get("Git-Protocol"))
	cmd.Stdin, cmd.Stdout = body, w
	_ = cmd.Run() // its last line tells the client
}

// admit checks who asks for what; found is nil if they were refused.
func (g *GitHub) admit(w http.ResponseWriter, r *http.Request) (found *repo, service string) {
	user, password, _ := r.BasicAuth()
	g.mu.Lock()
	t := g.tokens[password]
	if t != nil && !g.counts(t) {
		t = nil
	}
	if t != nil && user != "x-access-token" {
		g.problems = append(g.problems, fmt.Sprintf("%s %s: the user is %q, not x-access-token", r.Method, r.URL.Path, user))
	}
	parts := gitPath.FindStringSubmatch(r.URL.Path)
	service = parts[3]
	found = g.repos[strings.ToLower(parts[1]+"/"+parts[2])]
	hidden := t != nil && found != nil && g.unreachable(t, found, isPush(r, service)) != nil
	g.mu.Unlock()
	if t == nil {
		w.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
		http.Error(w, "Invalid username or token. Password authentication is not supported for Git operations.",
			http.StatusUnauthorized)
		return nil, ""
	}
	if found == nil {
		g.problem("%s %s: no such repository", r.Method, r.URL.Path)
		http.Error(w, "Repository not found.", http.StatusNotFound)
		return nil, ""
	}
	if hidden {
		http.Error(w, "Repository not found.", http.StatusNotFound)
		return nil, ""
	}
	if refusal := t.mayPush(found); refusal != "" && isPush(r, service) {
		http.Error(w, refusal, http.StatusForbidden)
		return nil, ""
	}
	return found, service
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
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, gitEnv(), strings.NewReader(stdin)
	return output(cmd)
}

// runGitEnv is runGit with one more variable in the environment.
func runGitEnv(dir, variable string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, append(gitEnv(), variable)
	out, err := output(cmd)
	return strings.TrimSpace(out), err
}

func output(cmd *exec.Cmd) (string, error) {
	count.Add()
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", cmd.Args[1], err, strings.TrimSpace(problems.String()))
	}
	return string(out), nil
}

// read asks a repository something; empty when git says no.
func (g *GitHub) read(r *repo, args ...string) string {
	out, err := runGit(r.gitDir, "", args...)
	if err != nil {
		return ""
	}
	return out
}

// CommitFiles adds one commit to a branch of a repository without a clone, and returns its id. The branch is made when
// it does not exist: from the default branch, or from nothing when that does not exist either. A file is executable when
// its name begins with "+", which is not part of the name.
func (g *GitHub) CommitFiles(owner, name, branch, message string, files map[string]string) (string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.mustRepo(owner, name)
	var in strings.Builder
	at := g.now().Unix()
	fmt.Fprintf(&in, "commit refs/heads/%s\ncommitter %s <%s@example.com> %d +0000\ndata %d\n%s\n", branch, owner, owner,
		at, len(message), message)
	for _, from := range []string{branch, r.defaultBranch} {
		if sha := g.branchSHA(r, from); sha != "" {
			fmt.Fprintf(&in, "from %s\n", sha)
			break
		}
	}
	paths := make([]string, 0, len(files))
	for path := range files {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	for _, path := range paths {
		mode, file := "100644", path
		if rest, executable := strings.CutPrefix(path, "+"); executable {
			mode, file = "100755", rest
		}
		fmt.Fprintf(&in, "M %s inline %s\ndata %d\n%s\n", mode, file, len(files[path]), files[path])
	}
	if _, err := runGit(r.gitDir, in.String(), "fast-import", "--quiet"); err != nil {
		return "", fmt.Errorf("committing to %s: %w", r, err)
	}
	return g.branchSHA(r, branch), nil
}

// BranchSHA is the commit that a branch points to, empty when there is no such branch.
func (g *GitHub) BranchSHA(owner, name, branch string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.branchSHA(g.mustRepo(owner, name), branch)
}
