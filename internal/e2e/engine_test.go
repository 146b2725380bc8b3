//go:build e2e

package e2e_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// engine is a container engine and how docker reaches it.
type engine struct {
	env []string
}

// startEngine takes the engine that runs, else starts one of its own, with neither bridge nor firewall rules:
// containers share the host's network. The test is left out only where neither can be had.
func startEngine(t *testing.T) engine {
	t.Helper()
	if _, err := exec.LookPath("docker"); err != nil {
		t.Skip("left out: there is no docker on this machine (Debian: apt-get install docker.io)")
	}
	if err := exec.Command("docker", "info", "--format", "{{.ServerErrors}}{{.ServerVersion}}").Run(); err == nil {
		return engine{env: builder(os.Environ())}
	}
	daemon, err := exec.LookPath("dockerd")
	if err != nil || os.Geteuid() != 0 {
		t.Skipf("left out: no container engine runs, and none can be started: root %v, dockerd %q", os.Geteuid() == 0, daemon)
	}
	dir, err := os.MkdirTemp("", "ralph-engine-") // short, since a socket's path must be
	if err != nil {
		t.Fatal(err)
	}
	socket := "unix://" + filepath.Join(dir, "docker.sock")
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
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
	e := engine{env: builder(append(os.Environ(), "DOCKER_HOST="+socket))}
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

// builder chooses the old builder where buildx, which the new one needs, is not installed.
func builder(env []string) []string {
	cmd := exec.Command("docker", "buildx", "version")
	cmd.Env = env
	if cmd.Run() != nil {
		env = append(env, "DOCKER_BUILDKIT=0")
	}
	return env
}

// docker is a docker command that ends with the test at the latest.
func (e engine) docker(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "docker", args...)
	cmd.Env = e.env
	return cmd
}

// need makes sure that the engine has a base image: its own, a registry's, or a stand-in.
func (e engine) need(t *testing.T, images []string) {
	t.Helper()
	standIn := ""
	for _, image := range images {
		if e.docker(t, "image", "inspect", image).Run() == nil || e.pull(t, image) {
			continue
		}
		if standIn == "" {
			standIn = e.standIn(t)
		}
		t.Logf("%s cannot be pulled here; a local Debian with Go stands in for it", image)
		run(t, e.docker(t, "tag", standIn, image), 0)
	}
}

func (e engine) pull(t *testing.T, image string) bool {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "docker", "pull", "--quiet", image)
	cmd.Env = e.env
	return cmd.Run() == nil
}
