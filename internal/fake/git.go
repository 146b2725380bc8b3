package fake

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

var gitPath = regexp.MustCompile(`^/([^/]+)/([^/]+)\.git/(info/refs|git-upload-pack|git-receive-pack)$`)

func isGit(r *http.Request) bool { return gitPath.MatchString(r.URL.Path) }

// gitEnv is the environment of every git process here: nobody's configuration, and repositories of any owner, so that a
// directory that another user made works too.
func gitEnv() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "LC_ALL=C",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
	}
}

// git serves clone, fetch and push through git http-backend.
func (g *GitHub) git(w http.ResponseWriter, r *http.Request) {
	t, found, service := g.admit(w, r)
	if t == nil {
		return
	}
	if r.ContentLength < 0 { // package cgi refuses a body of unknown length, which git sends from 1 MiB on
		spooled, err := spool(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		defer func() {
			_ = spooled.Close()
			_ = os.Remove(spooled.Name()) // in the temporary directory
		}()
		info, err := spooled.Stat()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		r = r.Clone(r.Context())
		r.Body, r.ContentLength, r.TransferEncoding = spooled, info.Size(), nil
	}
	exe, err := exec.LookPath("git")
	if err != nil {
		g.problem("git: %v", err)
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	env := append(gitEnv(), "GIT_PROJECT_ROOT="+g.dir, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER="+t.login)
	if v := r.Header.Get("Git-Protocol"); v != "" {
		env = append(env, "GIT_PROTOCOL="+v)
	}
	// GitHub does not care for upper and lower case
	r.URL.Path = fmt.Sprintf("/%s/%s.git/%s", found.owner, found.name, service)
	backend := cgi.Handler{Path: exe, Args: []string{"http-backend"}, Root: "/", Dir: g.dir, Env: env, Stderr: io.Discard}
	backend.ServeHTTP(w, r)
}

// admit judges who asks for what; t is nil when they were refused.
func (g *GitHub) admit(w http.ResponseWriter, r *http.Request) (t *token, found *repo, service string) {
	user, password, _ := r.BasicAuth()
	g.mu.Lock()
	t = g.tokens[password]
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
		return nil, nil, ""
	}
	if found == nil {
		g.problem("%s %s: no such repository", r.Method, r.URL.Path)
		http.Error(w, "Repository not found.", http.StatusNotFound)
		return nil, nil, ""
	}
	if hidden {
		http.Error(w, "Repository not found.", http.StatusNotFound)
		return nil, nil, ""
	}
	if refusal := t.mayPush(found); refusal != "" && isPush(r, service) {
		http.Error(w, refusal, http.StatusForbidden)
		return nil, nil, ""
	}
	return t, found, service
}

// isPush reports whether a request of git is part of a push.
func isPush(r *http.Request, service string) bool {
	return service == "git-receive-pack" || r.URL.Query().Get("service") == "git-receive-pack"
}

// spool keeps a body in a temporary file, at its beginning.
func spool(body io.Reader) (*os.File, error) {
	f, err := os.CreateTemp("", "fake-github-body-")
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(f, body)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		_ = f.Close()
		_ = os.Remove(f.Name())
		return nil, err
	}
	return f, nil
}

func initBare(dir, branch string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--bare", "--initial-branch=" + branch},
		{"config", "http.receivepack", "true"},
		{"config", "uploadpack.allowAnySHA1InWant", "true"},
		{"config", "uploadpack.allowFilter", "true"},
		{"config", "gc.auto", "0"}, // a background gc would outlive the test that the directory belongs to
		{"config", "receive.autogc", "false"},
	} {
		if _, err := runGit(dir, "", args...); err != nil {
			return err
		}
	}
	return nil
}

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
// it is not there: from the default branch, or from nothing when that is not there either. A file is executable when
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
