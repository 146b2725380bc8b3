package diffscan

import (
	"context"
	"path"
	"slices"
	"strings"
)

// Any reports whether the change has any of them.
func (t TestFiles) Any() bool { return len(t.Edited)+len(t.Deleted)+len(t.Added)+len(t.Within) > 0 }

// Touched are those that the base commit has, in order.
func (t TestFiles) Touched() []string {
	all := slices.Concat(t.Edited, t.Deleted)
	for name := range t.Within {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// HoldsTests reports whether a file is one that a test runner finds by its name.
func HoldsTests(name string) bool { return collected.MatchString(name) && !foreign.MatchString(name) }

// TestFiles finds them in the change.
func (d *Change) TestFiles(ctx context.Context) (t TestFiles, err error) {
	for _, name := range d.Names {
		if foreign.MatchString(name) {
			continue
		}
		found, told := collected.MatchString(name), toldBy.MatchString(name)
		if !found && !told && !testPlace.MatchString(name) {
			if path.Ext(name) == ".rs" {
				if err := d.within(ctx, name, &t); err != nil {
					return t, err
				}
			}
			continue
		}
		_, before, err := d.before(ctx, name)
		if err != nil {
			return t, err
		}
		_, after, err := d.after(ctx, name)
		if err != nil {
			return t, err
		}
		switch {
		case before && after:
			t.Edited = append(t.Edited, name)
		case before:
			t.Deleted = append(t.Deleted, name)
		case after && (found || told):
			t.Added = append(t.Added, name)
		case after:
			t.Beside = append(t.Beside, name)
		}
	}
	return t, nil
}

// within looks for tests that a file of Rust has within its code, and keeps those of the base commit.
func (d *Change) within(ctx context.Context, name string, t *TestFiles) error {
	before, had, err := d.before(ctx, name)
	if err != nil || !had || len(before) >= FileBytes {
		return err
	}
	after, has, err := d.after(ctx, name)
	if err != nil || !has || len(after) >= FileBytes {
		return err
	}
	old := rustTests(before)
	now := rustTests(after)
	if before[old.from:old.to] == after[now.from:now.to] {
		return nil
	}
	if t.Onto == nil {
		t.Within, t.Onto = map[string][]byte{}, map[string][]byte{}
	}
	if now == (span{}) {
		now = span{len(after), len(after)}
	}
	if old == (span{}) {
		old = span{len(before), len(before)}
	} else {
		t.Within[name] = []byte(after[:now.from] + before[old.from:old.to] + after[now.to:])
	}
	t.Onto[name] = []byte(before[:old.from] + after[now.from:now.to] + before[old.to:])
	return nil
}

// span is a part of a text.
type span struct{ from, to int }

var rustModule = lazy(
	`(?m)^#\[cfg\((?:test|all\(test[^\n]*)\)\]\s*(?:#\[[^\n]*\]\s*)*(?:pub(?:\([a-z]+\))? )?mod \w+ \{`)

// rustTests is the module of tests in a file of Rust: to the brace at the beginning of a line, as it is formatted. The
// zero value if it has none.
func rustTests(text string) span {
	at := rustModule.FindStringIndex(text)
	if at == nil {
		return span{}
	}
	end := strings.Index(text[at[1]:], "\n}")
	if end < 0 {
		return span{at[0], len(text)}
	}
	return span{at[0], at[1] + end + len("\n}")}
}

// TestFiles are the files of a change by which tests are judged: tests, what they need, and what says which of them
// run.
type TestFiles struct {
	Edited  []string // the base commit has them as well, with something else in them
	Deleted []string // only the base commit has them
	// Added are new files that a test runner finds by their names, or that configure it. Other new files next to tests (a
	// helper, a fixture) are not included.
	Added []string
	// Beside is what else is new where tests lie.
	Beside []string
	// Within are files of source code that hold tests among the rest, as the change has them, with the tests of the base
	// commit; Onto are the same files as the base commit has them, with the tests of the change. By name.
	Within, Onto map[string][]byte
}
