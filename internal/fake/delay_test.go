package fake

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestDelayEnds lets a client go away during a delay: nothing may be done for it.
func TestDelayEnds(t *testing.T) {
	g := &GitHub{running: t.Context()}
	g.Fail(Fault{Delay: time.Hour})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := httptest.NewRecorder()
	g.faulty(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the request was carried out")
	})).ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodPost, "/api/v3/x", strings.NewReader("{}")))
	if w.Code != statusGone {
		t.Errorf("the status in the log is %d, want %d", w.Code, statusGone)
	}
}
