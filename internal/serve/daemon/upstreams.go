package daemon

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy"
)

// upstreams returns the configured servers, each with its token source.
func (d *Daemon) upstreams() ([]proxy.Upstream, error) {
	var list []proxy.Upstream
	for _, s := range d.config.Servers {
		if s.Disabled {
			continue
		}
		u := proxy.Upstream{
			Name: s.Name, Command: s.Command, Args: s.Args, Env: s.Env, Dir: s.Cwd,
			URL: s.URL, SSE: s.Type == "sse", Headers: s.Headers, Protocol: s.Protocol, Timeout: s.Timeout,
			Limits: proxy.Limits(s.Limits), Isolation: s.Isolation, Tools: proxy.ToolFilter(s.Tools),
		}
		if s.HasPrefix {
			u.Prefix = &s.Prefix
		}
		var err error
		if u.TLS, err = UpstreamTLS(s); err != nil {
			return nil, err
		}
		tokens, err := tokenSource(d.config, s, d.log)
		if err != nil {
			return nil, err
		}
		if tokens != nil {
			u.Credentials, d.tokens = tokens, append(d.tokens, tokens)
		}
		list = append(list, u)
	}
	return list, nil
}

// UpstreamTLS returns the TLS configuration for connections to the server, or nil if the system
// defaults apply.
func UpstreamTLS(s config.Server) (*tls.Config, error) {
	c, err := clientTLS(s.TLS)
	if err != nil {
		return nil, &InvalidError{fmt.Errorf("%s: reading the tls of the server %s: %w", s.Position, s.Name, err)}
	}
	return c, nil
}

// clientTLS returns the TLS configuration for connections to a server. If t is nil, it returns nil;
// the system's certificate authorities then apply and no client certificate is sent.
func clientTLS(t *config.ServerTLS) (*tls.Config, error) {
	if t == nil {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if t.CA != "" {
		pem, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.CA, text.Innermost(err))
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s: there is no certificate in PEM", t.CA)
		}
	}
	if t.Cert != "" {
		pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, err
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
