//go:build e2e

package e2e_test

import (
	"bufio"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/fake/address"
)

// TestRunnerWorkflow has a runner play examples/app/runner/runner.yml for a server: a label in one repository becomes a
// dispatch in another, whose job connects to the server and makes the pull request. Act doesn't enforce permissions.
func TestRunnerWorkflow(t *testing.T) {
	t.Parallel()
	program := tool(t, "RALPH_E2E_ACT")
	s := newScene(t)
	s.takesTurns(t)
	ralph, dir := compiledRalph(t), callable(t)
	setDefault(t, dir, "ralph_path", ralph)
	at, err := address.Free()
	noError(t, err)
	workflow := strings.NewReplacer("https://ralph.example.com", "http://"+at, "install_agent: 'true'", "install_agent: 'false'",
		"sudo ", "").Replace(document(t, "examples/app/runner/runner.yml"))
	noError(t, s.hub.AddRepo("alice", "runner", "main"))
	s.hub.SetPrivate("alice", "runner", true)
	s.commit(t, "runner", "the workflow", map[string]string{".github/workflows/runner.yml": workflow})
	dispatched := make(chan fake.Dispatched, 1)
	s.hub.OnDispatch(func(_, _ string, d fake.Dispatched) { dispatched <- d })
	s.startServer(t, ralph, at)
	issue := s.hub.AddIssue("alice", "demo", fake.Issue{Title: "Say hello", Body: "A file hello.txt that says hello."})
	s.hub.Label("alice", "demo", issue, "ralph", "alice")
	var request string
	select {
	case d := <-dispatched:
		request = d.Inputs["request"]
	case <-time.After(2 * time.Minute):
		t.Fatalf("the server starts no job\n%s", s.read(t, "log"))
	}
	s.write(t, "event.json", fmt.Sprintf(`{"inputs": {"request": %q}}`, request))
	r := newRunner(t, program, dir)
	r.args = append(r.args, onThisMachine...)
	r.env = append(s.hub.JobEnviron(fake.RunnerJob{Owner: "alice", Name: "runner", Workflow: "runner.yml", Run: 4711}),
		"GITHUB_REPOSITORY=alice/runner")
	j := r.do(t, s, "workflow_dispatch", workflow)
	pulls := s.hub.Pulls("alice", "demo")
	if j.code != 0 || len(pulls) != 1 || pulls[0].Draft {
		t.Fatalf("exit code %d, %+v\n%s\n%s", j.code, pulls, j.log(), s.read(t, "log"))
	}
	if log := j.log(); strings.Contains(log, "alice/demo") || strings.Contains(log, "hello.txt") {
		t.Errorf("the log names what the job is for:\n%s", log)
	}
	s.understood(t)
}

// startServer starts a server with the App of the scene, and waits until it is ready.
func (s scene) startServer(t *testing.T, ralph, at string) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	noError(t, err)
	private := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	s.hub.AddApp(fake.App{ID: 7, Slug: "ralph", Owner: "alice", InstallationID: 70, Key: &key.PublicKey,
		Hook: fake.Hook{URL: "http://" + at + "/webhook", Secret: "made-up-secret"}, Events: []string{"issues"}})
	s.write(t, "allow.json", `{"*": {"agents": ["`+filepath.Join(s.dir, "agent")+`"]}}`)
	server := exec.Command(ralph, "serve", "--listen", at, "--data", filepath.Join(s.dir, "data"), "--runner", "alice/runner",
		"--allow", filepath.Join(s.dir, "allow.json"), "--log-text")
	server.Env = append(s.github(), "HOME="+s.dir, "PATH="+os.Getenv("PATH"), "RALPH_APP_ID=7",
		"RALPH_APP_PRIVATE_KEY="+string(private), "RALPH_WEBHOOK_SECRET=made-up-secret")
	out, err := server.StdoutPipe()
	noError(t, err)
	log, err := os.Create(filepath.Join(s.dir, "log"))
	noError(t, err)
	server.Stderr = log
	noError(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.HasPrefix(line, "ralph serves") {
		t.Fatalf("it said %q, %v\n%s", line, err, s.read(t, "log"))
	}
}

func (s scene) read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, name))
	noError(t, err)
	return string(text)
}
