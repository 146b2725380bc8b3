package internal_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestModules: nothing that ships imports a double, and the blocks of go.mod say truly which modules the binary needs.
func TestModules(t *testing.T) {
	packages, modules := map[string]bool{}, map[string]bool{}
	for _, system := range []string{"linux", "darwin", "windows"} {
		cmd := exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}} {{with .Module}}{{.Path}}{{end}}", "../cmd/ralph")
		cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		text, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v", cmd, err)
		}
		for line := range strings.Lines(string(text)) {
			name, owner, _ := strings.Cut(strings.TrimSpace(line), " ")
			packages[name], modules[owner] = true, true
		}
	}
	for name := range packages {
		if strings.HasPrefix(name, module+"internal/fake") {
			t.Errorf("%s is in the binary", name)
		}
	}
	text, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "\nrequire (\n")
	if len(blocks) != 4 {
		t.Fatalf("go.mod has %d blocks, not three: for the binary, for tests alone, for those in turn", len(blocks)-1)
	}
	for i, block := range blocks[1:3] {
		block, _, _ = strings.Cut(block, "\n)")
		for line := range strings.Lines(block) {
			name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			if modules[name] != (i == 0) {
				t.Errorf("%s stands in the wrong block of go.mod: it is in the binary: %v", name, modules[name])
			}
			if i == 1 && !strings.Contains(line, " // ") {
				t.Errorf("%s: go.mod does not say what tests need it for", name)
			}
		}
	}
}
