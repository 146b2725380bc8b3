//go:build unix

package proc_test

import (
	"context"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/proc"
)

// measured adds our own CPU time, without our children's, and the peak of our memory to a benchmark.
func measured(b *testing.B, loop func()) {
	b.Helper()
	b.ReportAllocs()
	began := own(b)
	loop()
	b.ReportMetric(float64(own(b)-began)/float64(b.N), "cpu-ns/op")
	if status, err := os.ReadFile("/proc/self/status"); err == nil { // rusage would tell the peak of whoever started us
		_, rest, _ := strings.Cut(string(status), "VmHWM:")
		kilobytes, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
		b.ReportMetric(kilobytes/1024, "peak-MB")
	}
}

func own(b *testing.B) time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		b.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

func benchmark(b *testing.B, s proc.Spec) {
	s.Env = []string{"PATH=" + os.Getenv("PATH")}
	measured(b, func() {
		for b.Loop() {
			if r, err := proc.Run(context.Background(), s); err != nil || r.Exit != 0 {
				b.Fatal(r, err)
			}
		}
	})
}

func BenchmarkRunTrue(b *testing.B) { benchmark(b, proc.Spec{Argv: []string{"true"}}) }

// BenchmarkBareTrue is what os/exec itself takes.
func BenchmarkBareTrue(b *testing.B) {
	measured(b, func() {
		for b.Loop() {
			if err := exec.Command("true").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// The bar of both is 30 MB: one line of 200 MB, and 200 MB of lines.
func BenchmarkRun200MB(b *testing.B) {
	for name, script := range map[string]string{
		"line":  "head -c " + strconv.Itoa(200<<20) + " /dev/zero",
		"lines": "yes 'a line of an agent that says much and often' | head -c " + strconv.Itoa(200<<20),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(200 << 20)
			tail := proc.NewTail(16<<10, 48<<10)
			log := must(proc.CreateLog(b.TempDir()+"/log", 64<<20))
			defer log.Close()
			benchmark(b, proc.Spec{Argv: []string{"sh", "-c", script}, Stdout: io.MultiWriter(log, tail)})
		})
	}
}
