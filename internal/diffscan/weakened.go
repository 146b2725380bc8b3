package diffscan

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// Weakenings finds everything that was made weaker, in the order of kinds and files. partial says why not all of the
// change could be looked through; it is empty when it could.
func (d *Change) Weakenings(ctx context.Context, failed Failed) (weakenings []Weakening, partial string, err error) {
	tests, unread, err := d.suites(ctx)
	if err != nil {
		return nil, "", err
	}
	weakenings = tests.weakenings(failed)
	settings, err := d.lowered(ctx)
	if err != nil {
		return nil, "", err
	}
	weakenings = append(weakenings, settings...)
	weakenings = append(weakenings, d.silenced()...)
	weakenings = append(weakenings, d.snapshots()...)
	weakenings = append(weakenings, d.steered()...)
	weakenings = append(weakenings, d.asked()...)
	slices.SortStableFunc(weakenings, func(a, b Weakening) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	if unread > 0 {
		return weakenings, fmt.Sprintf("%d further files of tests were not looked through", unread), nil
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
