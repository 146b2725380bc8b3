package session

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
)

// TestAgreeToNone: a person is asked once on a machine; who says no, or nothing, has nothing run.
func TestAgreeToNone(t *testing.T) {
	for _, row := range []struct {
		answer string
		err    error
		runs   bool
	}{
		{"y", nil, true}, {"Yes", nil, true}, {"", nil, false}, {"n", nil, false}, {"maybe", nil, false},
		{"", io.EOF, false},
	} {
		asked := 0
		home := t.TempDir()
		s := Session{Parent: []string{"HOME=" + home, "XDG_STATE_HOME=" + filepath.Join(home, "state")}}
		s.Ask = func(question string) (string, error) {
			asked++
			if !strings.Contains(question, "bwrap: bubblewrap is not installed") || !strings.Contains(question, "[y/N]") {
				t.Errorf("asked: %s", question)
			}
			return row.answer, row.err
		}
		for range 2 {
			if err := s.AgreeToNone("bwrap: bubblewrap is not installed"); (err == nil) != row.runs {
				t.Errorf("%q: %v", row.answer, err)
			}
		}
		if want := map[bool]int{true: 1, false: 2}[row.runs]; asked != want {
			t.Errorf("%q: asked %d times, want %d", row.answer, asked, want)
		}
	}
	home := t.TempDir()
	nobody := Session{Parent: []string{"HOME=" + home}}
	if err := nobody.AgreeToNone("why"); err != nil {
		t.Errorf("where nobody is there: %v", err)
	}
	if entries, err := os.ReadDir(home); err != nil || len(entries) > 0 {
		t.Errorf("nobody has agreed, and %v is remembered, %v", entries, err)
	}
}

// TestResumeOrFresh: a person is asked about an unfinished run only if a turn of it has begun.
func TestResumeOrFresh(t *testing.T) {
	for _, turning := range []*loop.Turning{nil, {Iteration: 1}} {
		asked := 0
		s := Session{Clock: time.Now, Ask: func(string) (string, error) { asked++; return "f", nil }}
		way, why, err := s.ResumeMode(loop.State{Start: loop.Start{Run: "r", Task: "t"}, Records: 1, Turning: turning}, true, true)
		if want := map[bool]loop.ResumeMode{true: loop.Continue, false: loop.Begin}[turning == nil]; err != nil || way != want ||
			(asked > 0) != (turning != nil) {
			t.Errorf("%v: %s, %s, %v, asked %d times", turning, way, why, err, asked)
		}
	}
}
