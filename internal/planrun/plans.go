package planrun

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/session"
)

// Plans is what a person does with a plan besides running it: start, derive, show, validate, archive.
type Plans struct {
	session.Session        // Dir is the project
	RalphDir        string // the plan's directory, from there: "ralph"

	PlanDir string // the same from the top of the clone, which Dir is from then on
}

// Open finds the plan's directory, which need not be there yet. No link leads out of the root that it returns.
func (p *Plans) Open(ctx context.Context) (*os.Root, error) {
	p.Begin()
	from, err := filepath.EvalSymlinks(p.Dir) // a home may be a link
	if err != nil {
		return nil, invalid.Errorf("the project %s: %w; pass an existing directory", p.Dir, err)
	}
	p.Dir = session.Top(from)
	if p.PlanDir, err = InClone(p.Dir, from, p.RalphDir); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(p.Dir)
	if err != nil {
		return nil, invalid.Errorf("the project %s: %w; pass an existing directory", p.Dir, files.Advise(err))
	}
	return root, nil
}

// Alone also keeps runs of the plan away, for a caller that has locked the directory and changes the plan's files.
func (p *Plans) Alone(unlock func(), err error) (func(), error) {
	src, unread := ReadPlanIn(p.Dir, p.PlanDir)
	of, _, no := src.Task()
	if err != nil || unread != nil || no != nil { // nothing can run it
		return unlock, err
	}
	free, err := p.HoldTask(of.ID)
	if err != nil {
		unlock()
		return func() {}, err
	}
	return func() { free(); unlock() }, nil
}

// File is a file of the plan, from the top of the clone.
func (p *Plans) File(name string) string { return path.Join(p.PlanDir, name) }

// SecretFree refuses a text that holds a credential: what is written here is committed.
func (p *Plans) SecretFree(name, content string) error {
	if p.Redact(content) != content {
		return invalid.Errorf("%s holds a credential of the environment that ralph runs in; take it out", name)
	}
	return nil
}

// InClone is a directory as git names it, from the top of the clone.
func InClone(top, from, dir string) (string, error) {
	dir = session.From(from, dir)
	for _, p := range []*string{&top, &dir} { // a home may be a link
		if real, err := filepath.EvalSymlinks(*p); err == nil {
			*p = real
		}
	}
	rel, err := filepath.Rel(top, dir)
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return "", invalid.Errorf(
			"the plan's directory %s is not below %s: give one of the clone, such as ralph", dir, top,
		)
	}
	return filepath.ToSlash(rel), nil
}

// Say prints a line for people.
func (p *Plans) Say(format string, args ...any) { p.Log("%s", fmt.Sprintf(format, args...)) }

// Note prints what someone has edited in the clone.
func (p *Plans) Note(b OnBranch) {
	if note := b.Note(); note != "" {
		p.Say("note: %s", note)
	}
}

// Rules are those of the settings; where these cannot be read, which a run says, the defaults.
func (p *Plans) Rules() plan.Rules {
	settings, err := p.Settings()
	if err != nil {
		return plan.Rules{ReviewCap: plan.DefaultReviewCap}
	}
	return Rules(settings)
}
