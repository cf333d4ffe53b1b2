package proxy

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Access says who may speak to the HTTP endpoint. The zero value lets nobody
// in: it wants a Token, or Open on a loopback address.
type Access struct {
	Addr    string        // where the listener is, host:port
	Token   string        // bearer token that every request must carry
	Open    bool          // no token; only on a loopback address
	Hosts   []string      // further Host headers to accept, with a port or for any
	Origins []string      // further Origin headers to accept, as scheme://host[:port]
	IdleTTL time.Duration // of sessions; 0: an hour
}

// A guard stands before the endpoint. Each of its checks refuses by itself.
type guard struct {
	open    bool
	token   [32]byte
	port    string
	hosts   map[string]bool
	origins map[string]bool
}

func newGuard(a Access) (*guard, error) {
	host, port, err := net.SplitHostPort(a.Addr)
	if err != nil {
		return nil, err
	}
	switch {
	case a.Token == "" && !a.Open:
		return nil, errors.New("the HTTP listener has no authentication: give it a token")
	case a.Token == "" && !loopback(host):
		return nil, errors.New("the listener at " + a.Addr + " can be reached from other machines: it wants authentication, auth: token")
	}
	g := &guard{open: a.Token == "", token: sha256.Sum256([]byte(a.Token)), port: port, hosts: map[string]bool{}, origins: map[string]bool{}}
	for _, h := range append(a.Hosts, host) {
		g.hosts[strings.ToLower(h)] = true
	}
	for _, name := range []string{"localhost", "127.0.0.1", "[::1]"} {
		g.hosts[name+":"+port] = true
	}
	for _, o := range a.Origins {
		g.origins[strings.ToLower(strings.TrimSuffix(o, "/"))] = true
	}
	return g, nil
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// admit checks Host, Origin and token, in this order, and names the principal.
func (g *guard) admit(w http.ResponseWriter, r *http.Request) (principal string, ok bool) {
	switch {
	case !g.hostAllowed(r.Host):
		http.Error(w, "this Host is not allowed", http.StatusForbidden)
	case !g.originAllowed(r.Header.Values("Origin")):
		http.Error(w, "this Origin is not allowed", http.StatusForbidden)
	case g.open:
		return "anonymous", true
	case g.tokenValid(r.Header.Values("Authorization")):
		return "token", true
	default:
		w.Header().Set("WWW-Authenticate", `Bearer realm="petrigate"`)
		http.Error(w, "a bearer token is needed", http.StatusUnauthorized)
	}
	return "", false
}

// hostAllowed accepts the names of loopback with our port, the address of the
// listener, and what the operator listed. It stands against DNS rebinding.
func (g *guard) hostAllowed(header string) bool {
	if g.hosts[header] {
		return true
	}
	header = strings.ToLower(header)
	if g.hosts[header] {
		return true
	}
	host, port, err := net.SplitHostPort(header)
	return err == nil && port == g.port && (loopback(host) || g.hosts[host])
}

// originAllowed accepts no Origin, one of this machine, or one that the
// operator listed.
func (g *guard) originAllowed(values []string) bool {
	if len(values) == 0 {
		return true
	}
	if len(values) > 1 {
		return false
	}
	if g.origins[strings.ToLower(values[0])] {
		return true
	}
	u, err := url.Parse(values[0])
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.User == nil && u.Path == "" && loopback(u.Hostname())
}

// tokenValid compares in constant time.
func (g *guard) tokenValid(values []string) bool {
	if len(values) != 1 {
		return false
	}
	scheme, token, found := strings.Cut(values[0], " ")
	sum := sha256.Sum256([]byte(token))
	return found && strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(sum[:], g.token[:]) == 1
}
