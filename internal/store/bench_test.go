package store

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"
)

// BenchmarkDeliver stores 200 deliveries of 10 kB a second, each at its time whether the one before is stored or not,
// and says how long after its time one is stored: -benchtime 20s makes 4,000 of them.
func BenchmarkDeliver(b *testing.B) {
	s := got[*Store](b)(Open(b.Context(), Options{Dir: b.TempDir()}))
	defer s.Close()
	payload := bytes.Repeat([]byte(`{"key":"value"}`), 683)
	took := make([]time.Duration, b.N)
	var all sync.WaitGroup
	b.ResetTimer()
	begun := time.Now()
	for i := range b.N {
		planned := begun.Add(time.Duration(i) * 5 * time.Millisecond)
		time.Sleep(time.Until(planned))
		all.Go(func() {
			d := delivery(fmt.Sprintf("%08x-%d", uint32(i)*2654435761, i)) // not in order, as GitHub's are
			d.Payload = payload
			if fresh, err := s.Deliver(b.Context(), d); !fresh || err != nil {
				b.Error(fresh, err)
			}
			took[i] = time.Since(planned)
		})
	}
	all.Wait()
	b.StopTimer()
	slices.Sort(took)
	for unit, share := range map[string]float64{"p50-ms": 0.5, "p99-ms": 0.99, "p99.9-ms": 0.999, "max-ms": 1} {
		at := took[min(int(share*float64(b.N)), b.N-1)]
		b.ReportMetric(float64(at)/float64(time.Millisecond), unit)
	}
	if n, err := s.Delivered(b.Context()); err != nil || n != int64(b.N) {
		b.Error(n, "of", b.N, "are stored:", err)
	}
}
