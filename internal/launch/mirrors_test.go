//go:build unix

package launch

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/loop"
)

// mirrors are those of a world.
func (w *world) mirrors(most int64) *Mirrors {
	w.t.Helper()
	m, err := OpenMirrors(filepath.Join(w.dir, "mirrors"), most, w.by.Environ, w.by.Log)
	noError(w.t, err)
	return m
}

// TestMirror: a job borrows from the mirror, its agent, too, and leaves it as it was; nothing of the token is there.
func TestMirror(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.by.Mirrors = w.mirrors(1 << 30)
	kept, noise := w.shared("kept"), make([]byte, 3<<20)
	_, _ = rand.Read(noise) // never fails
	if _, err := w.gh.CommitFiles(owner, name, "main", "large", map[string]string{"noise": string(noise)}); err != nil {
		t.Fatal(err)
	}
	w.agent = w.script("agent", `git log --oneline > /dev/null 2>> `+kept+` || echo "git does not work" >> `+kept+`
objects=$(git rev-parse --git-path objects)
du -sk "$objects" | cut -f1 > `+w.shared("own")+`
(echo x > $(cat "$objects/info/alternates")/x) 2>/dev/null && [ $(id -u) != 0 ] && [ $(id -u) != `+
		fmt.Sprint(os.Getuid())+` ] && echo "the mirror can be written" >> `+kept+`
`+fixer)
	w.must(w.start(w.labeled("5f1e-f", 1)), loop.Done)
	if w.file("kept") != "" || w.file("own") == "" {
		t.Errorf("%s; own objects: %s", w.file("kept"), w.file("own"))
	}
	if own, _ := strconv.Atoi(strings.TrimSpace(w.file("own"))); own == 0 || own > 1500 {
		t.Errorf("the job has %d KiB of objects of its own", own)
	}
	if found, _ := filepath.Glob(filepath.Join(w.dir, "mirrors", "*", "HEAD")); len(found) != 1 {
		t.Errorf("mirrors: %v", found)
	}
	_ = filepath.WalkDir(filepath.Join(w.dir, "mirrors"), func(path string, d os.DirEntry, _ error) error {
		if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), "ghs_") {
			t.Errorf("%s holds the token", path)
		}
		return nil
	})
	// another server finds it again
	remote := git.Remote{URL: w.gh.CloneURL(owner, name)}
	if again := w.mirrors(1 << 30); again.name(remote.URL) != w.by.Mirrors.name(remote.URL) {
		t.Error("another server has another mirror")
	}
}

// TestMirrorsAreBounded: the one that was not used for longest goes first, and none that is in use.
func TestMirrorsAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.mirrors(1)
	token, _ := w.Make(context.Background())
	borrow := func(name string) (string, func()) {
		noError(t, w.gh.AddRepo(owner, name, "main"))
		w.gh.SetPermission(owner, name, login, "write")
		if _, err := w.gh.CommitFiles(owner, name, "main", "seed", map[string]string{"a": name}); err != nil {
			t.Fatal(err)
		}
		dir, back, err := m.Borrow(t.Context(), owner+"/"+name,
			git.Remote{URL: w.gh.CloneURL(owner, name), Token: token.Value})
		noError(t, err)
		return dir, back
	}
	there := func(dir string) bool { _, err := os.Stat(filepath.Join(dir, "HEAD")); return err == nil }
	one, back := borrow("one")
	two, backTwo := borrow("two")
	if !there(one) || !there(two) {
		t.Fatal("one that is in use was removed")
	}
	backTwo()
	backTwo() // again does nothing
	if !there(one) || there(two) {
		t.Errorf("one: %v, two: %v", there(one), there(two))
	}
	back()
	if there(one) {
		t.Error("it takes more than it may")
	}
}

// TestBrokenMirror: one that cannot be used is made anew.
func TestBrokenMirror(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.mirrors(1 << 30)
	token, _ := w.Make(context.Background())
	from := git.Remote{URL: w.gh.CloneURL(owner, name), Token: token.Value}
	for range 2 {
		dir, back, err := m.Borrow(t.Context(), owner+"/"+name, from)
		noError(t, err)
		back()
		noError(t, os.WriteFile(filepath.Join(dir, "config"), []byte("[core\n"), 0o600))
	}
}

func (w *world) addIssue() int {
	return w.gh.AddIssue(owner, name, fake.Issue{Title: "Make add add", Body: "It subtracts.", Author: owner})
}
