package sandbox

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/proc"
)

// BenchmarkStart is what a process costs from its start to its end: plain, and in each box.
func BenchmarkStart(b *testing.B) {
	for _, mode := range []string{Off, Bwrap, Landlock} {
		b.Run(mode, func(b *testing.B) {
			self := os.Getenv("RALPH_BINARY") // a whole ralph; else these tests
			s, err := Open(context.Background(), Options{
				Mode: mode, Dir: b.TempDir(), Parent: os.Environ(), Network: []string{"proxy.golang.org"}, self: self,
			})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			var took []time.Duration
			for b.Loop() {
				begun := time.Now()
				r, err := proc.Run(context.Background(),
					proc.Spec{Argv: []string{"/bin/true"}, Dir: "/", Env: []string{"PATH=" + os.Getenv("PATH")}, Box: s.Box(Checks)})
				if err != nil || r.Exit != 0 {
					b.Fatalf("%+v %v", r, err)
				}
				took = append(took, time.Since(begun))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "median-ms")
		})
	}
}
