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

// certificates are this machine's: a proxy's may be among them.
const certificates = "/etc/ssl/certs/ca-certificates.crt"

// standIn is an image that stands in for the base that an argument of the Dockerfile names: this machine's Debian, made
// anew and as small as the base, with this machine's Go or Node where the base has it.
func (e engine) standIn(t *testing.T, argument string) string {
	t.Helper()
	name := "ralph-e2e-" + strings.ToLower(argument) + ":local"
	archive := debian(t)
	changes := []string{"ENV PATH=/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	switch argument {
	case "GO_IMAGE":
		archive = copied(t, archive)
		packGo(t, archive)
	case "NODE_IMAGE":
		archive = copied(t, archive)
		packNode(t, archive)
		changes = append(changes, "ENV NODE_EXTRA_CA_CERTS="+certificates)
	}
	args := []string{"import"}
	for _, change := range changes {
		args = append(args, "--change", change)
	}
	run(t, e.docker(t, append(args, archive, name)...), 0)
	return name
}

// debian is an archive of a Debian with what is essential, and without what its slim image leaves out, too. It is made
// once and kept beside the tools, as it takes minutes.
func debian(t *testing.T) string {
	t.Helper()
	archive, err := filepath.Abs("../../.tools/stand-in-bookworm.tar")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(archive); err == nil {
		return archive
	}
	bootstrap, err := exec.LookPath("mmdebstrap")
	if err != nil || os.Geteuid() != 0 {
		t.Skip("left out: no registry can be reached, and mmdebstrap, as root, is not here to make the base images")
	}
	fresh := filepath.Join(t.TempDir(), "stand-in.tar")
	args := []string{"--variant=minbase", "--dpkgopt=force-unsafe-io"}
	for _, unread := range []string{"doc", "man", "info", "locale"} {
		args = append(args, "--dpkgopt=path-exclude=/usr/share/"+unread+"/*")
	}
	run(t, exec.CommandContext(t.Context(), bootstrap, append(args, "bookworm", fresh)...), 0)
	if err := os.MkdirAll(filepath.Dir(archive), 0o755); err != nil {
		t.Fatal(err)
	}
	run(t, exec.Command("mv", fresh, archive), 0)
	return archive
}

// copied is an archive that a test may add to.
func copied(t *testing.T, archive string) string {
	t.Helper()
	mine := filepath.Join(t.TempDir(), "stand-in.tar")
	run(t, exec.Command("cp", archive, mine), 0)
	return mine
}

// packNode adds this machine's Node and npm to an archive.
func packNode(t *testing.T, archive string) {
	t.Helper()
	const modules = "usr/lib/node_modules/npm"
	node, err := exec.LookPath("node")
	if err == nil {
		node, err = filepath.EvalSymlinks(node)
	}
	if _, noNPM := os.Stat("/" + modules); err != nil || noNPM != nil {
		t.Skipf("left out: no registry can be reached, and this machine has no Node in /usr to stand in for its image: %v %v",
			err, noNPM)
	}
	run(t, exec.CommandContext(t.Context(), "tar", "--append", "--file", archive, "--directory", "/",
		"--transform", "s,^"+strings.TrimPrefix(node, "/")+"$,usr/local/bin/node,S",
		strings.TrimPrefix(node, "/"), modules, "usr/bin/npm", strings.TrimPrefix(certificates, "/")), 0)
}

// packGo adds to an archive this machine's Go, its copies of the modules that go.mod names, and what it has compiled of
// the program already. A cache of Go's cannot make a build right that is wrong: it is asked by what the sources hold,
// and what it lacks is compiled.
func packGo(t *testing.T, archive string) {
	t.Helper()
	root, modules, cache := goEnv(t, "GOROOT"), goEnv(t, "GOMODCACHE"), goEnv(t, "GOCACHE")
	paths := slices.Concat([]string{root, certificates}, moduleFiles(t, modules), compiled(t, cache))
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
