package gateway

import (
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// timed asks once, by a connection that stays, and says when the first byte came and how many there were.
func timed(client *http.Client, to, bearer, body string) (time.Duration, int64) {
	r := must(http.NewRequest("POST", to+messages, strings.NewReader(body)))
	r.Header.Set("x-api-key", bearer)
	began := time.Now()
	answer := must(client.Do(r))
	defer answer.Body.Close()
	must(io.ReadFull(answer.Body, make([]byte, 1)))
	first := time.Since(began)
	return first, must(io.Copy(io.Discard, answer.Body)) + 1
}

// BenchmarkFirstByte is what the gateway adds to the first byte of an answer to 50 kB, in the middle of all.
func BenchmarkFirstByte(b *testing.B) {
	p := newProvider(b, says(messageStart+messageEnd))
	turn := opened(b, p, nil)
	client, body := &http.Client{Transport: &http.Transport{}}, `{"model":"m","x":"`+strings.Repeat("x", 50<<10)+`"}`
	var bare, through []time.Duration
	for b.Loop() {
		d, _ := timed(client, p.URL, theKey, body)
		bare = append(bare, d)
		d, _ = timed(client, turn.URL(), turn.Bearer(), body)
		through = append(through, d)
	}
	slices.Sort(bare)
	slices.Sort(through)
	b.ReportMetric(float64(through[len(through)/2]-bare[len(bare)/2])/1e6, "added-ms/request")
}

// BenchmarkMeter is how fast an answer is read, without the network: short events, and long ones.
func BenchmarkMeter(b *testing.B) {
	for _, c := range []struct{ name, said string }{
		{"short", strings.Repeat(messageText, 10000)},
		{"long", strings.Repeat(strings.Replace(messageText, "twelve", strings.Repeat(`word\n`, 800), 1), 300)},
		{"document", `{"content":"` + strings.Repeat(`a line\n`, 200000) + `"}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			said := []byte(c.said)
			b.SetBytes(int64(len(said)))
			for b.Loop() {
				a := newAnswer(&tally{protocol: Anthropic})
				for rest := said; len(rest) > 0; rest = rest[min(len(rest), bufferSize):] {
					a.write(rest[:min(len(rest), bufferSize)])
				}
			}
		})
	}
}

// BenchmarkStream is a stream of 256 MB of events of 4 kB through the gateway, and what memory is held afterwards.
// Client and provider are in the same process and share its processors.
func BenchmarkStream(b *testing.B) {
	const size = 256 << 20
	piece := strings.Repeat(strings.Replace(messageText, "twelve", strings.Repeat("word ", 800), 1), 16)
	p := newProvider(b, func(w http.ResponseWriter, _ *http.Request) {
		for n := 0; n < size; n += len(piece) {
			_, _ = io.WriteString(w, piece)
		}
	})
	turn := opened(b, p, nil)
	client := &http.Client{Transport: &http.Transport{ReadBufferSize: bufferSize}}
	for _, c := range []struct{ name, url, bearer string }{{"bare", p.URL, theKey},
		{"gateway", turn.URL(), turn.Bearer()}} {
		b.Run(c.name, func(b *testing.B) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			used, size := cpuTime(), int64(0)
			for b.Loop() {
				_, n := timed(client, c.url, c.bearer, "{}")
				b.SetBytes(n)
				size += n
			}
			b.ReportMetric(float64(size)/1e6/(cpuTime()-used).Seconds(), "MB/cpu-s")
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(after.HeapInuse+after.StackInuse-before.HeapInuse-before.StackInuse)/(1<<20), "MB-held")
		})
	}
}
