package sandbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
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
				Mode: mode, Trees: Trees{Dir: b.TempDir()}, Parent: os.Environ(), Reach: Reach{Network: []string{"proxy.golang.org"}}, self: self,
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

// BenchmarkHome is how long it takes to make a home anew that has 500 MiB in 2,000 files.
func BenchmarkHome(b *testing.B) {
	dir := b.TempDir()
	s := &Sandbox{maker: &landlocked{}, scratch: dir, o: Options{Log: func(string, ...any) {}}}
	if err := s.prepareHome(Setup); err != nil {
		b.Fatal(err)
	}
	content := make([]byte, 250<<10)
	for i := range 2000 {
		name := filepath.Join(s.dirs(Setup).home, "packages", fmt.Sprint(i%50), fmt.Sprint(i))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(name, content, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := s.SealHome(); err != nil {
		b.Fatal(err)
	}
	if err := s.prepareHome(Checks); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.FreshHome(); err != nil {
			b.Fatal(err)
		}
	}
}
