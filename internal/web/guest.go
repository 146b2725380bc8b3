package web

import (
	"net"
	"net/http"
	"strings"
)

// guest is whoever reads pages that are open. No login has a space.
var guest = Identity{Person: Person{Login: "a guest"}, Guest: true}

// Loopback reports whether a host is this machine and nothing else: "127.0.0.1", "::1", "localhost".
func Loopback(host string) bool {
	return strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}

// PassedOn reports whether a proxy says that somebody else asks.
func PassedOn(r *http.Request) bool {
	for _, name := range []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto",
		"X-Real-Ip", "Cf-Connecting-Ip"} {
		if r.Header.Get(name) != "" {
			return true
		}
	}
	return false
}

// isGuest reports whether somebody who has not signed in may read nevertheless. What was passed on comes from elsewhere,
// whatever address passed it on. That no page of somebody else asks under another name of this machine, ownHost has seen.
func (a *asked) isGuest() bool {
	if !a.Open || a.alone || PassedOn(a.r) {
		return false
	}
	host, _, err := net.SplitHostPort(a.r.RemoteAddr)
	return err == nil && net.ParseIP(host).IsLoopback()
}

// forGuests reports whether a guest may ask for something: what is read, and needs no more than that.
func forGuests(rt route, method string) bool {
	return (method == http.MethodGet || method == http.MethodHead) && (rt.need == signedIn || rt.need == reader)
}
