package web

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// answerTime is how long a page waits for what GitHub says of its reader.
const answerTime = 900 * time.Millisecond

// guarded answers the routes and nothing else.
func (s *Server) guarded(table []route) http.Handler {
	mux := http.NewServeMux()
	for _, rt := range table {
		mux.HandleFunc(rt.pattern, func(w http.ResponseWriter, r *http.Request) {
			soon, cancel := context.WithTimeout(r.Context(), answerTime)
			defer cancel()
			a := &asked{Server: s, w: w, r: r, soon: soon}
			err := a.admitted(rt)
			if err == nil {
				err = rt.answer(a)
			}
			if err != nil {
				a.problem(err)
			}
		})
	}
	refuse := func(err error) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { (&asked{Server: s, w: w, r: r}).problem(err) }
	}
	mux.HandleFunc("/", refuse(errHidden))
	crossOrigin := http.NewCrossOriginProtection()
	crossOrigin.SetDenyHandler(refuse(errForeign))
	ours := crossOrigin.Handler(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.setHeaders(w.Header())
		r.Body = http.MaxBytesReader(w, r.Body, mostForm)
		if r.Method == http.MethodPost { // whoever begins a form and does not end it holds nothing
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(formTime))
		}
		// a page of someone else whose name leads here must not speak for a person who is signed in
		if !strings.EqualFold(r.Host, s.Public.Host) {
			refuse(errOtherHost)(w, r)
			return
		}
		ours.ServeHTTP(w, r)
	})
}

// admitted finds out who asks about what, and whether they may. It is the only place that does.
func (a *asked) admitted(rt route) error {
	if err := a.identify(); err != nil {
		return err
	}
	if rt.need == anybody || rt.need == settingUp && a.setsUp() {
		return nil
	}
	if a.who.Login == "" || a.who.Guest && (rt.need > reader || a.r.Method == http.MethodPost) { // guests read
		return errSignIn
	}
	if a.alone != nil { // there is one run, and its token was shown
		if a.may = MayRead; rt.need == signedIn {
			return nil
		}
		return a.find(a.r.Context())
	}
	operates := make(chan error, 1)
	go func() { // at the same time as the other requests
		is, err := ask(a.Access.Operator, a.soon, a.who)
		a.operator = is && err == nil
		operates <- err
	}()
	if rt.need == operator || rt.need == settingUp {
		if err := <-operates; err != nil || a.operator {
			return err
		}
		return errHidden
	}
	if rt.need == signedIn {
		if err := <-operates; errors.Is(err, ErrSignedOut) {
			return err
		}
		return nil // at worst without the links of operators
	}
	err := a.find(a.r.Context())
	if err == nil && a.repository != "" {
		a.may, err = ask(func(ctx context.Context, who Identity) (Permission, error) {
			return a.Access.Permission(ctx, who, strings.ToLower(a.repository))
		}, a.soon, a.who)
	}
	unknown := <-operates
	switch {
	case err != nil:
		return err
	case a.repository == "" && unknown != nil:
		return unknown
	case a.repository == "" && a.delivery.ID != "" && a.operator: // it concerns no repository
		a.may = MayWrite
	case a.repository == "", a.may < permissions[rt.need], permissions[rt.need] == NoPermission:
		return errHidden // also for a mistake in the table
	}
	return nil
}

// find reads what the address names. Where it names nothing, nothing is found.
func (a *asked) find(ctx context.Context) (err error) {
	if id := a.r.PathValue("run"); id != "" {
		row, err := a.Runs.Run(ctx, id)
		a.run, a.repository = shown(row), row.Repository
		return err
	}
	if id := a.r.PathValue("delivery"); id != "" {
		a.delivery, err = a.Lists.Delivery(ctx, id)
		a.repository = a.delivery.Repository
		return err
	}
	a.repository = a.r.PathValue("owner") + "/" + a.r.PathValue("name")
	return nil
}

// guest is a reader of open pages. No login has a space.
var guest = Identity{Login: "a guest", Guest: true}

// Loopback reports whether a host is this machine and nothing else: "127.0.0.1", "::1", "localhost".
func Loopback(host string) bool {
	return strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}

// passing are the headers that proxies add for another client.
var passing = []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip",
	"Cf-Connecting-Ip"}

// Here reports whether a request is of someone on this machine. One that a proxy sends for another client is not.
func Here(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	return err == nil && net.ParseIP(host).IsLoopback() &&
		!slices.ContainsFunc(passing, func(name string) bool { return r.Header.Get(name) != "" })
}

// Address is the IP address of who asks. A proxy on this machine or its network is believed about whom it passes on: the
// last address that X-Forwarded-For has, which the proxy itself has put there.
func Address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	list := r.Header.Values("X-Forwarded-For")
	if at := net.ParseIP(host); len(list) == 0 || !at.IsLoopback() && !at.IsPrivate() {
		return host
	}
	last := list[len(list)-1]
	if given := net.ParseIP(strings.TrimSpace(last[strings.LastIndex(last, ",")+1:])); given != nil {
		return given.String()
	}
	return host
}

// policy lets a page load our own files and nothing else, and send forms nowhere but here.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'; form-action 'self'"

// setHeaders says to browsers what no page of ours needs.
func (s *Server) setHeaders(h http.Header) {
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
}

// Bounds of a form: its size in bytes, and how long it may take to arrive.
const (
	mostForm = 64 << 10
	formTime = 10 * time.Second
)
