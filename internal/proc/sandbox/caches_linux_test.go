package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestLargeCache: a cache that is larger than what is copied, and lies elsewhere behind a link, is not done without.
func TestLargeCache(t *testing.T) {
	g := newGround(t)
	elsewhere := filepath.Join(g.dir, "disk")
	put(t, elsewhere+"/00/new-d", "compiled")
	put(t, elsewhere+"/ff/old-d", "")
	long := time.Now().Add(-time.Hour)
	for _, err := range []error{os.Truncate(elsewhere+"/ff/old-d", 3*mostSeeded), // takes no room on the disk
		os.Chtimes(elsewhere+"/ff/old-d", long, long), os.MkdirAll(g.Home+"/.cache", 0o755),
		os.Symlink(elsewhere, g.Home+"/.cache/go-build")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	everybody(t, g.dir)
	o := g.options(Bwrap, nil)
	o.Cache = filepath.Join(g.dir, "kept")
	s := g.open(t, o)
	if got := g.say(t, s, Setup, "cat $GOCACHE/00/new-d; test -e $GOCACHE/ff/old-d || echo ' without the old'"); got !=
		"compiled without the old\n" {
		t.Errorf("%q", got)
	}
}

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
