package internal_test

import (
	"strings"
	"testing"
)

// TestModules: nothing that ships imports a double, and the blocks of go.mod say truly which modules the binary needs.
func TestModules(t *testing.T) {
	list, err := linked()
	noError(t, err)
	modules := map[string]bool{}
	for _, m := range list {
		modules[m.path] = true
	}
	blocks := strings.Split(document(t, "../go.mod"), "\nrequire (\n")
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
