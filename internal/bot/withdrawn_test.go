package bot

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/actions"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
)

// TestOutputsOfAJobThatCannotBegin: later steps find an outcome whatever is wrong with the inputs.
func TestOutputsOfAJobThatCannotBegin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	environ := w.environ("issues", nil)
	wrong := WrongInputs(actions.New(func(name string) string { return environ[name] }, &w.out), errors.New("input x is wrong"))
	result, err := w.action(context.Background(), "", nil)
	if wrong != nil || result.Outcome != loop.Invalid || !invalid.Reported(err) {
		t.Errorf("%v; without an event, outcome %s, %v", wrong, result.Outcome, err)
	}
	if out := w.file("output"); strings.Count(out, "\ninvalid\n") != 2 || strings.Count(out, "\nfailure\n") != 2 {
		t.Errorf("outputs: %s", out)
	}
}
