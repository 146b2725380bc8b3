package journal

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
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
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func TestReopenedJournalTellsTheSame(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir)
	for _, r := range []loop.Record{start("r"), {Type: loop.TurnBegun, Iteration: 1, Mode: loop.Implement}} {
		if _, err := j.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	again := open(t, dir).State()
	if again.Start.Run != "r" || again.Turning == nil || again.Turning.Iteration != 1 || again.Records != 2 {
		t.Errorf("state = %+v", again)
	}
}

func TestUnfinishedLineIsCutOff(t *testing.T) {
	dir := t.TempDir()
	if _, err := open(t, dir).Append(start("r")); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, File)
	whole, _ := os.ReadFile(name)
	if err := os.WriteFile(name, append(whole, `{"type":"turned","tu`...), 0o600); err != nil {
		t.Fatal(err)
	}
	j := open(t, dir)
	if _, err := j.Append(loop.Record{Type: loop.TurnBegun, Iteration: 1}); err != nil {
		t.Fatal(err)
	}
	records, _, err := Read(bytes.NewReader(j.Bytes()))
	if err != nil || len(records) != 2 {
		t.Errorf("%d records, %v; want 2", len(records), err)
	}
	if onDisk, _ := os.ReadFile(name); !bytes.Equal(onDisk, j.Bytes()) {
		t.Error("the file and Bytes differ")
	}
}

func TestForeignLinesAreNamed(t *testing.T) {
	for text, want := range map[string]string{
		"{}\n":                                 "line 1: a record of the unknown type",
		"not json\n":                           "line 1 is not a record",
		`{"type":"started"}` + "\n":            "line 1: a started record without its content",
		`{"type":"invented"}` + "\n":           "written by a newer ralph",
		strings.Repeat("x", maxLine+10) + "\n": "longer than",
	} {
		if _, _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Read(%.30q): %v, want %q", text, err, want)
		}
	}
}

// ends gives n bytes of one line, and then maybe its end.
type ends struct {
	n   int
	end string
}

func (r *ends) Read(p []byte) (int, error) {
	if r.n == 0 {
		n := copy(p, r.end)
		if r.end = r.end[n:]; n == 0 {
			return 0, io.EOF
		}
		return n, nil
	}
	n := min(len(p), r.n)
	for i := range p[:n] {
		p[i] = 'x'
	}
	r.n -= n
	return n, nil
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
		records, whole, err := Read(&ends{tt.size, tt.end})
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
