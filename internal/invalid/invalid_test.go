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
