package internal_test

import (
	"go/ast"
	"os"
	"slices"
	"strings"
	"testing"
)

// reaching are the functions that reach a file by its whole path, and so through every link that somebody has put on
// the way: agents, tests and setups run in directories where ralph reads and writes, too.
var reaching = strings.Fields(`os.Open os.OpenFile os.Create os.ReadFile os.WriteFile os.ReadDir os.Mkdir os.MkdirAll os.Remove
	os.RemoveAll os.Rename os.Chmod os.Chown os.Lchown os.Chtimes os.Symlink os.Link os.Truncate os.CopyFS os.DirFS filepath.Walk
	filepath.WalkDir`)

// TestReachesFilesBelowDirectories holds everybody to internal/files and os.Root. A function that reaches files by
// whole paths is named in testdata/apart.txt, with the reason why nothing that it follows is another's: "path function:
// reason".
func TestReachesFilesBelowDirectories(t *testing.T) {
	text, err := os.ReadFile("testdata/apart.txt")
	noError(t, err)
	allowed := map[string]bool{} // whether it was found
	for line := range strings.Lines(string(text)) {
		place, reason, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if strings.HasPrefix(line, "#") || place == "" {
			continue
		}
		if _, twice := allowed[place]; !ok || reason == "" || twice {
			t.Errorf("testdata/apart.txt: %q names no reason, or is there twice", line)
		}
		allowed[place] = false
	}
	for _, s := range sources(t) {
		if slices.Contains([]string{"fake", "judged", "files"}, s.room) {
			continue
		}
		for _, d := range s.file.Decls {
			name := "its variables"
			if f, ok := d.(*ast.FuncDecl); ok {
				name = f.Name.Name
			}
			place := s.path + " " + name
			for _, call := range selected(d) {
				if !slices.Contains(reaching, call) {
					continue
				}
				if _, ok := allowed[place]; !ok {
					t.Errorf("%s: %s follows whatever link somebody has put there: use internal/files or os.Root, or name "+
						"it in testdata/apart.txt with the reason why nobody could have", place, call)
				}
				allowed[place] = true
			}
		}
	}
	for place, found := range allowed {
		if !found {
			t.Errorf("testdata/apart.txt names %s, which reaches no file by its path any more", place)
		}
	}
}
