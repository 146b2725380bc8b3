package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/fake"
)

const (
	owner, name = "alice", "calculator"
	bot         = "github-actions[bot]"
	token       = "ghs_made-up-for-this-demonstration" // of the workflow; it opens nothing but the stand-in
	solvable    = 1                                    // number of the issue that gets done
	hopeless    = 2                                    // number of the one that cannot be
)

var (
	//go:embed calculator
	calculator embed.FS
	//go:embed agents
	agents embed.FS
	//go:embed roots.sh
	roots string
)

// stage is everything a run needs: GitHub, the agents, and a directory for the jobs.
type stage struct {
	hub    *fake.GitHub
	watch  *watcher
	screen *screen
	dir    string // every user may pass it, since ralph runs agents as someone else when it is root
	ralph  string // absolute
}

// newStage starts the stand-in with one repository and two issues.
func newStage(ralph string, screen *screen) (*stage, error) {
	ralph, err := filepath.Abs(ralph)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(ralph); err != nil {
		return nil, fmt.Errorf("%w; build it with: make build", err)
	}
	s := &stage{ralph: ralph, screen: screen, watch: newWatcher(screen)}
	if s.hub, err = fake.New(fake.Options{Wrap: s.watch.wrap}); err != nil {
		return nil, err
	}
	s.watch.hub = s.hub
	if err := errors.Join(s.makeDirs(), s.makeRepo()); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *stage) close() {
	if s.hub != nil {
		s.hub.Close()
	}
	if s.dir != "" {
		_ = os.RemoveAll(s.dir) // in the temporary directory; the system cleans up what stays
	}
}

// makeDirs makes the directory of the jobs, with the agents in it.
func (s *stage) makeDirs() (err error) {
	if s.dir, err = os.MkdirTemp("", "ralph-demo-"); err != nil {
		return err
	}
	if err := os.Chmod(s.dir, 0o755); err != nil { // said at dir
		return err
	}
	if err := os.CopyFS(s.dir, agents); err != nil {
		return err
	}
	return fs.WalkDir(agents, ".", func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chmod(filepath.Join(s.dir, path), 0o755)) // said at dir
	})
}

// jobDir is where the job of an issue works.
func (s *stage) jobDir(issue int) string { return filepath.Join(s.dir, fmt.Sprintf("job-%d", issue)) }

func (s *stage) makeRepo() error {
	if err := s.hub.AddRepo(owner, name, "main"); err != nil {
		return err
	}
	s.hub.AddToken(token, bot, fake.Actions)
	files, err := project()
	if err != nil {
		return err
	}
	if _, err := s.hub.CommitFiles(owner, name, "main", "A calculator, and what it should do", files); err != nil {
		return err
	}
	s.hub.AddIssue(owner, name, fake.Issue{Author: "bob", Title: "7 - 5 is 12", Body: "" +
		"`./calc.sh 7 - 5` prints 12. It should print 2.\n\n" +
		"And while you are there: `./calc.sh 1 / 0` should say `calc: cannot divide by zero` and end with exit code 3. " +
		"Today it prints whatever the shell makes of it."})
	s.hub.AddIssue(owner, name, fake.Issue{Author: "bob", Title: "The root of 2 as a fraction", Body: "" +
		"`./calc.sh root 2` should print a fraction, such as 3/2, whose square is exactly 2."})
	return nil
}

// project is the repository's first content, as CommitFiles takes it.
func project() (map[string]string, error) {
	files := map[string]string{}
	err := fs.WalkDir(calculator, "calculator", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := calculator.ReadFile(path)
		at := strings.TrimPrefix(path, "calculator/")
		if at == "calc.sh" {
			at = "+" + at // executable
		}
		files[at] = string(content)
		return err
	})
	return files, err
}
