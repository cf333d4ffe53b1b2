package webhook

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"github.com/petrigate/petrigate/internal/inet"
)

const (
	postTimeout  = 10 * time.Second // time limit for a request, including its response
	maxResponse  = 64 << 10         // maximum number of bytes to read from a response
	maxErrorText = 200              // maximum length of a displayed error, in bytes
)

// newClient returns the HTTP client for a single URL. The client does not follow redirects. If the
// URL does not use TLS, the client connects only to this machine, even if the host name resolves to
// another address.
func newClient(at *url.URL, secure *tls.Config) *http.Client {
	if secure == nil {
		secure = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	plain := at.Scheme != "https"
	dialer := net.Dialer{Timeout: postTimeout, Control: func(_, address string, _ syscall.RawConn) error { return checkAddress(address, plain) }}
	t := &http.Transport{
		DialContext:            dialer.DialContext,
		TLSClientConfig:        secure,
		MaxResponseHeaderBytes: maxResponse,
		IdleConnTimeout:        time.Minute,
		MaxIdleConnsPerHost:    maxConcurrent,
		ForceAttemptHTTP2:      true,
	}
	if !plain {
		t.Proxy = http.ProxyFromEnvironment
	}
	return &http.Client{
		Timeout: postTimeout, Transport: t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// checkAddress returns an error if events must not be posted to the address.
func checkAddress(address string, plain bool) error {
	at, err := netip.ParseAddrPort(address)
	switch {
	case err != nil:
		return fmt.Errorf("the address %q is invalid", address)
	case plain && !inet.Plain(at.Addr()).IsLoopback():
		return fmt.Errorf("%s is not on this machine: the webhook requires https", at.Addr())
	case inet.IsMetadata(at.Addr()):
		return fmt.Errorf("%s is a link-local or cloud metadata address; the webhook does not post there", at.Addr())
	}
	return nil
}
