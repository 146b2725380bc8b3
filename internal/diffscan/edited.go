package diffscan

import "context"

// Edited names what the change has edited of what a check's line runs. The line is followed as it was in the base
// commit, some steps deep; dir is where it runs, from the top of the worktree.
func (d *Change) Edited(ctx context.Context, line, dir string) ([]EditedFile, error) {
	t := tracer{ctx: ctx, d: d, seen: map[string]bool{}}
	t.line(line, []string{dir}, 0)
	return t.edited, t.err
}
