//go:build unix

package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ralph-loop/ralph/internal/fake"
)

// recorded puts a script where an earlier ralph has left a run, in the clone, with that user's home: recorded NAME.
// testdata/upgrade says what there is.
func recorded(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: recorded NAME")
	}
	dir := ts.MkAbs(filepath.Join(ts.Getenv("WORK"), args[0]))
	ts.Check(os.RemoveAll(dir))
	ts.Check(fake.Unpack(filepath.Join("..", "..", "testdata", "upgrade", args[0]+".tar.gz"), dir))
	clone, err := filepath.EvalSymlinks(filepath.Join(dir, "clone"))
	ts.Check(err)
	// A run's seal is found by its clone's path. It was recorded at another one, and lies as if it had been here.
	seals := filepath.Join(dir, "home", ".local", "state", "ralph", "seals")
	there, err := os.ReadDir(seals)
	ts.Check(err)
	if len(there) != 1 {
		ts.Fatalf("there are seals of %d directories", len(there))
	}
	ts.Check(os.Rename(filepath.Join(seals, there[0].Name()),
		filepath.Join(seals, fmt.Sprintf("%x", sha256.Sum256([]byte(clone))))))
	ts.Setenv("HOME", filepath.Join(dir, "home"))
	ts.Setenv("PATH", filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	ts.Check(ts.Chdir(clone))
}
