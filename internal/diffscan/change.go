package diffscan

import "context"

// Change is the difference between two commits.
type Change struct {
	From, To string
	Names    []string // every path that differs, the old and the new one of a moved file
	Partial  string   // why not all of it could be looked through; empty: it could
	Marked   bool     // a mark of something that was taken out of a commit may be in it

	files  []*fileDiff // those whose patch could be read, in its order
	named  map[string]bool
	byName map[string]*fileDiff
	file   func(ctx context.Context, commit, path string) (content []byte, ok bool, err error)
}

func newChange(from, to string, names []string, files []*fileDiff) *Change {
	d := &Change{
		From: from, To: to, Names: names,
		files: files, named: map[string]bool{}, byName: map[string]*fileDiff{},
	}
	for _, name := range names {
		d.named[name] = true
	}
	for _, f := range files {
		d.byName[f.name] = f
	}
	return d
}

// before and after read a file of the two commits; ok is false when it has none.
func (d *Change) before(ctx context.Context, name string) (string, bool, error) {
	return d.read(ctx, d.From, name)
}

func (d *Change) after(ctx context.Context, name string) (string, bool, error) {
	return d.read(ctx, d.To, name)
}

func (d *Change) read(ctx context.Context, commit, name string) (string, bool, error) {
	content, ok, err := d.file(ctx, commit, name)
	return string(content), ok, err
}
