//go:build e2e

package e2e_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/fake/address"
)

// containerAgent is an agent that waits for as long as the repository says, and writes down what it could see of ralph.
const containerAgent = `#!/bin/sh
cat >/dev/null
sleep "$(cat wait.txt)"
{ id -u; ls /ralph/job 2>&1; cat /proc/[0-9]*/environ /proc/1/mem 2>/dev/null | tr '\0' '\n' | grep ghs_; env | grep -i token; touch /ralph/bin/x /etc/x 2>&1; } > seen.txt
echo x > new.txt
echo '<response>DONE</response>'
`

// served is ralph serve with an App of a stand-in for GitHub, whose only repository asks for containers.
type served struct {
	*testing.T
	e       engine
	hub     *fake.GitHub
	url     string
	dir     string
	environ []string
	process *exec.Cmd
}

// TestContainers: a label becomes a pull request in a container. A server that is killed in the middle of a turn leaves
// one that ends by itself or is removed by the next server, which comes to the same pull request. The engine of the tests
// has no bridge, so that containers share this machine's network.
func TestContainers(t *testing.T) {
	s := newServed(t, startEngine(t))
	s.image("ralph-e2e-job:test", "git", "sh", "make", "cat", "sleep", "ls", "tr", "grep", "id", "env", "touch", "test", "head", "true")
	s.commit("0")
	s.start()
	s.label("Add new.txt")
	s.until("a pull request that is ready", func() bool { return s.done(1) })
	seen := s.git("show", s.hub.Pulls("alice", "demo")[0].Head+":seen.txt")
	if uid := strings.Fields(seen)[0]; uid != "65534" || strings.Contains(seen, "ghs_") ||
		strings.Count(seen, "ermission denied")+strings.Count(seen, "ead-only file system") < 3 {
		t.Errorf("the agent saw\n%s", seen)
	}
	s.until("no container", func() bool { return s.containers() == "" })

	s.commit("600")
	s.label("Add it again")
	s.until("a turn in a container", func() bool { return s.turns() })
	s.kill()
	s.commit("0")
	s.start()
	s.until("a second pull request", func() bool { return s.done(2) })
	s.until("no container", func() bool { return s.containers() == "" })

	s.commit("600")
	s.label("And again")
	s.until("a turn in a container", func() bool { return s.turns() })
	s.kill()
	s.until("the container ends without its server", func() bool { return s.containers() == "" })

	s.settings(`{"dispatch": "container", "image": "ralph-e2e-none:test"}`)
	s.start()
	issue := s.label("Without an image")
	s.until("an answer", func() bool { return len(s.hub.Comments("alice", "demo", issue)) > 0 })
	if got := s.hub.Comments("alice", "demo", issue)[0].Body; !strings.Contains(got, "ralph-e2e-none:test is not on this server") {
		t.Errorf("the issue is told %s", got)
	}
}

func newServed(t *testing.T, e engine) *served {
	t.Helper()
	hub, err := fake.New(fake.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(hub.Close)
	if err := hub.AddRepo("alice", "demo", "main"); err != nil {
		t.Fatal(err)
	}
	at, err := address.Free()
	if err != nil {
		t.Fatal(err)
	}
	s := &served{T: t, e: e, hub: hub, url: "http://" + at, dir: openDir(t)}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	private := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	hub.AddApp(fake.App{ID: 7, Slug: "ralph", Owner: "alice", InstallationID: 70, Key: &key.PublicKey,
		Hook:   fake.Hook{URL: s.url + "/webhook", Secret: "made-up-secret"},
		Events: []string{"issues", "issue_comment", "pull_request"}})
	s.environ = append(e.env, "HOME="+s.dir, "RALPH_APP_ID=7",
		"RALPH_APP_PRIVATE_KEY="+strings.ReplaceAll(string(private), "\n", `\n`), "RALPH_WEBHOOK_SECRET=made-up-secret",
		"GITHUB_API_URL="+hub.APIURL(), "GITHUB_SERVER_URL="+hub.URL(), "GITHUB_GRAPHQL_URL="+hub.GraphQLURL())
	return s
}

// image makes an image of programs of this machine, with the libraries that they name, and an agent.
func (s *served) image(name string, programs ...string) {
	s.Helper()
	paths := []string{"/usr/lib/git-core", "/usr/share/git-core/templates"}
	for _, program := range programs {
		path, err := exec.LookPath(program)
		if err != nil {
			s.Fatal(err)
		}
		paths = append(paths, path)
	}
	for _, path := range append(paths, "/usr/lib/git-core/git-remote-http") {
		out, _ := exec.Command("ldd", path).Output() // fails for what is no program
		for _, library := range regexp.MustCompile(`/\S+`).FindAllString(string(out), -1) {
			paths = append(paths, strings.TrimSuffix(library, ":"))
		}
	}
	paths = merged(paths)
	agent := filepath.Join(s.dir, "usr", "bin", "agent")
	if err := os.MkdirAll(filepath.Dir(agent), 0o755); err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(agent, []byte(containerAgent), 0o755); err != nil {
		s.Fatal(err)
	}
	archive := filepath.Join(s.dir, "image.tar")
	args := []string{"--create", "--file", archive, "--directory", s.dir, "usr/bin/agent", "--directory", "/"}
	for _, path := range paths {
		args = append(args, strings.TrimPrefix(path, "/"))
	}
	run(s.T, exec.Command("tar", args...), 0)
	links := filepath.Join(s.dir, "links")
	if err := os.MkdirAll(filepath.Join(links, "tmp"), 0o755); err != nil {
		s.Fatal(err)
	}
	for _, dir := range []string{"bin", "lib", "lib64"} {
		if err := os.Symlink("usr/"+dir, filepath.Join(links, dir)); err != nil {
			s.Fatal(err)
		}
	}
	run(s.T, exec.Command("tar", "--append", "--file", archive, "--directory", links, "bin", "lib", "lib64", "tmp"), 0)
	run(s.T, s.e.docker(s.T, "import", "--change", "ENV PATH=/usr/bin", archive, name), 0)
}

// merged are files with those that they are links to, each once, below /usr alone.
func merged(paths []string) (all []string) {
	for _, path := range paths {
		if !strings.HasPrefix(path, "/usr/") {
			path = "/usr" + path
		}
		all = append(all, path)
		if real, err := filepath.EvalSymlinks(path); err == nil {
			all = append(all, real)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// commit has the agent of later turns wait for so many seconds.
func (s *served) commit(wait string) {
	s.Helper()
	s.files(map[string]string{"wait.txt": wait + "\n", "Makefile": "test:\n\ttest -e new.txt\n",
		".ralph/settings.json": `{"dispatch": "container", "image": "ralph-e2e-job:test", "agent": {"command": "agent"}, ` +
			`"guardrails": [{"command": "make test"}], "review": false}`})
}

func (s *served) settings(text string) {
	s.Helper()
	s.files(map[string]string{".ralph/settings.json": text})
}

func (s *served) files(files map[string]string) {
	s.Helper()
	if _, err := s.hub.CommitFiles("alice", "demo", "main", "change", files); err != nil {
		s.Fatal(err)
	}
}

func (s *served) start() {
	s.Helper()
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		s.Fatal(err)
	}
	defer log.Close()
	s.process = exec.Command(compiledRalph(s.T), "serve", "--listen", strings.TrimPrefix(s.url, "http://"), "--data",
		filepath.Join(s.dir, "data"), "--container-network", "host", "--log-text")
	s.process.Env, s.process.Stdout, s.process.Stderr = s.environ, log, log
	if err := s.process.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(s.kill)
	s.until("it serves", func() bool {
		resp, err := http.Get(s.url + "/healthz")
		if err != nil {
			return false
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		return resp.Body.Close() == nil
	})
}

func (s *served) kill() {
	_ = s.process.Process.Signal(syscall.SIGKILL)
	_ = s.process.Wait()
}

func (s *served) label(title string) int {
	issue := s.hub.AddIssue("alice", "demo", fake.Issue{Title: title, Body: "It is missing.", Author: "alice"})
	s.hub.Label("alice", "demo", issue, "ralph", "alice")
	return issue
}

// done reports whether so many pull requests are ready.
func (s *served) done(want int) bool {
	ready := 0
	for _, p := range s.hub.Pulls("alice", "demo") {
		if !p.Draft {
			ready++
		}
	}
	return ready == want && len(s.hub.Pulls("alice", "demo")) == want
}

func (s *served) containers() string {
	out, err := s.e.docker(s.T, "ps", "--all", "--quiet", "--filter", "label=ralph.server").Output()
	if err != nil {
		s.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// turns reports whether the agent works.
func (s *served) turns() bool {
	for _, id := range strings.Fields(s.containers()) {
		out, _ := s.e.docker(s.T, "top", id, "-eo", "pid,args").Output()
		if strings.Contains(string(out), "sleep 600") {
			return true
		}
	}
	return false
}

func (s *served) git(args ...string) string {
	s.Helper()
	out, err := exec.Command("git", append([]string{"--git-dir", s.hub.GitDir("alice", "demo")}, args...)...).Output()
	if err != nil {
		s.Fatal(err)
	}
	return string(out)
}

func (s *served) until(what string, is func() bool) {
	s.Helper()
	for begun := time.Now(); !is(); time.Sleep(200 * time.Millisecond) {
		if time.Since(begun) > 4*time.Minute {
			log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			s.Fatalf("%s: not within 4 minutes\n%s", what, log)
		}
	}
}
