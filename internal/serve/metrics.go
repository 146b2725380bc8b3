package serve

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/github"
)

// figures are what the database knows at the moment that somebody asks. They are the same on every server.
type figures struct {
	Deliveries map[string]int64 // by result: taken since the database was made, others since this process started
	Runs       map[string]int64 // by outcome, since the database was made
	Queued     int              // jobs that wait for a place
	Delayed    int              // jobs that wait for a time
	Running    int
	Oldest     time.Duration // how long the oldest queued job waits
	Cost       float64       // US dollars, as far as known
	Tokens     map[string]int64
	Budgets    map[int64]github.Budget // by installation
}

// metrics are what GET /metrics tells, in the text format of Prometheus: the database's figures, and what this process
// has seen. Prometheus' own library would be a tenth of the binary.
type metrics struct {
	version string
	read    func(context.Context) (figures, error)
	log     *slog.Logger
	turns   *histogram
	checks  *histogram
	answers *histogram

	mu         sync.Mutex
	deliveries map[string]int64 // since this process started, by result; those that were taken are rows
}

// count counts a delivery that was not stored.
func (m *metrics) count(result string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.deliveries[result]++
}

// Names of the database's counters.
const (
	countRuns   = "ralph_runs_total"
	countTokens = "ralph_tokens_total"
	countCost   = "ralph_cost_microdollars_total"
)

// figures reads what the metrics tell.
func (sv *Server) figures(ctx context.Context) (figures, error) {
	f := figures{Runs: map[string]int64{}, Tokens: map[string]int64{}}
	sv.m.mu.Lock()
	f.Deliveries = maps.Clone(sv.m.deliveries)
	sv.m.mu.Unlock()
	counters, err := sv.s.Counters(ctx)
	if err != nil {
		return f, err
	}
	for _, c := range counters {
		switch c.Name {
		case countRuns:
			f.Runs[c.Label] = c.Value
		case countTokens:
			f.Tokens[c.Label] = c.Value
		case countCost:
			f.Cost = float64(c.Value) / 1e6
		}
	}
	if f.Deliveries[taken], err = sv.s.Delivered(ctx); err != nil {
		return f, err
	}
	waiting, delayed, oldest, err := sv.s.Depth(ctx)
	f.Queued, f.Delayed, f.Running = waiting, delayed, sv.pool.count()
	if !oldest.IsZero() {
		f.Oldest = sv.o.Clock().Sub(oldest)
	}
	if app, _, none := sv.in.current(ctx); none == nil {
		f.Budgets = app.Budgets()
	}
	return f, err
}

// longTimes are the bounds of what takes from seconds to hours, answerTimes those of answers, in seconds.
var (
	longTimes   = []float64{1, 5, 15, 60, 180, 600, 1800, 3600, 7200}
	answerTimes = []float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5}
)

func newMetrics(version string, read func(context.Context) (figures, error), log *slog.Logger) *metrics {
	return &metrics{version: version, read: read, log: log, turns: &histogram{bounds: longTimes},
		checks: &histogram{bounds: longTimes}, answers: &histogram{bounds: answerTimes}, deliveries: map[string]int64{}}
}

// ServeHTTP implements http.Handler.
func (m *metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), checkTime)
	defer cancel()
	f, err := m.read(ctx)
	up := 1
	if err != nil {
		up = 0
		m.log.Warn("metrics are without what the database knows", "error", err)
	}
	var p page
	p.all("ralph_info", "gauge", "The version that runs.", "version", map[string]int64{m.version: 1})
	p.one("ralph_database_up", "gauge", "1 when the database answers.", float64(up))
	p.histogram("ralph_webhook_seconds", "How long deliveries waited for their answer.", m.answers)
	p.histogram("ralph_turn_seconds", "How long turns of agents took.", m.turns)
	p.histogram("ralph_checks_seconds", "How long the checks of iterations took.", m.checks)
	if err == nil {
		p.figures(f)
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = io.WriteString(w, p.String())
}

// page is a text in the format of Prometheus.
type page struct{ strings.Builder }

func (p *page) figures(f figures) {
	for _, result := range []string{taken, duplicate, forged, ignored, refused} { // those that never were, too
		f.Deliveries[result] += 0
	}
	p.all("ralph_deliveries_total", "counter", "Deliveries of GitHub, by what they were.", "result", f.Deliveries)
	p.all("ralph_runs_total", "counter", "Runs that have ended, by outcome.", "outcome", f.Runs)
	p.all("ralph_tokens_total", "counter", "Tokens of turns, by kind.", "kind", f.Tokens)
	p.all("ralph_jobs", "gauge", "Jobs that have not ended, by how they stand.", "state",
		map[string]int64{"queued": int64(f.Queued), "delayed": int64(f.Delayed), "running": int64(f.Running)})
	p.one("ralph_queue_oldest_seconds", "gauge", "How long the oldest queued job waits.", f.Oldest.Seconds())
	p.one("ralph_cost_usd_total", "counter", "What turns have cost, as far as known.", f.Cost)
	left := map[string]int64{}
	for installation, b := range f.Budgets {
		left[strconv.FormatInt(installation, 10)] = int64(b.Left)
	}
	p.all("ralph_api_budget_left", "gauge", "Requests that GitHub still allows within the hour, as it said last.",
		"installation", left)
}

func (p *page) head(name, kind, help string) {
	fmt.Fprintf(p, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// one writes a metric with one value.
func (p *page) one(name, kind, help string, value float64) {
	p.head(name, kind, help)
	p.value(name, "", "", value)
}

// all writes a metric with a value for each of a label's.
func (p *page) all(name, kind, help, label string, values map[string]int64) {
	p.head(name, kind, help)
	for _, of := range slices.Sorted(maps.Keys(values)) {
		p.value(name, label, of, float64(values[of]))
	}
}

// quoteLabel makes a label's value one for the format.
var quoteLabel = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func (p *page) value(name, label, of string, value float64) {
	if label != "" {
		name += fmt.Sprintf(`{%s="%s"}`, label, quoteLabel.Replace(of))
	}
	fmt.Fprintf(p, "%s %s\n", name, strconv.FormatFloat(value, 'g', -1, 64))
}

func (p *page) histogram(name, help string, h *histogram) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p.head(name, "histogram", help)
	sum := int64(0)
	for i, bound := range h.bounds {
		if h.counts != nil {
			sum += h.counts[i]
		}
		p.value(name+"_bucket", "le", strconv.FormatFloat(bound, 'g', -1, 64), float64(sum))
	}
	p.value(name+"_bucket", "le", "+Inf", float64(h.count))
	p.value(name+"_sum", "", "", h.sum)
	p.value(name+"_count", "", "", float64(h.count))
}

// histogram counts how long things took, in seconds.
type histogram struct {
	bounds []float64

	mu     sync.Mutex
	counts []int64 // up to each bound, and above that before it
	count  int64
	sum    float64
}

func (h *histogram) observe(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.counts == nil {
		h.counts = make([]int64, len(h.bounds))
	}
	seconds := d.Seconds()
	h.count++
	h.sum += seconds
	if i, _ := slices.BinarySearch(h.bounds, seconds); i < len(h.bounds) {
		h.counts[i]++
	}
}
