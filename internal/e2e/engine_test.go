//go:build e2e

package e2e_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
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

// client finds a docker command whose builder makes only the stages that a target needs: one with buildx, or one from
// before version 23, which brings that builder along. Without either, the old builder makes every stage before it.
func client(t *testing.T, env []string) engine {
	t.Helper()
	var found []string
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if path, err := exec.LookPath(filepath.Join(dir, "docker")); err == nil {
			found = append(found, path)
		}
	}
	if len(found) == 0 {
		t.Skip("left out: there is no docker on this machine (Debian: apt-get install docker.io)")
	}
	for _, path := range found {
		said, _ := exec.Command(path, "--version").Output()
		version, _ := strconv.Atoi(regexp.MustCompile(`version (\d+)`).ReplaceAllString(
			regexp.MustCompile(`version \d+`).FindString(string(said)), "$1"))
		if exec.Command(path, "buildx", "version").Run() == nil || version > 0 && version < 23 {
			return engine{path, append(env, "DOCKER_BUILDKIT=1")}
		}
	}
	return engine{found[0], append(env, "DOCKER_BUILDKIT=0")}
}

// docker is a docker command that ends with the test at the latest.
func (e engine) docker(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), e.client, args...)
	cmd.Env = e.env
	return cmd
}

// need makes sure that the engine has the base images that arguments of the Dockerfile name: its own, a registry's, or
// stand-ins.
func (e engine) need(t *testing.T, arguments ...string) {
	t.Helper()
	file, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	for _, argument := range arguments {
		named := regexp.MustCompile(`(?m)^ARG ` + argument + `=(\S+)`).FindSubmatch(file)
		if named == nil {
			t.Fatalf("the Dockerfile has no argument %s", argument)
		}
		image := string(named[1])
		if e.docker(t, "image", "inspect", image).Run() == nil || e.pull(t, image) {
			continue
		}
		t.Logf("%s cannot be pulled here; a local Debian stands in for it", image)
		run(t, e.docker(t, "tag", e.standIn(t, argument), image), 0)
	}
}

func (e engine) pull(t *testing.T, image string) bool {
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, e.client, "pull", "--quiet", image)
	cmd.Env = e.env
	return cmd.Run() == nil
}
