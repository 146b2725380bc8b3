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

// BenchmarkRecords reads ten thousand records of a run that has as many.
func BenchmarkRecords(b *testing.B) {
	s := got[*Store](b)(Open(b.Context(), Options{Dir: b.TempDir()}))
	defer s.Close()
	records := make([]Record, 10_000)
	for i := range records {
		records[i] = Record{Number: int64(i + 1), Kind: "output", Body: bytes.Repeat([]byte("x"), 500)}
	}
	ok(b, s.Append(b.Context(), "a", records))
	for b.Loop() {
		if n := len(got[[]Record](b)(s.Records(b.Context(), "a", 0, len(records)))); n != len(records) {
			b.Error(n)
		}
	}
}

// BenchmarkOpen opens a database that is there.
func BenchmarkOpen(b *testing.B) {
	o := Options{Dir: b.TempDir()}
	for b.Loop() {
		ok(b, got[*Store](b)(Open(b.Context(), o)).Close())
	}
}
