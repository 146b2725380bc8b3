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
)

// metrics are what GET /metrics tells, in the text format of Prometheus: the database's figures, and what this process
// has seen. Prometheus' own library would be a tenth of the binary.
type metrics struct {
	version string
	read    func(context.Context, *page) error // what the database knows
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

// figures writes what the database knows at the moment that somebody asks.
func (sv *Server) figures(ctx context.Context, p *page) error {
	counters, err := sv.s.Counters(ctx)
	if err != nil {
		return err
	}
	runs, tokens, cost := map[string]int64{}, map[string]int64{}, 0.0
	for _, c := range counters {
		switch c.Name {
		case countRuns:
			runs[c.Label] = c.Value
		case countTokens:
			tokens[c.Label] = c.Value
		case countCost:
			cost = float64(c.Value) / 1e6
		}
	}
	deliveries := map[string]int64{duplicate: 0, forged: 0, ignored: 0, refused: 0} // those that never were, too
	sv.m.mu.Lock()
	maps.Copy(deliveries, sv.m.deliveries)
	sv.m.mu.Unlock()
	if deliveries[taken], err = sv.s.Delivered(ctx); err != nil {
		return err
	}
	waiting, delayed, oldest, err := sv.s.Depth(ctx)
	if err != nil {
		return err
	}
	age, left := time.Duration(0), map[string]int64{}
	if !oldest.IsZero() {
		age = sv.o.Clock().Sub(oldest)
	}
	if app, _, none := sv.in.current(ctx); none == nil {
		for installation, b := range app.Budgets() {
			left[strconv.FormatInt(installation, 10)] = int64(b.Left)
		}
	}
	p.all("ralph_deliveries_total", "counter", "Deliveries of GitHub, by what they were.", "result", deliveries)
	p.all("ralph_runs_total", "counter", "Runs that have ended, by outcome.", "outcome", runs)
	p.all("ralph_tokens_total", "counter", "Tokens of turns, by kind.", "kind", tokens)
	p.all("ralph_jobs", "gauge", "Jobs that have not ended, by how they stand.", "state",
		map[string]int64{"queued": int64(waiting), "delayed": int64(delayed), "running": int64(sv.pool.count(false))})
	p.one("ralph_queue_oldest_seconds", "gauge", "How long the oldest queued job waits.", age.Seconds())
	p.one("ralph_cost_usd_total", "counter", "What turns have cost, as far as known.", cost)
	p.all("ralph_api_budget_left", "gauge", "Requests that GitHub still allows within the hour, as it said last.",
		"installation", left)
	return nil
}

// longTimes are the bounds of what takes from seconds to hours, answerTimes those of answers, in seconds.
var (
	longTimes   = []float64{1, 5, 15, 60, 180, 600, 1800, 3600, 7200}
	answerTimes = []float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5}
)

func newMetrics(version string, read func(context.Context, *page) error, log *slog.Logger) *metrics {
	return &metrics{version: version, read: read, log: log, turns: &histogram{bounds: longTimes},
		checks: &histogram{bounds: longTimes}, answers: &histogram{bounds: answerTimes}, deliveries: map[string]int64{}}
}

// ServeHTTP implements http.Handler.
func (m *metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), checkTime)
	defer cancel()
	var p, known page
	up := 1.0
	if err := m.read(ctx, &known); err != nil {
		up = 0
		m.log.Warn("metrics are without what the database knows", "error", err)
	}
	p.all("ralph_info", "gauge", "The version that runs.", "version", map[string]int64{m.version: 1})
	p.one("ralph_database_up", "gauge", "1 when the database answers.", up)
	p.histogram("ralph_webhook_seconds", "How long deliveries waited for their answer.", m.answers)
	p.histogram("ralph_turn_seconds", "How long turns of agents took.", m.turns)
	p.histogram("ralph_checks_seconds", "How long the checks of iterations took.", m.checks)
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = io.WriteString(w, p.String()+known.String())
}

// page is a text in the format of Prometheus.
type page struct{ strings.Builder }

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
