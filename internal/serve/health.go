package serve

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/web"
)

const (
	checkTime   = 3 * time.Second  // for all that readiness asks
	checkAge    = 5 * time.Second  // an answer is kept as long, so that probes cost nothing
	leastDisk   = int64(512) << 20 // bytes that must be free where the data lies
	leastToGoOn = int64(64) << 20  // and for a job to continue
	mostDrift   = 30 * time.Second // an App's token is refused when our clock is a minute off
)

// probe is one thing that this process needs.
type probe struct {
	name  string
	check func(context.Context) error
}

// readiness answers GET /readyz with what this process needs and how each stands: 200 when all is well, 503 when not.
type readiness struct {
	probes []probe
	token  string // RALPH_METRICS_TOKEN
	looks  lookups[[]condition]
}

// probes are what this process needs.
func (p *parts) probes() []probe {
	return []probe{
		{"database", p.s.Check},
		{"disk", func(context.Context) error { return room(p.o.Data, leastDisk) }},
		{"clock", p.clock},
		{"app", func(ctx context.Context) error {
			_, err := p.in.current(ctx)
			return err
		}},
	}
}

// condition is how one need stands.
type condition struct {
	Name  string `json:"name"`
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
}

// ServeHTTP implements http.Handler.
func (r *readiness) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	list, ok := r.look(req.Context())
	if list = slices.Clone(list); !near(req, r.token) { // what is wrong has addresses and paths in it
		for i := range list {
			if !list[i].OK {
				list[i].Error = "ralph serve ready says what is wrong, on this machine"
			}
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if !ok {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"ready": ok, "checks": list})
}

// look asks each probe.
func (r *readiness) look(ctx context.Context) ([]condition, bool) {
	list, err := r.looks.of(ctx, "", func(ctx context.Context) (list []condition, _ error) {
		ctx, cancel := context.WithTimeout(ctx, checkTime)
		defer cancel()
		for _, p := range r.probes {
			c := condition{Name: p.name, OK: true}
			if err := p.check(ctx); err != nil {
				c.OK, c.Error = false, brief(err, 300)
			}
			list = append(list, c)
		}
		return list, nil
	})
	return list, err == nil && !slices.ContainsFunc(list, func(c condition) bool { return !c.OK })
}

// room says when less than that many bytes are free where a directory lies.
func room(dir string, least int64) error {
	left, err := freeBytes(dir)
	if err != nil {
		return fmt.Errorf("looking at the disk of %s: %w", dir, err)
	}
	if left < least {
		return fmt.Errorf("%s are free where %s lies; ralph needs %s: remove something, or give it a larger disk",
			safetext.Bytes(left), dir, safetext.Bytes(leastDisk))
	}
	return nil
}

// clock fails when our clock is far off GitHub's, as far as an answer has told. It asks GitHub again before it fails,
// because someone may have set the clock.
func (p *parts) clock(ctx context.Context) error {
	app, err := p.in.current(ctx)
	if err != nil {
		return nil // another probe says that
	}
	if app.ClockOff().Abs() > mostDrift {
		_, _ = app.Self(ctx)
	}
	if off := app.ClockOff().Abs(); off > mostDrift {
		return fmt.Errorf("this machine's clock is %s off GitHub's, which refuses the App's signatures then: set it by NTP",
			off.Round(time.Second))
	}
	return nil
}

// alive answers GET /healthz: the process runs and serves.
func alive(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = fmt.Fprintln(w, "ralph serve is alive")
}

// near reports whether a request is of someone on this machine, or brings the token, which no one has where it is
// empty. What a proxy on this machine passes on comes from it as well: it says so, or asks under the public name.
func near(r *http.Request, token string) bool {
	if given, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); bearer && token != "" {
		want, got := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(given))
		return subtle.ConstantTimeCompare(want[:], got[:]) == 1
	}
	asked, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		asked = strings.Trim(r.Host, "[]")
	}
	return web.Here(r) && web.Loopback(asked)
}

// onlyNear answers no one else.
func onlyNear(next http.Handler, token string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !near(r, token) {
			http.Error(w, "metrics are only for this machine, or with RALPH_METRICS_TOKEN as a bearer",
				http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// metrics are what GET /metrics tells: what this process has seen, and what the database knows.
type metrics struct {
	http.Handler
	deliveries    *prometheus.CounterVec // that were not stored, by result
	answers       *prometheus.HistogramVec
	turns, checks prometheus.Histogram
	tokens, cost  prometheus.Counter
}

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
		tokens:     made.NewCounter(prometheus.CounterOpts{Name: "ralph_tokens_total", Help: "Tokens of turns and reviews."}),
		cost: made.NewCounter(prometheus.CounterOpts{Name: "ralph_cost_usd_total",
			Help: "What turns and reviews have cost, as far as known."}),
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
	*parts
	pool *pool
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
	figures, err := k.figures(ctx)
	if err != nil {
		up = 0
		k.o.Log.Warn("metrics are without what the database knows", "error", err)
	}
	figures = append(figures, figure{"ralph_database_up", "1 when the database answers.", "", prometheus.GaugeValue, single(up)})
	for _, f := range figures {
		for of, value := range f.values {
			labels := strings.Fields(f.label) // one, or none
			to <- prometheus.MustNewConstMetric(prometheus.NewDesc(f.name, f.help, labels, nil), f.kind, value, []string{of}[:len(labels)]...)
		}
	}
}

func single(value float64) map[string]float64 { return map[string]float64{"": value} }

// figures are what the database knows.
func (k known) figures(ctx context.Context) ([]figure, error) {
	counted, err := k.s.Ended(ctx)
	if err != nil {
		return nil, err
	}
	ended := map[string]float64{}
	for _, c := range counted {
		ended[c.State] = float64(c.Runs)
	}
	stored, err := k.s.Delivered(ctx)
	if err != nil {
		return nil, err
	}
	waiting, delayed, oldest, err := k.s.Depth(ctx)
	if err != nil {
		return nil, err
	}
	age, left := time.Duration(0), map[string]float64{}
	if !oldest.IsZero() {
		age = k.o.Clock().Sub(oldest)
	}
	if app, none := k.in.current(ctx); none == nil {
		for installation, calls := range app.Budgets() {
			left[strconv.FormatInt(installation, 10)] = float64(calls)
		}
	}
	return []figure{
		{deliveriesName, deliveriesHelp, "result", prometheus.CounterValue, map[string]float64{taken: float64(stored)}},
		{"ralph_runs_total", "Runs that have ended, by outcome.", "outcome", prometheus.CounterValue, ended},
		{"ralph_jobs", "Jobs that have not ended, by how they stand.", "state", prometheus.GaugeValue,
			map[string]float64{"queued": float64(waiting), "delayed": float64(delayed), "running": float64(k.pool.count(false))}},
		{"ralph_queue_oldest_seconds", "How long the oldest queued job waits.", "", prometheus.GaugeValue, single(age.Seconds())},
		{"ralph_api_budget_left", "Requests that GitHub still allows within the hour, as it said last.", "installation",
			prometheus.GaugeValue, left},
	}, nil
}
