package sandbox

import (
	"net"
	"net/netip"
	"slices"
	"strings"
)

// allowedHosts is what of the network may be spoken to. An entry is a host ("api.anthropic.com"), what is below one
// ("*.npmjs.org"), all of the public network ("*"), or a host with its port ("localhost:8080"). Without a port it is 80
// and 443.
type allowedHosts []string

// trust is how far an entry goes.
type trust int

// From least to most. A host that was named may be anywhere in a private network; of what a star stands for, nothing
// but what is public: it would open the services of this machine and the metadata of its cloud.
const (
	denied trust = iota
	public
	private
	exact // also this machine itself
)

// of says how far a host and port are trusted.
func (r allowedHosts) of(host, port string) trust {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	best := denied
	for _, entry := range r {
		entry = strings.ToLower(entry)
		name, only, hasPort := strings.Cut(entry, ":")
		if hasPort && only != port || !hasPort && port != "80" && port != "443" {
			continue
		}
		level := denied
		switch {
		case name == "*":
			level = public
		case strings.HasPrefix(name, "*."):
			if strings.HasSuffix(host, name[1:]) {
				level = private
			}
		case name == host:
			level = private
			if hasPort || net.ParseIP(name) != nil || name == "localhost" {
				level = exact
			}
		}
		best = max(best, level)
	}
	return best
}

// may reports whether a host that is trusted so far may be at an address.
func (t trust) may(at netip.Addr) bool {
	at = at.Unmap()
	switch {
	case t == exact:
		return true
	case t == denied, at.IsLoopback(), at.IsUnspecified(), at.IsLinkLocalUnicast(), at.IsMulticast(),
		at.IsInterfaceLocalMulticast():
		return false
	case t == private:
		return true
	}
	return !at.IsPrivate() && !slices.ContainsFunc(notPublic, func(p netip.Prefix) bool { return p.Contains(at) })
}

// notPublic is what netip does not call private: of carriers, of tests, the whole of 0/8, and addresses that carry an
// IPv4 address.
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("64:ff9b::/96"),
	netip.MustParsePrefix("2002::/16"),
}
