package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/secret"
)

// sampleKeys are texts that look like access keys, from a number on.
func sampleKeys(from, count int) []string {
	const letters = "QW3ER7TZ5UP2AS4DF6GH"
	keys := make([]string, count)
	for i := range keys {
		key := []byte("AK" + "IA" + "Q3ZLV7XWN2RTB5KC")
		for n, at := from+i, 4; n > 0; n, at = n/20, at+2 {
			key[at] = letters[n%20]
		}
		keys[i] = string(key)
	}
	return keys
}

func writeFile(t testing.TB, dir, name, text string) {
	t.Helper()
	noError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
}

// countsGit makes every git command that the tree starts write a line to a file, and returns a count of them.
func (b *sandbox) countsGit(o *Options) (count func() int) {
	real := strings.TrimSpace(b.sh(b.dir, "command -v git"))
	bin, log := filepath.Join(b.dir, "counting"), filepath.Join(b.dir, "commands")
	b.sh(b.dir, "mkdir counting; printf '#!/bin/sh\\necho \"$*\" >>\""+log+"\"\\nexec "+real+
		" \"$@\"\\n' >counting/git; chmod +x counting/git; : >commands; chmod 666 commands")
	for i, env := range o.Env {
		if path, ok := strings.CutPrefix(env, "PATH="); ok {
			o.Env[i] = "PATH=" + bin + ":" + path
		}
	}
	return func() int {
		text, err := os.ReadFile(log)
		noError(b.t, err)
		return strings.Count(string(text), "\n")
	}
}

// TestManyCredentials: however many texts look like a credential, git is started as often, each that is new is taken
// out, and no other, also when one is a part of another, or begins
// like another.
func TestManyCredentials(t *testing.T) {
	b := newSandbox(t)
	old := sampleKeys(0, 2000)
	const long = "ghp" + "_Zq8Lm2Xw9Rt4Vb7Np1Kc6Hd3Yf5Gs0Ja"
	writeFile(t, b.dir, "seed/old.cfg", strings.Join(old, "\n")+"\n"+long+"\n")
	key := func(a, b string) string { // the first lines of all are the same
		return "-----BEGIN OPENSSH " + "PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW\n" +
			a + "\n" + b + "\n-----END OPENSSH PRIVATE KEY-----\n"
	}
	one := key("QyNTUxOQAAACBmT0q8Jw5u3rZ1xPdV7hKc2LbYnS6eGa9tRfWiXvMjOQAAAJhUkEoPqRs",
		"AAAEDx7Zc1NvBmK4lJ8hGf5dSaQwErTy6UiOp0LkMnBvCxZaQwErTyUiOpAsDf")
	two := key("QyNTUxOQAAACDxW4eRtY7uIoP1aSdF3gHjK5lZxCv9bNm2QwErT6yUiAAAAJgZxCvBnM1",
		"AAAEDp0OiUyTrEwQaSdFgHjKlMnBvCxZ5q7w9e1r3t2y4u6i8o0pLkJhGfDsAz")
	writeFile(t, b.dir, "seed/one.pem", one)
	b.sh(filepath.Join(b.dir, "seed"), `git add .; git commit -qm more; git push -q ../remote.git HEAD:main`)
	b.base = strings.TrimSpace(b.sh(filepath.Join(b.dir, "seed"), "git rev-parse HEAD"))
	var count func() int
	tree := b.checkout(func(o *Options) { count = b.countsGit(o) })
	commit := func(name, text string) (c loop.Commit, started int) {
		b.sh(b.dir, ": >commands")
		since := tree.Head()
		writeFile(t, tree.Dir(), name, text)
		c = must[loop.Commit](t)(tree.Commit(b.ctx, since, "more keys"))
		return c, count()
	}
	_, few := commit("few", strings.Join(append(sampleKeys(5000, 2), old[0]), "\n"))
	fresh := sampleKeys(10_000, 2000)
	c, many := commit("many", strings.Join(append(append(fresh, old...), long[:len(long)-3], long, long+"xyz"), "\n"))
	if many != few || few == 0 {
		t.Errorf("git was started %d times for many, %d times for few", many, few)
	}
	marks := 0
	var kept []string
	for line := range strings.Lines(b.show(tree, "many")) {
		if n := len(secret.Marks(line)); n > 0 {
			marks += n
			continue
		}
		kept = append(kept, strings.TrimSpace(line))
	}
	want := append(append([]string{}, old...), long[:len(long)-3], long)
	if marks != len(fresh)+1 || strings.Join(kept, " ") != strings.Join(want, " ") {
		t.Errorf("%d marks, %d kept", marks, len(kept))
	}
	commit("moved.pem", one)
	commit("two.pem", two)
	if got := b.show(tree, "two.pem"); len(secret.Marks(got)) != 1 || strings.Contains(got, "QyNTUx") {
		t.Errorf("two.pem is %q", got)
	}
	if got := b.show(tree, "moved.pem"); got != one {
		t.Errorf("moved.pem is %q", got)
	}
	if len(c.Note) > 4<<10 || !strings.Contains(c.Note, "and 1981 more") {
		t.Errorf("the note has %d bytes: %.2000s", len(c.Note), c.Note)
	}
}
