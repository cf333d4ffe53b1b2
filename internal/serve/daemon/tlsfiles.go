package daemon

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/text"
)

// TLSProblems returns the problems with the TLS files of the listener and of the servers that are
// not disabled. The second parameter is the severity to report if a file cannot be read. It should
// be [diag.Warning] if the configuration may be intended for another machine or user.
func TLSProblems(c *config.Config, missing diag.Severity) diag.List {
	var all diag.List
	if t := c.Listen.TLS; t != nil {
		f := &tlsSection{section: t, missing: missing}
		f.checkPair(t.Cert, t.Key)
		all = f.problems
	}
	for _, s := range c.Servers {
		if s.TLS == nil || s.Disabled {
			continue
		}
		f := &tlsSection{section: s.TLS, missing: missing}
		f.checkAuthorities(s.TLS.CA)
		f.checkPair(s.TLS.Cert, s.TLS.Key)
		all = append(all, f.problems...)
	}
	slices.SortStableFunc(all, func(a, b diag.Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return all
}

// A tlsSection is one configuration section named "tls".
type tlsSection struct {
	section interface {
		Of(key, text string) config.Position
		Excerpt(line, column int) string
	}
	missing  diag.Severity
	problems diag.List
}

func (f *tlsSection) report(severity diag.Severity, code, key, msg, hint string) {
	at := f.section.Of(key, "")
	p := check.Warning(code, at, msg, hint)
	p.Severity, p.Excerpt = severity, f.section.Excerpt(at.Line, at.Column)
	f.problems = append(f.problems, p)
}

// read returns the content of the file named by the given configuration key. It returns nil if the
// file cannot be read.
func (f *tlsSection) read(key, path string) []byte {
	if path == "" {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		code := check.UnusableTLS
		if f.missing == diag.Warning {
			code = check.MissingTLS
		}
		f.report(f.missing, code, key, fmt.Sprintf("reading %s: %v", path, text.Innermost(err)), "")
		return nil
	}
	return data
}

// checkAuthorities checks the file that contains the certificate authorities for a server.
func (f *tlsSection) checkAuthorities(path string) {
	certs := f.certificates("ca", path, f.read("ca", path))
	if len(certs) > 0 && !slices.ContainsFunc(certs, func(c *x509.Certificate) bool { return validityProblem(c) == "" }) {
		f.reportValidity("ca", path, certs[0], "it cannot be used to verify a server")
	}
}

// checkPair checks a certificate file and the matching key file.
func (f *tlsSection) checkPair(certPath, keyPath string) {
	cert, key := f.read("cert", certPath), f.read("key", keyPath)
	certs := f.certificates("cert", certPath, cert)
	if len(certs) > 0 && validityProblem(certs[0]) != "" {
		f.reportValidity("cert", certPath, certs[0], "the other side will refuse it")
	}
	if key == nil {
		return
	}
	if problem, hint := unusableKey(key); problem != "" {
		f.report(diag.Error, check.UnusableTLS, "key", keyPath+" "+problem, hint)
		return
	}
	if _, err := tls.X509KeyPair(cert, key); len(certs) > 0 && err != nil {
		f.report(diag.Error, check.UnusableTLS, "key", fmt.Sprintf("%s is not the key of the first certificate in %s", keyPath, certPath), "put the key's certificate first, followed by its intermediate certificates")
	}
}

// certificates parses the certificates in data, which was read from the file at path. If data
// contains an invalid certificate or none at all, certificates reports a problem and returns nil.
func (f *tlsSection) certificates(key, path string, data []byte) (certs []*x509.Certificate) {
	if data == nil {
		return nil
	}
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			f.report(diag.Error, check.UnusableTLS, key, fmt.Sprintf("%s contains a certificate that cannot be read: %s", path, strings.TrimPrefix(err.Error(), "x509: ")), "")
			return nil
		}
		certs = append(certs, cert)
	}
	if len(certs) > 0 {
		return certs
	}
	hint := "a certificate begins with -----BEGIN CERTIFICATE-----"
	if isKey(data) {
		hint = `it contains a private key: use this file for "key"`
	}
	f.report(diag.Error, check.UnusableTLS, key, path+" contains no certificate in PEM", hint)
	return nil
}

// unusableKey returns the problem with the private key in data, possibly along with a hint. Both
// results are empty if the key can be used.
func unusableKey(data []byte) (problem, hint string) {
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		switch {
		case block.Type == "ENCRYPTED PRIVATE KEY", strings.Contains(block.Headers["Proc-Type"], "ENCRYPTED"):
			return "contains an encrypted key", "decrypt it with openssl pkey, and keep the file private (chmod 600)"
		case strings.HasSuffix(block.Type, "PRIVATE KEY"):
			if !readableKey(block.Bytes) {
				return "contains a private key that cannot be read", ""
			}
			return "", ""
		}
	}
	return "contains no private key in PEM", "a key begins with -----BEGIN PRIVATE KEY-----"
}

func readableKey(der []byte) bool {
	_, pkcs8 := x509.ParsePKCS8PrivateKey(der)
	_, pkcs1 := x509.ParsePKCS1PrivateKey(der)
	_, ec := x509.ParseECPrivateKey(der)
	return pkcs8 == nil || pkcs1 == nil || ec == nil
}

func isKey(data []byte) bool {
	block, _ := pem.Decode(data)
	return block != nil && strings.HasSuffix(block.Type, "PRIVATE KEY")
}

// validityProblem returns a phrase with the date when the certificate expired or will become valid.
// It returns "" if the certificate is valid now.
func validityProblem(c *x509.Certificate) string {
	switch now := time.Now(); {
	case now.After(c.NotAfter):
		return "has expired on " + c.NotAfter.Format(time.DateOnly)
	case now.Before(c.NotBefore):
		return "is not valid before " + c.NotBefore.Format(time.DateOnly)
	}
	return ""
}

func (f *tlsSection) reportValidity(key, path string, c *x509.Certificate, so string) {
	f.report(diag.Warning, check.ExpiredCertificate, key, fmt.Sprintf("the certificate in %s %s: %s", path, validityProblem(c), so), "")
}
