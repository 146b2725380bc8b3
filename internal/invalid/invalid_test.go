package invalid

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
)

func TestIs(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"none":           {nil, false},
		"another":        {fs.ErrNotExist, false},
		"made":           {Errorf("flag --x is %q", "y"), true},
		"marked":         {Mark(fs.ErrNotExist), true},
		"wrapped":        {fmt.Errorf("reading: %w", Errorf("no")), true},
		"joined":         {errors.Join(fs.ErrNotExist, Errorf("no")), true},
		"nil marked":     {Mark(nil), false},
		"another's word": {mine{}, true},
	} {
		if got := Is(c.err); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if err := Mark(fs.ErrNotExist); !errors.Is(err, fs.ErrNotExist) || err.Error() != fs.ErrNotExist.Error() {
		t.Errorf("a marked error is another one: %v", err)
	}
}

type mine struct{}

func (mine) Error() string { return "mine" }
func (mine) Invalid() bool { return true }

// A message has its address, whoever has wrapped or marked it since.
func TestText(t *testing.T) {
	told := Errorf("flag --%s is %q (%[2]s): %.1f%% of it; must be a %w", "x", "y", 1.5, fs.ErrNotExist)
	const more = "\nMore: https://ralph-loop.github.io/ralph/errors#e-flag-is-of-it-must-be-a"
	for _, err := range []error{told, fmt.Errorf("reading: %w", told), Mark(fmt.Errorf("reading: %w", told))} {
		if got := Text(err); got != err.Error()+more {
			t.Errorf("%q is told as %q", err, got)
		}
	}
	if err := Errorf("%s: %w", "a/file", told); Text(err) != err.Error()+more {
		t.Errorf("a message of two blanks is told as %q", Text(err))
	}
	for _, err := range []error{Mark(fs.ErrNotExist), Errorf("RALPH_X_FILE: %w", fs.ErrNotExist)} {
		if got := Text(err); got != err.Error() {
			t.Errorf("a message that the page has not is told as %q", got)
		}
	}
}
