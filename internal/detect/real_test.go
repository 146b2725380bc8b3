package detect

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestDetectedChecksPass: what is detected in a small project of each kind passes with the real tool, in the order in
// which it runs. go and make are there wherever this is tested; the others are used where they are.
func TestDetectedChecksPass(t *testing.T) {
	for _, row := range []struct {
		needs string
		files map[string]string
	}{
		{"go", map[string]string{"go.mod": "module x\n\ngo 1.24\n", "x.go": "package x\n",
			"x_test.go": "package x\n\nimport \"testing\"\n\nfunc TestX(*testing.T) {}\n"}},
		{"make", map[string]string{"Makefile": "lint test:\n\t@echo $@\n"}},
		{"npm",
			map[string]string{"package.json": `{"name":"x","version":"1.0.0","scripts":{"lint":"node --check x.js","test":"node x.js"}}`,
				"x.js": "console.log(1)\n"}},
		{"python3", map[string]string{"setup.py": "",
			"tests/test_x.py": "import unittest\n\n\nclass X(unittest.TestCase):\n    def test(self):\n        pass\n"}},
	} {
		if _, err := exec.LookPath(row.needs); err != nil && row.needs != "go" && row.needs != "make" {
			continue
		}
		t.Run(row.needs, func(t *testing.T) {
			dir, files := t.TempDir(), map[string][]byte{}
			for name, content := range row.files {
				path := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // a test's
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
				entry := filepath.Dir(name)
				if entry == "." {
					entry = name
				}
				files[entry] = []byte(content)
			}
			checks := Repository(files).Bare().Checks
			if len(checks) == 0 {
				t.Fatal("nothing is detected")
			}
			for _, d := range checks {
				command := exec.Command("sh", "-c", d.Command) //nolint:gosec // what is tested
				command.Dir = dir
				if out, err := command.CombinedOutput(); err != nil {
					t.Errorf("%s: %v\n%s", d.Command, err, out)
				}
			}
		})
	}
}
