package session

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/files"
)

// TestPlacesApart: what a run clears away when it begins is never what outlives a process, also where a system has one
// directory for both.
func TestPlacesApart(t *testing.T) {
	home, clone := t.TempDir(), t.TempDir()
	for system, env := range map[string][]string{
		"linux": {"HOME=" + home}, "darwin": {"HOME=" + home}, "windows": {"LOCALAPPDATA=" + home}, "nowhere": nil,
		"one": {"XDG_CACHE_HOME=" + home, "XDG_STATE_HOME=" + home},
	} {
		s := Session{Dir: clone, Parent: env}
		p := s.placesOn(system)
		if rel, err := filepath.Rel(p.Scratch, p.State); err != nil || !strings.HasPrefix(rel, "..") {
			t.Errorf("%s: the state %s is in the scratch %s", system, p.State, p.Scratch)
		}
		if err := clearPlaces(p.Clone, p.Scratch, p.State); err != nil {
			t.Fatal(err)
		}
		kept := filepath.Join(p.State, "kept")
		if err := files.Replace(kept, []byte("x")); err != nil {
			t.Fatal(err)
		}
		if err := clearPlaces(p.Clone, p.Scratch, p.State); err != nil {
			t.Fatal(err)
		}
		if text, err := files.Read(kept); err != nil || string(text) != "x" {
			t.Errorf("%s: what is to be kept is gone: %v", system, err)
		}
	}
}
