// Command leftovers has a ralph leave behind what runs leave that were killed, interrupted or stopped by a limit, and
// packs it for tests of later versions: testdata/upgrade says which ralph it was used with.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// root is where the runs take place: a path of nobody's, since records hold it.
const root = "/tmp/ralph-upgrade"

func main() {
	ralph := flag.String("ralph", "", "the ralph to record, a path")
	out := flag.String("out", filepath.Join("testdata", "upgrade"), "the directory for the recordings")
	only := flag.String("only", "", "the recording to make; empty makes all")
	flag.Parse()
	if err := record(*ralph, *out, *only); err != nil {
		fmt.Fprintln(os.Stderr, "leftovers:", err)
		os.Exit(1)
	}
}

// record makes the recordings, one after another.
func record(ralph, out, only string) error {
	ralph, err := filepath.Abs(ralph)
	if err != nil {
		return err
	}
	if _, err := os.Stat(ralph); err != nil {
		return err
	}
	for _, s := range scenes {
		if only != "" && only != s.name {
			continue
		}
		if err := s.record(ralph, filepath.Join(out, s.name+".tar.gz")); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// record has the scene played, and packs what is left of it.
func (s scene) record(ralph, to string) (err error) {
	if err := os.RemoveAll(root); err != nil {
		return err
	}
	defer func() {
		if err == nil {
			err = os.RemoveAll(root)
		}
	}()
	if err := os.Mkdir(root, 0o755); err != nil {
		return err
	}
	p := &place{ralph: ralph, dir: root, clone: filepath.Join(root, "clone")}
	for name, text := range s.files {
		if err := p.write(name, text); err != nil {
			return err
		}
	}
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	defer stop()
	if err := s.play(ctx, p); err != nil {
		return fmt.Errorf("%w\n%s", err, p.said.String())
	}
	if err := tidy(root); err != nil {
		return err
	}
	return pack(root, to)
}

// tidy removes what a scene leaves that is not ralph's.
func tidy(dir string) error {
	hooks, err := filepath.Glob(filepath.Join(dir, "*", ".git", "hooks", "*.sample"))
	if err != nil {
		return err
	}
	for _, hook := range hooks {
		if err := os.Remove(hook); err != nil {
			return err
		}
	}
	return nil
}

// executable reports whether a file of a scene is a program.
func executable(text string) bool { return strings.HasPrefix(text, "#!") }
