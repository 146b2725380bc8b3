package sandbox

import (
	"errors"
	"strings"
	"testing"
)

// TestWithoutAnySandbox: at a person's own machine auto falls back to none, and only if the person agrees.
func TestWithoutAnySandbox(t *testing.T) {
	var heard, logged string
	o := Options{Mode: Auto, Log: func(string, ...any) { logged = "yes" }}
	if s, err := o.without([]string{"bwrap: no", "landlock: no"}); err != nil || s.Mode != Off || logged == "" {
		t.Errorf("asking nobody: %+v, %v, %s", s, err, logged)
	}
	o.None = func(why string) error { heard = why; return nil }
	if s, err := o.without([]string{"bwrap: no", "landlock: no"}); err != nil || s.Mode != Off {
		t.Errorf("agreed: %+v, %v", s, err)
	}
	if heard != "bwrap: no; landlock: no" {
		t.Errorf("heard %q", heard)
	}
	o.None = func(string) error { return errors.New("nothing was run") }
	var missing *UnavailableError
	s, err := o.without(nil)
	if s != nil || !errors.As(err, &missing) || !strings.Contains(err.Error(), "nothing was run") {
		t.Errorf("not agreed: %+v, %v", s, err)
	}
}
