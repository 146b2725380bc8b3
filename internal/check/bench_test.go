//go:build unix

package check

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/proc"
)

// BenchmarkOutput is what a failing check's output of 100 MB costs: kept, logged, counted, echoed and judged. What a
// pipe takes is not in it.
func BenchmarkOutput(b *testing.B) {
	const size, chunk = 100 << 20, 64 << 10
	for _, c := range []struct {
		name string
		line func(i int) string
	}{
		{"go test -v", func(i int) string {
			return fmt.Sprintf("=== RUN   TestThing%d\n    thing_test.go:%d: checking value %d of %d\n--- PASS: TestThing%d "+
				"(0.0%ds)\n",
				i, i%90+10, i, i*7, i, i%9)
		}},
		{"go test -json", func(i int) string {
			const event = `{"Time":"2026-11-21T12:00:00.123456789Z","Action":"%s","Package":"example.com/x","Test":"TestThing%d"%s}` + "\n"
			return fmt.Sprintf(event, "run", i, "") +
				fmt.Sprintf(event, "output", i, `,"Output":"    thing_test.go:12: checking the value\n"`) +
				fmt.Sprintf(event, "pass", i, `,"Elapsed":0.01`)
		}},
		{"progress", func(i int) string {
			return fmt.Sprintf("\r\x1b[2K\x1b[1;32m[%3d%%]\x1b[0m Building \x1b[36mmodule_%d.c\x1b[0m", i%100, i)
		}},
		{"one line", func(int) string { return strings.Repeat("x", 1<<10) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			var text bytes.Buffer
			for i := 0; text.Len() < 16*chunk; i++ {
				text.WriteString(c.line(i))
			}
			whole := text.Bytes()[:16*chunk]
			check := &Command{Title: "test", Line: "make test", Hard: true,
				Place: Place{LogDir: b.TempDir(), Console: io.Discard}}
			check.start = func(_ context.Context, s proc.Spec) (proc.Result, error) {
				for at := 0; at < size; at += chunk {
					_, _ = s.Stdout.Write(whole[at%len(whole):][:chunk])
				}
				return proc.Result{Class: proc.Exited, Exit: 1}, nil
			}
			b.SetBytes(size)
			begun := spent(b)
			for b.Loop() {
				if v, err := check.Run(context.Background(), Input{}); err != nil || v.Pass {
					b.Fatal(v, err)
				}
			}
			b.ReportMetric((spent(b)-begun).Seconds()/float64(b.N), "cpu-s/100MB")
		})
	}
}

// spent is the processor time of this process so far.
func spent(b *testing.B) time.Duration {
	b.Helper()
	var use syscall.Rusage
	noError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &use))
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
