package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUserSettingsOutsideOfTheClone: a file in the clone is written by whoever works there, whatever the directory is
// called.
func TestUserSettingsOutsideOfTheClone(t *testing.T) {
	write := func(file string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(`{"notifyCommand": "say done"}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	home, clone := t.TempDir(), t.TempDir()
	web := filepath.Join(clone, "web")
	for _, dir := range []string{filepath.Join(clone, ".git"), web} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(home, "ralph", "settings.json"))
	write(filepath.Join(clone, "ralph", "settings.json"))
	linked := t.TempDir()
	if err := os.Symlink(filepath.Join(clone, "ralph"), filepath.Join(linked, "ralph")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, dir, config string
		layers            int
	}{
		{"of the user", clone, home, 1},
		{"in the clone", clone, clone, 0},
		{"in the clone, from below", web, clone, 0},
		{"a link into the clone", clone, linked, 0},
		{"nothing there", clone, web, 0},
	} {
		layers, err := SettingsFiles(c.dir, []string{"HOME=" + home, "XDG_CONFIG_HOME=" + c.config})
		if err != nil || len(layers) != c.layers {
			t.Errorf("%s: %d layers, %v", c.name, len(layers), err)
		}
	}
	for system, want := range map[string]string{
		"linux": "/h/.config/ralph", "darwin": "/h/Library/Application Support/ralph",
	} {
		if got := userSettings(system, []string{"HOME=/h"}); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", system, got)
		}
	}
	if got := userSettings("linux", nil); got != "" {
		t.Errorf("without a home: %s", got)
	}
}
