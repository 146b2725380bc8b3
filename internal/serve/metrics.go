package serve

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics are what GET /metrics tells: what this process has seen, and what the database knows.
type metrics struct {
	http.Handler
	deliveries    *prometheus.CounterVec // that were not stored, by result
	answers       *prometheus.HistogramVec
	turns, checks prometheus.Histogram
}

// Names of the database's counters.
const (
	countRuns   = "ralph_runs_total"
	countTokens = "ralph_tokens_total"
	countCost   = "ralph_cost_microdollars_total"
)

// Metrics with the same name have the same help.
const (
	deliveriesName = "ralph_deliveries_total"
	deliveriesHelp = "Deliveries of GitHub, by what they were."
)

func newMetrics(version string, known prometheus.Collector) *metrics {
	registry := prometheus.NewRegistry()
	made := promauto.With(registry)
	seconds := func(name, help string, bounds ...float64) prometheus.Histogram {
		return made.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: bounds})
	}
	long := []float64{1, 5, 15, 60, 180, 600, 1800, 3600, 7200}
	made.NewGaugeFunc(prometheus.GaugeOpts{Name: "ralph_info", Help: "The version that runs.",
		ConstLabels: prometheus.Labels{"version": version}}, func() float64 { return 1 })
	m := &metrics{Handler: promhttp.HandlerFor(registry, promhttp.HandlerOpts{}),
		deliveries: made.NewCounterVec(prometheus.CounterOpts{Name: deliveriesName, Help: deliveriesHelp}, []string{"result"}),
		turns:      seconds("ralph_turn_seconds", "How long turns of agents took.", long...),
		checks:     seconds("ralph_checks_seconds", "How long the checks of iterations took.", long...),
		answers: made.NewHistogramVec(prometheus.HistogramOpts{Name: "ralph_webhook_seconds",
			Help:    "How long deliveries waited for their answer.",
			Buckets: []float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5}}, nil)}
	for _, result := range []string{duplicate, forged, ignored, refused} { // those that never were, too
		m.deliveries.WithLabelValues(result)
	}
	if known != nil {
		registry.MustRegister(known)
	}
	return m
}

// count counts a delivery; those that are taken are rows.
func (m *metrics) count(result string) {
	if result != taken {
		m.deliveries.WithLabelValues(result).Inc()
	}
}

// known is what the database knows at the moment that someone asks. It implements prometheus.Collector.
type known struct {
	read func(context.Context) ([]figure, error)
	log  *slog.Logger
}

// figure is a metric with its values by those of a label; without a label there is one.
type figure struct {
	name, help, label string
	kind              prometheus.ValueType
	values            map[string]float64
}

// Describe implements prometheus.Collector: what there is depends on the rows.
func (known) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (k known) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), checkTime)
	defer cancel()
	up := 1.0
	figures, err := k.read(ctx)
	if err != nil {
		up = 0
		k.log.Warn("metrics are without what the database knows", "error", err)
	}
	figures = append(figures, figure{"ralph_database_up", "1 when the database answers.", "", prometheus.GaugeValue, single(up)})
	for _, f := range figures {
		for of, value := range f.values {
			if f.label == "" {
				to <- prometheus.MustNewConstMetric(prometheus.NewDesc(f.name, f.help, nil, nil), f.kind, value)
				continue
			}
			to <- prometheus.MustNewConstMetric(prometheus.NewDesc(f.name, f.help, []string{f.label}, nil), f.kind, value, of)
		}
	}
}

func single(value float64) map[string]float64 { return map[string]float64{"": value} }

// figures are what the database knows.
func (sv *Server) figures(ctx context.Context) ([]figure, error) {
	counters, err := sv.s.Counters(ctx)
	if err != nil {
		return nil, err
	}
	by := map[string]map[string]float64{countRuns: {}, countTokens: {}, countCost: {"": 0}}
	for _, c := range counters {
		if of := by[c.Name]; of != nil {
			of[c.Label] = float64(c.Value)
		}
	}
	stored, err := sv.s.Delivered(ctx)
	if err != nil {
		return nil, err
	}
	waiting, delayed, oldest, err := sv.s.Depth(ctx)
	if err != nil {
		return nil, err
	}
	age, left := time.Duration(0), map[string]float64{}
	if !oldest.IsZero() {
		age = sv.o.Clock().Sub(oldest)
	}
	if app, none := sv.in.current(ctx); none == nil {
		for installation, b := range app.Budgets() {
			left[strconv.FormatInt(installation, 10)] = float64(b.Left)
		}
	}
	return []figure{
		{deliveriesName, deliveriesHelp, "result", prometheus.CounterValue, map[string]float64{taken: float64(stored)}},
		{countRuns, "Runs that have ended, by outcome.", "outcome", prometheus.CounterValue, by[countRuns]},
		{countTokens, "Tokens of turns, by kind.", "kind", prometheus.CounterValue, by[countTokens]},
		{"ralph_jobs", "Jobs that have not ended, by how they stand.", "state", prometheus.GaugeValue,
			map[string]float64{"queued": float64(waiting), "delayed": float64(delayed), "running": float64(sv.pool.count(false))}},
		{"ralph_queue_oldest_seconds", "How long the oldest queued job waits.", "", prometheus.GaugeValue, single(age.Seconds())},
		{"ralph_cost_usd_total", "What turns have cost, as far as known.", "", prometheus.CounterValue,
			single(by[countCost][""] / 1e6)},
		{"ralph_api_budget_left", "Requests that GitHub still allows within the hour, as it said last.", "installation",
			prometheus.GaugeValue, left},
	}, nil
}
