package serve

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"strings"

	"github.com/ralph-loop/ralph/internal/web"
)

// near reports whether a request is of somebody on this machine, or brings the token, which nobody has where it is
// empty. What a proxy on this machine passes on comes from it as well: it says so, or asks under the public name.
func near(r *http.Request, token string) bool {
	if given, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); bearer && token != "" {
		want, got := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(given))
		return subtle.ConstantTimeCompare(want[:], got[:]) == 1
	}
	from, _, _ := net.SplitHostPort(r.RemoteAddr)
	asked, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		asked = strings.Trim(r.Host, "[]")
	}
	return net.ParseIP(from).IsLoopback() && web.Loopback(asked) && !web.PassedOn(r)
}

// onlyNear answers nobody else.
func onlyNear(next http.Handler, token string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !near(r, token) {
			http.Error(w, "metrics are told on this machine alone, or with RALPH_METRICS_TOKEN as a bearer",
				http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
