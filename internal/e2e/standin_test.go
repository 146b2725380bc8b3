//go:build e2e

package e2e_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// standIn is an image that has what the Dockerfile's steps run, but no node: this machine's Debian, made anew, with
// this machine's Go, its copies of the modules that go.mod names, and what it has compiled of the program already. A
// cache of Go's cannot make a build right that is wrong: it is asked by what the sources hold, and what it lacks is
// compiled.
func (e engine) standIn(t *testing.T) string {
	t.Helper()
	const name = "ralph-e2e-base:local"
	bootstrap, err := exec.LookPath("mmdebstrap")
	if err != nil || os.Geteuid() != 0 {
		t.Skip("left out: no registry can be reached, and mmdebstrap, as root, is not here to make the base images")
	}
	archive := filepath.Join(t.TempDir(), "stand-in.tar")
	run(t, exec.CommandContext(t.Context(), bootstrap, "--variant=apt", "--include=ca-certificates,passwd",
		"--dpkgopt=force-unsafe-io",
		`--customize-hook=cp `+certificates+` "$1`+certificates+`"`, "bookworm", archive), 0)
	packGo(t, archive)
	run(t, e.docker(t, "import", "--change",
		"ENV PATH=/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", archive, name), 0)
	return name
}

// certificates are this machine's: a proxy's may be among them.
const certificates = "/etc/ssl/certs/ca-certificates.crt"

// packGo adds to an archive what the stand-in has beside Debian.
func packGo(t *testing.T, archive string) {
	t.Helper()
	root, modules, cache := goEnv(t, "GOROOT"), goEnv(t, "GOMODCACHE"), goEnv(t, "GOCACHE")
	paths := slices.Concat([]string{root}, moduleFiles(t, modules), compiled(t, cache))
	for i, path := range paths {
		paths[i] = strings.TrimPrefix(path, "/")
	}
	args := []string{"--append", "--file", archive, "--directory", "/", "--exclude", "*_test.go", "--exclude", "testdata"}
	for from, to := range map[string]string{root: "usr/local/go", modules: "root/go/pkg/mod",
		cache: "root/.cache/go-build"} {
		args = append(args, "--transform", fmt.Sprintf("s,^%s/,%s/,S", strings.TrimPrefix(from, "/"), to))
	}
	cmd := exec.CommandContext(t.Context(), "tar", append(args, "--files-from", "-")...)
	cmd.Stdin = strings.NewReader(strings.Join(paths, "\n"))
	run(t, cmd, 0)
}

// moduleFiles are the files and directories of the modules in the module cache.
func moduleFiles(t *testing.T, cache string) []string {
	t.Helper()
	paths := strings.Fields(goSays(t, "list", "-m", "-f", "{{.GoMod}}", "all"))
	decoder := json.NewDecoder(strings.NewReader(goSays(t, "mod", "download", "-json")))
	for decoder.More() {
		var module struct{ Info, Zip, Dir string }
		if err := decoder.Decode(&module); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, module.Info, module.Zip, strings.TrimSuffix(module.Zip, ".zip")+".ziphash", module.Dir)
	}
	return slices.DeleteFunc(paths, func(path string) bool { return !strings.HasPrefix(path, cache+"/") })
}

// compiled are the files of the build cache that a build of the program reads, which is made here first, but for
// linking it. The cache's names are hashes of what goes into a step and of what comes out; of the former the graph has
// the first 15 bytes.
func compiled(t *testing.T, cache string) []string {
	t.Helper()
	graph := filepath.Join(t.TempDir(), "graph.json")
	goSays(t, "list", "-export", "-deps", "-trimpath", "-debug-actiongraph="+graph, "./cmd/ralph")
	text, err := os.ReadFile(graph)
	if err != nil {
		t.Fatal(err)
	}
	var steps []struct{ Mode, ActionID string }
	if err := json.Unmarshal(text, &steps); err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, step := range steps {
		begins, err := base64.RawURLEncoding.DecodeString(step.ActionID)
		if err != nil || len(begins) == 0 || step.Mode != "build" {
			continue
		}
		inputs, _ := filepath.Glob(filepath.Join(cache, fmt.Sprintf("%02x", begins[0]), fmt.Sprintf("%x*-a", begins)))
		for _, path := range inputs {
			entry, err := os.ReadFile(path) // v1 INPUTS OUTPUT SIZE TIME
			if fields := bytes.Fields(entry); err == nil && len(fields) == 5 {
				output := string(fields[2])
				paths = append(paths, path, filepath.Join(cache, output[:2], output+"-d"))
			}
		}
	}
	if len(paths) == 0 {
		t.Errorf("nothing compiled is found in %s: has Go another cache now?", cache)
	}
	return paths
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	return strings.TrimSpace(goSays(t, "env", name))
}

// goSays is what a go command prints that stands in the root of the repository and builds as the Dockerfile does.
func goSays(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v", strings.Join(args, " "), err)
	}
	return string(out)
}
