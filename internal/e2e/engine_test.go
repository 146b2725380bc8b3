//go:build e2e

package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"
)

// engine is a container engine and how docker reaches it.
type engine struct {
	client string // the docker command
	env    []string
}

// startEngine takes the engine that runs, else starts one of its own. The test is left out only where neither can be
// had.
func startEngine(t *testing.T) engine {
	t.Helper()
	e := client(t, os.Environ())
	if exec.Command(e.client, "info", "--format", "{{.ServerErrors}}{{.ServerVersion}}").Run() == nil {
		return e
	}
	return ownEngine(t)
}

// ownEngine starts an engine that has no image yet, with neither bridge nor firewall rules: containers share the host's
// network.
func ownEngine(t *testing.T) engine {
	t.Helper()
	daemon, err := exec.LookPath("dockerd")
	if err != nil || os.Geteuid() != 0 {
		t.Skipf("left out: no container engine runs, and none can be started: root %v, dockerd %q", os.Geteuid() == 0, daemon)
	}
	dir, err := os.MkdirTemp("", "ralph-engine-") // short, since a socket's path must be
	noError(t, err)
	socket := "unix://" + filepath.Join(dir, "docker.sock")
	log, err := os.Create(filepath.Join(dir, "log"))
	noError(t, err)
	cmd := exec.Command(daemon, "--bridge=none", "--iptables=false", "--host="+socket,
		"--pidfile="+filepath.Join(dir, "pid"),
		"--data-root="+filepath.Join(dir, "data"), "--exec-root="+filepath.Join(dir, "exec"))
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Skipf("left out: %s cannot be started: %v", daemon, err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		_ = log.Close()
		_ = exec.Command("umount", "-l", filepath.Join(dir, "exec", "netns", "default")).Run() // the engine leaves it mounted
		_ = os.RemoveAll(dir)
	})
	e := client(t, append(os.Environ(), "DOCKER_HOST="+socket))
	for range 60 {
		if e.docker(t, "info").Run() == nil {
			return e
		}
		time.Sleep(250 * time.Millisecond)
	}
	text, _ := os.ReadFile(log.Name())
	t.Skipf("left out: %s does not come up here:\n%s", daemon, text)
	return e
}

// client is the docker command with an environment.
func client(t *testing.T, env []string) engine {
	t.Helper()
	path, err := exec.LookPath("docker")
	if err != nil {
		t.Skip("left out: there is no docker on this machine (Debian: apt-get install docker.io)")
	}
	return engine{path, env}
}

// docker is a docker command that ends with the test at the latest.
func (e engine) docker(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), e.client, args...)
	cmd.Env = e.env
	return cmd
}

// need makes sure that the engine has the base images that arguments of the Dockerfile name, and returns the last one.
func (e engine) need(t *testing.T, arguments ...string) (image string) {
	t.Helper()
	for _, argument := range arguments {
		named := regexp.MustCompile(`(?m)^ARG ` + argument + `=(\S+)`).FindStringSubmatch(document(t, "Dockerfile"))
		if named == nil {
			t.Fatalf("the Dockerfile has no argument %s", argument)
		}
		image = named[1]
		if e.docker(t, "image", "inspect", image).Run() == nil {
			continue
		}
		if out, err := e.docker(t, "pull", "--quiet", image).CombinedOutput(); err != nil {
			t.Skipf("left out: %s is not here and cannot be pulled: %v\n%s", image, err, out)
		}
	}
	return image
}
