package oauth

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"syscall"
	"time"

	"github.com/petrigate/petrigate/internal/inet"
)

// httpTimeout limits one request to an authorization server, including its response.
const httpTimeout = 15 * time.Second

// newClient returns the client for all requests that s causes. The client follows no redirects, and
// connects to no internal address if s is on the public network.
func newClient(s Server) *http.Client {
	g := &guardedDialer{server: host(s.URL), trusted: []string{host(s.URL), host(s.Issuer)}, dialer: net.Dialer{Timeout: 10 * time.Second}}
	direct := &http.Transport{
		DialContext:            g.dial,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    10 * time.Second,
		ForceAttemptHTTP2:      true,
		DisableKeepAlives:      true, // requests are few and far between
		MaxResponseHeaderBytes: 64 << 10,
	}
	proxied := direct.Clone()
	proxied.Proxy, proxied.DialContext = http.ProxyFromEnvironment, nil
	return &http.Client{
		Timeout:       httpTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     proxyTransport{direct: direct, proxied: proxied},
	}
}

func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// A proxyTransport sends requests through the HTTP proxy of the environment, if one is configured
// for them. The proxy then connects, and decides itself which addresses it allows.
type proxyTransport struct{ direct, proxied *http.Transport }

// RoundTrip sends the request, directly or through a proxy.
func (c proxyTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	if !isSecure(request.URL.String()) {
		return nil, errors.New("the address does not begin with https://")
	}
	request = request.Clone(request.Context())
	request.Header.Set("User-Agent", "petrigate")
	if proxy, err := http.ProxyFromEnvironment(request); proxy != nil || err != nil {
		return c.proxied.RoundTrip(request)
	}
	return c.direct.RoundTrip(request)
}

// A guardedDialer connects to addresses named by a server. It checks the resolved address, so that
// a name cannot resolve to another address after the check.
type guardedDialer struct {
	server  string
	trusted []string // hosts named in the configuration
	dialer  net.Dialer
}

func (g *guardedDialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	name, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	dialer := g.dialer
	if !slices.Contains(g.trusted, name) {
		within := g.serverIsInternal(ctx)
		dialer.Control = func(_, resolved string, _ syscall.RawConn) error { return checkAddress(resolved, within) }
	}
	return dialer.DialContext(ctx, network, address)
}

// serverIsInternal reports whether the server itself is on this machine or its networks.
func (g *guardedDialer) serverIsInternal(ctx context.Context) bool {
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", g.server)
	return err == nil && len(found) > 0 && !slices.ContainsFunc(found, func(ip netip.Addr) bool { return !inet.IsInternal(ip) })
}

// checkAddress refuses addresses that a server must not lead petrigate to: the metadata addresses
// of clouds, which hand out credentials, and, unless the server is internal itself, this machine
// and its networks.
func checkAddress(address string, within bool) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	switch ip := inet.Plain(at.Addr()); {
	case inet.IsMetadata(ip), ip.IsMulticast(), ip.IsUnspecified():
		return fmt.Errorf("a server refers to %s, a link-local address or one of a cloud's metadata service; petrigate does not follow it", ip)
	case !within && inet.IsInternal(ip):
		return fmt.Errorf("a public server refers to the private address %s; petrigate does not follow it", ip)
	}
	return nil
}
