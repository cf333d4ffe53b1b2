package doctor

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/serve/daemon"
	"github.com/petrigate/petrigate/internal/text"
)

// maxSkew is the largest accepted difference between two clocks.
const maxSkew = 30 * time.Second

// skew compares the clock of another machine with the local clock. remote is the time that the
// other machine reported at some moment between begin and now.
func (d *Doctor) skew(of string, remote, begin time.Time) Finding {
	off := remote.Sub(begin)
	if end := d.Now(); remote.After(begin) && remote.Before(end) {
		off = 0
	} else if remote.After(end) {
		off = remote.Sub(end)
	}
	if off > maxSkew || off < -maxSkew {
		return warning("synchronize the clocks with NTP: limits per hour, tokens and approvals depend on them", "the clock of %s differs from this machine's by %s", of, off.Round(time.Second))
	}
	return ok("the clocks of %s and this machine agree", of)
}

// clock compares the local clock with the clocks of all upstreams reached over HTTP.
func (d *Doctor) clock(ctx context.Context) []Finding {
	if d.loaded == nil {
		return nil
	}
	found := make([]Finding, len(d.loaded.Servers))
	var asked sync.WaitGroup
	for i, s := range d.loaded.Servers {
		if s.URL == "" || s.Disabled {
			continue
		}
		asked.Go(func() {
			begin := d.Now()
			if there, ok := dateOf(ctx, s); ok {
				found[i] = d.skew("the upstream "+s.Name, there, begin.Truncate(time.Second)) // the times in Date headers are whole seconds
			}
		})
	}
	asked.Wait()
	return slices.DeleteFunc(found, func(f Finding) bool { return f.Status == "" }) // drop upstreams whose clocks are unknown
}

// dateOf returns the time in the Date header of a server's response, whatever its status. It sends
// no credentials.
func dateOf(ctx context.Context, s config.Server) (time.Time, bool) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	secure, err := daemon.UpstreamTLS(s)
	if err != nil {
		return time.Time{}, false
	}
	at, err := url.Parse(s.URL)
	if err != nil {
		return time.Time{}, false
	}
	at.User, at.RawQuery = nil, "" // the URL's user information and query may contain secrets
	r, err := http.NewRequestWithContext(ctx, http.MethodHead, at.String(), nil)
	if err != nil {
		return time.Time{}, false
	}
	transport := &http.Transport{TLSClientConfig: secure, DisableKeepAlives: true, Proxy: http.ProxyFromEnvironment}
	answer, err := transport.RoundTrip(r) // a transport does not follow redirects
	if err != nil {
		return time.Time{}, false
	}
	_ = answer.Body.Close()
	there, err := http.ParseTime(answer.Header.Get("Date"))
	return there, err == nil
}

// listen checks that the listen address is free, and warns if it can be reached from other machines
// without protection.
func (d *Doctor) listen(ctx context.Context) []Finding {
	if d.loaded == nil || d.loaded.Listen.Stdio {
		return nil
	}
	l := d.loaded.Listen
	all := []Finding{d.port(ctx, l.HTTP)}
	if host, _, err := net.SplitHostPort(l.HTTP); err == nil && !daemon.IsLoopback(host) {
		switch {
		case l.Auth == "none":
			all = append(all, failed("set listen.auth to token or jwt", "%s is reachable from other machines without a token", l.HTTP))
		case l.TLS == nil:
			all = append(all, warning("set listen.tls, or put a TLS proxy in front", "tokens and calls to %s cross the network unencrypted", l.HTTP))
		}
	}
	return all
}

// port checks an address by trying to listen on it.
func (d *Doctor) port(ctx context.Context, address string) Finding {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err == nil {
		_ = listener.Close()
		return ok("%s is free", address)
	}
	_, port, _ := net.SplitHostPort(address)
	for _, p := range d.Proxies {
		at, parsed := url.Parse(p.Listen)
		if parsed != nil || at.Port() != port || port == "0" {
			continue
		}
		if sameFile(p.Config, d.Config) {
			return ok("a proxy with this configuration listens at %s (pid %d)", address, p.Pid)
		}
		return failed("stop that proxy, or choose another port in listen.http", "%s is in use by another petrigate (pid %d, %s)", address, p.Pid, p.Config)
	}
	if errors.Is(err, syscall.EADDRINUSE) || strings.Contains(err.Error(), "in use") {
		return failed("stop the program that uses it, or choose another port in listen.http", "%s is in use by another program", address)
	}
	return failed("correct listen.http", "cannot listen at %s: %v", address, text.Innermost(err))
}
