package main

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/fake"
)

const (
	owner, name = "alice", "calculator"
	bot         = "github-actions[bot]"
	token       = "ghs_made-up-for-this-demonstration" // of the workflow; only the double accepts it
	solvable    = 1                                    // number of the issue that ralph solves
	hopeless    = 2                                    // number of the issue that no agent can solve
)

//go:embed calculator agents roots.sh
var files embed.FS

// stage is everything a run needs: GitHub, the agents, and a directory for the jobs.
type stage struct {
	hub    *fake.GitHub
	watch  *watcher
	screen *screen
	dir    string // readable for every user, because ralph runs agents as another user if it is root
	ralph  string // absolute
}

// newStage starts the double of GitHub with one repository and two issues.
func newStage(ralph string, out io.Writer) (*stage, error) {
	ralph, err := filepath.Abs(ralph)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(ralph); err != nil {
		return nil, fmt.Errorf("%w; build it with: make build", err)
	}
	s := &stage{ralph: ralph, screen: &screen{out: out}}
	s.watch = &watcher{screen: s.screen, seen: map[string]bool{}}
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
	s.hub.Close()
	_ = os.RemoveAll(s.dir) // in the temporary directory; the system cleans up the rest
}

// makeDirs makes the directory of the jobs, with the agents in it.
func (s *stage) makeDirs() (err error) {
	if s.dir, err = os.MkdirTemp("", "ralph-demo-"); err != nil {
		return err
	}
	return errors.Join(os.CopyFS(s.dir, files), fs.WalkDir(files, ".", func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chmod(filepath.Join(s.dir, path), 0o755))
	}))
}

// agent is the path of an agent's script.
func (s *stage) agent(name string) string { return filepath.Join(s.dir, "agents", name) }

// jobDir is where the job of an issue works.
func (s *stage) jobDir(issue int) string { return filepath.Join(s.dir, fmt.Sprintf("job-%d", issue)) }

func (s *stage) makeRepo() error {
	if err := s.hub.AddRepo(owner, name, "main"); err != nil {
		return err
	}
	s.hub.AddToken(token, bot, fake.Actions)
	project := map[string]string{}
	err := fs.WalkDir(files, "calculator", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := files.ReadFile(path)
		at := strings.TrimPrefix(path, "calculator/")
		if at == "calc.sh" {
			at = "+" + at // executable
		}
		project[at] = string(content)
		return err
	})
	if err != nil {
		return err
	}
	if _, err := s.hub.CommitFiles(owner, name, "main", "A calculator, and what it should do", project); err != nil {
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

// environ is the environment of ralph: how to reach the double, and nothing of ours except PATH.
func (s *stage) environ(home string) []string {
	return []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "GITHUB_SERVER_URL=" + s.hub.URL(),
		"GITHUB_API_URL=" + s.hub.APIURL(), "GITHUB_GRAPHQL_URL=" + s.hub.GraphQLURL()}
}
