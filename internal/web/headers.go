package web

import (
	"embed"
	"io/fs"
	"net/http"
	"strings"
	"sync"

	"crypto/sha256"
	"encoding/hex"

	"github.com/ralph-loop/ralph/internal/report/html"
)

// policy lets a page load our own files and nothing else, and send forms nowhere but here.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'; form-action 'self'"

// withHeaders says to browsers what no page of ours needs.
func (s *Server) withHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		// not no-referrer, with which forms would be sent without their origin
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
		h.Set("Cache-Control", "no-store")
		if s.secure {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		r.Body = http.MaxBytesReader(w, r.Body, mostForm)
		next.ServeHTTP(w, r)
	})
}

// mostForm is how many bytes a form may have.
const mostForm = 64 << 10

// ownHost refuses requests under other names: a page of somebody else whose name leads here must not speak for a
// person who is signed in.
func (s *Server) ownHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.EqualFold(r.Host, s.Public.Host) {
			(&asked{Server: s, w: w, r: r}).problem(errOtherHost)
			return
		}
		next.ServeHTTP(w, r)
	})
}

//go:embed static
var staticFiles embed.FS

// files are what pages load, by name. Their addresses have a part of their sum, so that browsers may keep them for good.
var files = sync.OnceValue(func() map[string]file {
	all := map[string]file{}
	add := func(name, kind string, content []byte) {
		sum := sha256.Sum256(content)
		all[name] = file{kind, hex.EncodeToString(sum[:6]), content}
	}
	for name, kind := range map[string]string{"htmx.min.js": script, "hx-sse.min.js": script, "page.js": script,
		"web.css": "text/css; charset=utf-8", "icon.svg": "image/svg+xml"} {
		content, err := fs.ReadFile(staticFiles, "static/"+name)
		if err != nil { // it is built in
			panic(err)
		}
		add(name, kind, content)
	}
	add("report.css", "text/css; charset=utf-8", []byte(html.Looks()))
	return all
})

const script = "text/javascript; charset=utf-8"

type file struct {
	kind, sum string
	content   []byte
}

// address is where a page finds a file.
func address(name string) string { return "/static/" + name + "?" + files()[name].sum }

func (a *asked) static() error {
	f, ok := files()[a.r.PathValue("file")]
	if !ok {
		return errHidden
	}
	h := a.w.Header()
	h.Set("Content-Type", f.kind)
	if a.r.URL.RawQuery == f.sum {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	_, _ = a.w.Write(f.content) // whoever hangs up does not want it
	return nil
}
