//go:build e2e

package e2e_test

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake/address"
)

// registry is a registry of images on this machine.
type registry struct {
	crane, host string
}

// startRegistry starts an empty one.
func startRegistry(t *testing.T, crane string) registry {
	t.Helper()
	at, err := address.Free()
	noError(t, err)
	r := registry{crane, at}
	cmd := exec.CommandContext(t.Context(), crane, "registry", "serve", "--address", r.host, "--disk", t.TempDir())
	noError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for range 100 {
		if conn, err := net.Dial("tcp", r.host); err == nil {
			_ = conn.Close()
			return r
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("the registry does not answer at %s", r.host)
	return r
}

// push puts an image of the engine into the registry, and gives its name there by digest.
func (r registry) push(t *testing.T, e engine, image, name string) string {
	t.Helper()
	tag := r.host + "/ralph-loop/" + name + ":rehearsal"
	run(t, e.docker(t, "tag", image, tag), 0)
	run(t, e.docker(t, "push", "--quiet", tag), 0)
	digest := strings.TrimSpace(run(t, exec.CommandContext(t.Context(), r.crane, "digest", "--insecure", tag), 0))
	return strings.TrimSuffix(tag, ":rehearsal") + "@" + digest
}

// size is what has to be fetched of an image, in MB.
func (r registry) size(t *testing.T, image string) int64 {
	t.Helper()
	var manifest struct{ Layers []struct{ Size int64 } }
	text := run(t, exec.CommandContext(t.Context(), r.crane, "manifest", "--insecure", image), 0)
	if err := json.Unmarshal([]byte(text), &manifest); err != nil || len(manifest.Layers) == 0 {
		t.Fatalf("%v: %s", err, text)
	}
	var all int64
	for _, layer := range manifest.Layers {
		all += layer.Size
	}
	return all / 1e6
}

// tool is a program that make e2e or make rehearsal installs.
func tool(t *testing.T, variable string) string {
	t.Helper()
	path := os.Getenv(variable)
	if path == "" {
		t.Skipf("left out: %s names nothing; make e2e and make rehearsal set it", variable)
	}
	return path
}
