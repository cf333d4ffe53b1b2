package httpguard

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// addresses holds the settings that determine which Host and Origin headers the endpoint accepts.
type addresses struct {
	port    string
	hosts   map[string]bool
	origins map[string]bool
}

func newAddresses(access Access, host, port string) addresses {
	a := addresses{port: port, hosts: map[string]bool{}, origins: map[string]bool{}}
	for _, h := range access.Hosts {
		a.hosts[strings.ToLower(h)] = true
	}
	if !isUnspecified(host) { // web pages can send requests to 0.0.0.0
		a.hosts[strings.ToLower(host)] = true
	}
	usual := map[bool]string{false: "80", true: "443"}[access.TLS] // default port, which clients omit from the Host header
	for _, name := range []string{"localhost", "127.0.0.1", "[::1]"} {
		a.hosts[name+":"+port] = true
		a.hosts[name] = a.hosts[name] || port == usual
	}
	for _, origin := range access.Origins {
		a.origins[strings.ToLower(strings.TrimSuffix(origin, "/"))] = true
	}
	return a
}

// allow reports whether a request is meant for this endpoint and does not come from a page of
// another site. If it returns false, it has written an error response.
func (a *addresses) allow(w http.ResponseWriter, r *http.Request) bool {
	switch {
	case !a.hostAllowed(r.Host):
		Reject(w)
		http.Error(w, "this Host is not allowed", http.StatusForbidden)
	case !a.originAllowed(r.Header["Origin"]):
		Reject(w)
		http.Error(w, "this Origin is not allowed", http.StatusForbidden)
	default:
		return true
	}
	return false
}

// hostAllowed reports whether the Host header is acceptable: a loopback name with the listener's
// port, the listener's address, or a host listed by the operator. This prevents DNS rebinding.
func (a *addresses) hostAllowed(header string) bool {
	if a.hosts[header] {
		return true
	}
	header = strings.ToLower(header)
	if a.hosts[header] {
		return true
	}
	host, port, err := net.SplitHostPort(header)
	return err == nil && port == a.port && (loopback(host) || a.hosts[host])
}

// originAllowed reports whether the Origin header is acceptable: missing, an origin on this
// machine, or one listed by the operator.
func (a *addresses) originAllowed(values []string) bool {
	if len(values) == 0 {
		return true
	}
	if len(values) > 1 {
		return false
	}
	if a.origins[strings.ToLower(values[0])] {
		return true
	}
	u, err := url.Parse(values[0])
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	host := u.Hostname()
	return loopback(host) && *u == url.URL{Scheme: u.Scheme, Host: u.Host} // an origin has no path, no query and no user
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// isUnspecified reports whether a listener with this host listens on all interfaces.
func isUnspecified(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "" || err == nil && ip.Unmap().WithZone("").IsUnspecified()
}
