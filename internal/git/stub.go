package git

import (
	"context"
	"errors"

	"github.com/ralph-loop/ralph/internal/loop"
)

var errSoon = errors.New("not written yet")

func Checkout(ctx context.Context, o Options, base, branch string) (*Tree, error) { return nil, errSoon }
func Open(ctx context.Context, dir string, o Options, branch, base string) (*Tree, error) {
	return nil, errSoon
}
func (t *Tree) Start(ctx context.Context) error { return errSoon }
func (t *Tree) Commit(ctx context.Context, since, message string) (loop.Commit, error) {
	return loop.Commit{}, errSoon
}
func (t *Tree) Clean(ctx context.Context) (dirty []string, err error) { return nil, errSoon }
func (t *Tree) Restore(ctx context.Context) error                     { return errSoon }

type Review struct{ dir string }

func (t *Tree) Review(ctx context.Context, commit string) (*Review, error) { return nil, errSoon }
func (r *Review) Dir() string                                              { return r.dir }
func (r *Review) Env() []string                                            { return nil }
func (r *Review) Untouched(ctx context.Context) (bool, string, error)      { return false, "", errSoon }
func (r *Review) Close() error                                             { return errSoon }

// RunRecord is one run's record: its files by name.
type RunRecord struct {
	Task, SHA string
	Files     map[string][]byte
}

func (t *Tree) SaveRecord(ctx context.Context, files map[string][]byte, message string) (string, error) {
	return "", errSoon
}
func (t *Tree) LoadRecord(ctx context.Context) (RunRecord, bool, error) { return RunRecord{}, false, errSoon }
func Records(ctx context.Context, o Options) ([]RunRecord, error)       { return nil, errSoon }

// Moved tells that the branch had moved on the remote and our commits are now on top of that.
type Moved struct {
	From, Onto string      // our tip before; the remote's tip it was put onto
	Commit     loop.Commit // everything the run has on top of it
}

func (t *Tree) Push(ctx context.Context) (*Moved, error) { return nil, errSoon }
func (t *Tree) PushRecord(ctx context.Context) error     { return errSoon }
func (t *Tree) FailureBranch(ctx context.Context, name, message string, files map[string][]byte) (string, error) {
	return "", errSoon
}
func (t *Tree) Archive(ctx context.Context) error { return errSoon }
