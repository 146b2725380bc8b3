package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/safetext"
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
func (sv *Server) probes() []probe {
	return []probe{{"database", sv.s.Check}, diskProbe(sv.o.Data, freeBytes), clockProbe(sv.drift),
		{"app", func(ctx context.Context) error {
			_, err := sv.in.current(ctx)
			return err
		}}}
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
				c.OK, c.Error = false, safetext.FirstRunes(safetext.OneLine(err.Error()), 300)
			}
			list = append(list, c)
		}
		return list, nil
	})
	return list, err == nil && !slices.ContainsFunc(list, func(c condition) bool { return !c.OK })
}

// diskProbe says when too little is free where the data lies.
func diskProbe(dir string, free func(string) (int64, error)) probe {
	return probe{"disk", func(context.Context) error { return room(dir, leastDisk, free) }}
}

// room says when less than that many bytes are free where a directory lies.
func room(dir string, least int64, free func(string) (int64, error)) error {
	left, err := free(dir)
	if err != nil {
		return fmt.Errorf("looking at the disk of %s: %w", dir, err)
	}
	if left < least {
		return fmt.Errorf("%s are free where %s lies; ralph needs %s: remove something, or give it a larger disk",
			safetext.Bytes(left), dir, safetext.Bytes(leastDisk))
	}
	return nil
}

// clockProbe says when our clock is off GitHub's.
func clockProbe(drift func(context.Context) (time.Duration, bool)) probe {
	return probe{"clock", func(ctx context.Context) error {
		if d, known := drift(ctx); known && d.Abs() > mostDrift {
			return fmt.Errorf("this machine's clock is %s off GitHub's, which refuses the App's signatures then: set it by NTP",
				d.Abs().Round(time.Second))
		}
		return nil
	}}
}

// alive answers GET /healthz: the process runs and serves.
func alive(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = fmt.Fprintln(w, "ralph serve is alive")
}
