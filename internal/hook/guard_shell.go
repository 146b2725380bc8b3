package hook

import (
	"maps"
	"slices"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// walk goes over the calls of a script in the order of its text: every branch, both sides of && and ||, each body once.
type walk struct {
	world     *Environment
	steps     int
	handed    int
	depth     int
	defaulted map[string]bool // the variables that have a default somewhere: ${x:-rm}
	found     *finding
	err       error // why it cannot be followed
}

// shell is what a shell knows at one point: values that the text itself assigns, nothing else.
type shell struct {
	vars    map[string]expand.Variable
	args    []string // $1…
	cwd     string
	funcs   map[string]*syntax.Stmt
	written map[string]string // what the script itself has written to files, by their absolute paths
}

func newWalk(w *Environment) *walk {
	return &walk{world: w, steps: mostSteps, handed: mostHanded, defaulted: map[string]bool{}}
}

func newShell(cwd string) *shell {
	return &shell{map[string]expand.Variable{}, nil, cwd, map[string]*syntax.Stmt{}, map[string]string{}}
}

func (sh *shell) clone() *shell {
	return &shell{maps.Clone(sh.vars), slices.Clone(sh.args), sh.cwd, maps.Clone(sh.funcs), maps.Clone(sh.written)}
}

func (w *walk) done() bool { return w.found != nil || w.err != nil }

func (w *walk) step() bool {
	if w.steps--; w.steps < 0 && w.err == nil {
		w.err = errTooLong
	}
	return !w.done()
}

// deeper follows something within, unless that is too deep.
func (w *walk) deeper(f func()) {
	if w.depth >= mostNesting {
		w.err = errTooDeep
		return
	}
	w.depth++
	f()
	w.depth--
}
