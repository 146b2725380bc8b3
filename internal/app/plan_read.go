package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/app/plan"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/task"
)

// Plans is what a person does with a plan besides running it: begin, derive, look at, hold against the rules, put away (S4-102…S4-106).
type Plans struct {
	Seat            // Dir is the project
	RalphDir string // the plan's directory, from there: "ralph"

	dir string // the same from the top of the clone, which Dir is from then on
}

// open finds the plan's directory, which need not be there yet. No link leads out of the root that it returns.
func (p *Plans) open(ctx context.Context) (*os.Root, error) {
	p.sit()
	from, err := filepath.EvalSymlinks(p.Dir) // a home may be a link
	if err != nil {
		return nil, invalid.Errorf("the project %s: %w; give a directory that is there", p.Dir, err)
	}
	p.Dir = top(ctx, from, p.Parent)
	if p.dir, err = inClone(p.Dir, from, p.RalphDir); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(p.Dir)
	if err != nil {
		return nil, invalid.Errorf("the project %s: %w; give a directory that is there", p.Dir, mending(err))
	}
	return root, nil
}

// file is a file of the plan, from the top of the clone.
func (p *Plans) file(name string) string { return path.Join(p.dir, name) }

// readPlan reads a plan that a person wrote, as task.ReadPlan does. Of the template it says only that it is one: what it lacks, everybody
// sees.
func readPlan(file string, content []byte) (task.Plan, bool, error) {
	if plan.Untouched(content) {
		return task.Plan{}, false, invalid.Errorf("%s: the plan is still the template: write its stories, or let an agent derive them with ralph plan derive", file)
	}
	p, foreign, err := task.ReadPlan(file, content)
	if err != nil {
		return p, foreign, invalid.Mark(err)
	}
	return p, foreign, nil
}

// readIfThere reads a file of a plan; ok is false when there is none.
func readIfThere(root *os.Root, name string) (content []byte, ok bool, err error) {
	content, err = readPlanFile(root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, true, invalid.Errorf("reading %s: %w", name, mending(err))
	}
	return content, true, nil
}

// createIn writes a file that is not there; made is false when something is, which stays as it is.
func createIn(root *os.Root, name, content string) (made bool, err error) {
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return false, invalid.Errorf("writing %s: %w", name, mending(err))
	}
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, invalid.Errorf("writing %s: %w", name, mending(err))
	}
	_, err = io.WriteString(file, content)
	if err := errors.Join(err, file.Close()); err != nil {
		return false, errors.Join(invalid.Errorf("writing %s: %w", name, mending(err)), root.Remove(name))
	}
	return true, nil
}

// replaceIn puts a file in the place of another in one step, so that a kill leaves the old one or the new one.
func replaceIn(root *os.Root, name, content string) error {
	temp := fmt.Sprintf("%s.new-%d", name, os.Getpid())
	if _, err := createIn(root, temp, content); err != nil {
		return err
	}
	if err := root.Rename(temp, name); err != nil {
		return errors.Join(invalid.Errorf("writing %s: %w", name, mending(err)), root.Remove(temp))
	}
	return nil
}

// secretFree refuses a text that holds a credential: what is written here is committed.
func (p *Plans) secretFree(name, content string) error {
	if p.redact(content) != content {
		return invalid.Errorf("%s holds a credential of the environment that ralph runs in; take it out", name)
	}
	return nil
}

// slugOf is a text as a part of a directory's name.
func slugOf(text string) string { return task.Slug(strings.TrimSpace(text)) }
