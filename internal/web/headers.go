package web

import (
	"net/http"
	"strings"
	"time"
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
		if r.Method == http.MethodPost { // whoever begins a form and does not end it holds nothing
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(formTime))
		}
		next.ServeHTTP(w, r)
	})
}

// What a form may have, in bytes, and how long it may take to come.
const (
	mostForm = 64 << 10
	formTime = 10 * time.Second
)

// ownHost refuses requests under other names: a page of someone else whose name leads here must not speak for a
// person who is signed in.
func (s *Server) ownHost(next http.Handler, refuse http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.EqualFold(r.Host, s.Public.Host) {
			refuse(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}
