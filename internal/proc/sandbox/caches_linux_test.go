package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestOlder: of a cache that is too large, what was used last is kept.
func TestOlder(t *testing.T) {
	dir := t.TempDir()
	for age := range 10 { // 0 was used last
		name := filepath.Join(dir, fmt.Sprintf("%02x", age%3), fmt.Sprintf("%d-d", age))
		put(t, name, "ten bytes!")
		if used := time.Now().Add(-time.Duration(age) * time.Hour); os.Chtimes(name, used, used) != nil {
			t.Fatal("a file cannot be made older")
		}
	}
	for most, want := range map[int64]int{0: 0, 9: 0, 10: 1, 49: 4, 50: 5, 100: 10, 1 << 30: 10} {
		out := older(dir, most)
		for age := range 10 {
			if at := fmt.Sprintf("%02x/%d-d", age%3, age); out(at) != (age >= want) {
				t.Errorf("%d bytes: %s is left out: %v", most, at, out(at))
			}
		}
		if out("00") {
			t.Errorf("%d bytes: a whole directory is left out", most)
		}
	}
}
