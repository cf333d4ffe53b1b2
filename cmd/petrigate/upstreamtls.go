package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/text"
)

// upstreamTLS reads the files by which a server is known; nil: it is known in
// the usual way.
func upstreamTLS(s config.Server) (*tls.Config, error) {
	if s.TLS == nil {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: s.TLS.ServerName}
	if s.TLS.CA != "" {
		pem, err := os.ReadFile(s.TLS.CA)
		if err != nil {
			return nil, tlsError(s, fmt.Errorf("%s: %w", s.TLS.CA, text.Innermost(err)))
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, tlsError(s, fmt.Errorf("%s: there is no certificate in PEM", s.TLS.CA))
		}
	}
	if s.TLS.Cert != "" {
		pair, err := tls.LoadX509KeyPair(s.TLS.Cert, s.TLS.Key)
		if err != nil {
			return nil, tlsError(s, err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

func tlsError(s config.Server, err error) error {
	return &exit{exitInvalid, fmt.Errorf("%s: reading the tls of the server %s: %w", s.Position, s.Name, err)}
}
