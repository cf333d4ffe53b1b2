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

// httpTimeout limits each request to an authorization server, including reading the response.
const httpTimeout = 15 * time.Second

// newClient returns the HTTP client for all OAuth requests on behalf of the server s. The client
// does not follow redirects. If s is on the public network, the client refuses to connect to
// internal addresses.
func newClient(s Server) *http.Client {
	g := &guardedDialer{server: host(s.URL), trusted: []string{host(s.URL), host(s.Issuer)}, dialer: net.Dialer{Timeout: 10 * time.Second}}
	direct := &http.Transport{
		DialContext:            g.dial,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    10 * time.Second,
		ForceAttemptHTTP2:      true,
		DisableKeepAlives:      true, // requests are rare, so do not keep connections open
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

// A proxyTransport sends requests through an HTTP proxy if the environment specifies one. The proxy
// then connects to the destination and decides for itself which addresses to allow.
type proxyTransport struct{ direct, proxied *http.Transport }

// RoundTrip sends the request directly or through the proxy.
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

// A guardedDialer connects to hosts. The name of a host comes from the configuration or from a
// server. If it comes from a server, the guardedDialer refuses the addresses that [checkAddress]
// forbids. It checks the resolved address just before it connects, because another lookup of the
// name could return a different address.
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

// serverIsInternal reports whether the server is on this machine or on a private network.
func (g *guardedDialer) serverIsInternal(ctx context.Context) bool {
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", g.server)
	return err == nil && len(found) > 0 && !slices.ContainsFunc(found, func(ip netip.Addr) bool { return !inet.IsInternal(ip) })
}

// checkAddress returns an error if petrigate must not connect to an address that a server refers
// to. It always forbids the metadata addresses of cloud providers, because they provide
// credentials. It always forbids link-local, multicast and unspecified addresses, too. It allows
// other addresses of this machine and of private networks only if within is true, that is, if the
// server itself is internal.
func checkAddress(address string, within bool) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	switch ip := inet.Plain(at.Addr()); {
	case inet.IsMetadata(ip), ip.IsMulticast(), ip.IsUnspecified():
		return fmt.Errorf("a server refers to %s, a link-local or cloud metadata address; petrigate does not follow it", ip)
	case !within && inet.IsInternal(ip):
		return fmt.Errorf("a public server refers to the private address %s; petrigate does not follow it", ip)
	}
	return nil
}
