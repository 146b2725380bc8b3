package sandbox

import (
	"fmt"
	"path/filepath"
	"strconv"
)

// judged reports whether a directory is in the tree that checks run in, and where that is in a box: at the worktree's
// own path.
func (o *Options) judged(dir string) (at string, ok bool) {
	if o.Judge == "" || dir == "" {
		return dir, false
	}
	if at, err := real(dir); err == nil {
		dir = at
	}
	if !over(o.Judge, dir) {
		return dir, false
	}
	rel, _ := filepath.Rel(o.Judge, dir)
	return filepath.Join(clone(o.Dir, o.Home), rel), true
}

// objectsAt is where a box has the nth directory of objects.
func objectsAt(n int) string { return boxDir + "/objects/" + strconv.Itoa(n) }

// judgeTree shows the tree of the checks at the worktree's path, with the objects that it borrows, which must not be
// written.
func (b *bwrap) judgeTree() (args []string) {
	args = append(args, "--bind", b.s.o.Judge, clone(b.s.o.Dir, b.s.o.Home))
	for i, dir := range b.s.o.Objects {
		args = append(args, "--ro-bind", dir, objectsAt(i))
		if alternates := filepath.Join(dir, "info", "alternates"); exists(alternates) { // each of them is here by itself
			args = append(args, "--ro-bind", b.s.nothing(), filepath.Join(objectsAt(i), "info", "alternates"))
		}
	}
	return args
}

// writableIn are the paths that may be written beside a tree. Those in the worktree are no part of the tree of the
// checks.
func (b *bwrap) writableIn(judge bool) (args []string) {
	for _, path := range b.s.o.Writable {
		if judge && over(clone(b.s.o.Dir, b.s.o.Home), path) {
			continue
		}
		args = append(args, "--bind", path, path)
	}
	return args
}

// judge is the machine of the checks: they share none with an agent.
func (m *microVM) judge() (*microVM, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.checks != nil || m.checksErr != nil {
		return m.checks, m.checksErr
	}
	c := &microVM{s: m.s, program: m.program, dir: m.s.o.Judge, name: machineName(m.s.o.Judge), env: m.env}
	if m.checksErr = c.ready(); m.checksErr != nil {
		m.checksErr = fmt.Errorf("making the sandbox of the checks: %w", m.checksErr)
		return nil, m.checksErr
	}
	m.checks = c
	return c, nil
}
