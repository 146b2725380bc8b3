package journal

import (
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
)

func start(run string) loop.Record {
	return loop.Record{Type: loop.Started, At: time.Unix(0, 0).UTC(),
		Start: &loop.Start{Run: run, Task: "issue-1", MaxIterations: 5}}
}

func open(t *testing.T, dir string) *Journal {
	t.Helper()
	j, err := Open(dir)
	noError(t, err)
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func TestForeignLinesAreNamed(t *testing.T) {
	for text, want := range map[string]string{
		"{}\n":                       "line 1: a record of the unknown type",
		"not json\n":                 "line 1 is not a record",
		`{"type":"started"}` + "\n":  "line 1: a started record without its content",
		`{"type":"invented"}` + "\n": "written by a newer ralph",
	} {
		if _, _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Read(%.30q): %v, want %q", text, err, want)
		}
	}
}

// xs is a line without an end.
type xs struct{}

func (xs) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// TestLongLine: no more of a line is held than a record may have, whether it ends or not.
func TestLongLine(t *testing.T) {
	for _, tt := range []struct {
		size      int
		end, want string
	}{
		{maxLine - 1, "\n", "line 1 is not a record"},
		{maxLine, "\n", "line 1 is longer than 4194304 bytes"},
		{64 * maxLine, "\n", "line 1 is longer than 4194304 bytes"},
		{64 * maxLine, "", ""}, // nobody finished it
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		records, whole, err := Read(io.MultiReader(io.LimitReader(xs{}, int64(tt.size)), strings.NewReader(tt.end)))
		runtime.ReadMemStats(&after)
		if records != nil || whole != 0 || err == nil != (tt.want == "") || err != nil &&
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%d bytes and %q: %d records, %v, want %q", tt.size, tt.end, len(records), err, tt.want)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 12*maxLine {
			t.Errorf("%d bytes: %d were allocated", tt.size, used)
		}
	}
}
