package diffscan

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// Weakenings finds everything that was made weaker, in the order of kinds and files. partial says why not all of the
// change could be read; it is empty if it could.
func (d *Change) Weakenings(ctx context.Context) (weakenings []Weakening, partial string, err error) {
	weakenings, unread, err := d.lowered(ctx)
	if err != nil {
		return nil, "", err
	}
	weakenings = slices.Concat(weakenings, d.silenced(), d.steered(), d.asked())
	slices.SortStableFunc(weakenings, func(a, b Weakening) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	if unread > 0 {
		return weakenings, fmt.Sprintf("%d further files of settings were not looked through", unread), nil
	}
	return weakenings, d.Partial, nil
}

// OnlyJudges reports whether the change touches nothing but what judges: tests, settings, prose.
func (d *Change) OnlyJudges() bool {
	for _, name := range d.Names {
		own := isTest(name) || isSetting(name) || prose.MatchString(name) || fixtures.MatchString(name) ||
			matchesAny(keptFiles, name)
		if !own {
			return false
		}
	}
	return true
}
