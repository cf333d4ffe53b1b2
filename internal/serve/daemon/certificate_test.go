package daemon

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/testserver"
)

// A secured is a server that uses TLS.
type secured struct {
	t    *testing.T
	name string // path of its files without the extension
	addr string
	log  bytes.Buffer // written only during a handshake
}

func secureServer(t *testing.T) *secured {
	s := &secured{t: t, name: filepath.Join(t.TempDir(), "own")}
	s.issue(1, time.Hour)
	l := config.Listen{TLS: &config.TLS{Cert: s.name + ".pem", Key: s.name + ".key"}}
	log := slog.New(slog.NewTextHandler(&s.log, nil))
	server := newServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) }), l)
	if err := enableTLS(server, l.TLS, log); err != nil {
		t.Fatal(err)
	}
	inner := listenLocal(t)
	s.addr = inner.Addr().String()
	ended := make(chan struct{})
	go func() { defer close(ended); _ = listenAndServe(server, newLimitListener(inner, l, log)) }()
	t.Cleanup(func() { _ = server.Close(); <-ended })
	return s
}

// issue replaces the files with ones that have a different modification time.
func (s *secured) issue(serial int64, valid time.Duration) {
	s.t.Helper()
	if err := testserver.Certify(s.name, serial, valid); err != nil {
		s.t.Fatal(err)
	}
	s.touch(serial)
}

func (s *secured) touch(hours int64) {
	for _, end := range []string{".pem", ".key"} {
		when := time.Now().Add(-time.Duration(hours) * time.Hour)
		if err := os.Chtimes(s.name+end, when, when); err != nil {
			s.t.Fatal(err)
		}
	}
}

// serial returns the serial number of the certificate that a client receives.
func (s *secured) serial() int64 {
	s.t.Helper()
	c, err := tls.Dial("tcp", s.addr, &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // the test compares the certificate itself
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	return c.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

// TestHTTPSProtocols checks that only HTTP/1.1 is used, even with newer clients, and that outdated
// TLS versions are rejected.
func TestHTTPSProtocols(t *testing.T) {
	s := secureServer(t)
	text, err := os.ReadFile(s.name + ".pem")
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(text)
	for _, two := range []bool{false, true} {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: two}
		r, err := (&http.Client{Transport: transport}).Get("https://" + s.addr)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(r.Body)
		_ = r.Body.Close()
		transport.CloseIdleConnections()
		if string(body) != "HTTP/1.1" {
			t.Errorf("%q is spoken", body)
		}
	}
	old := &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
	if c, err := tls.Dial("tcp", s.addr, old); err == nil {
		_ = c.Close()
		t.Error("TLS 1.1 is spoken")
	}
	if r, err := http.Get("http://" + s.addr); err == nil {
		_ = r.Body.Close()
		if r.StatusCode != http.StatusBadRequest {
			t.Errorf("without TLS: %s", r.Status)
		}
	}
	if strings.Contains(s.log.String(), "handshake") {
		t.Errorf("what anybody can do is in the log:\n%s", s.log.String())
	}
}

// TestChangedCertificateIsReloaded checks that a changed certificate is used only if it is valid.
func TestChangedCertificateIsReloaded(t *testing.T) {
	s := secureServer(t)
	shown := func(want int64, when string) {
		t.Helper()
		if got := s.serial(); got != want {
			t.Errorf("%s: certificate %d is shown, want %d", when, got, want)
		}
	}
	shown(1, "at first")
	s.issue(2, time.Hour)
	shown(2, "another one")
	key, err := os.ReadFile(s.name + ".key")
	if err != nil {
		t.Fatal(err)
	}
	s.issue(3, time.Hour)
	if err := os.WriteFile(s.name+".key", key, 0o600); err != nil {
		t.Fatal(err)
	}
	shown(2, "a certificate with the key of another")
	shown(2, "the same again")
	if err := os.Remove(s.name + ".key"); err != nil {
		t.Fatal(err)
	}
	shown(2, "without its key")
	s.issue(4, -time.Minute)
	shown(4, "one that has expired")
	log := s.log.String()
	if n := strings.Count(log, "the certificate has changed but cannot be read: the previous one stays in use"); n != 1 {
		t.Errorf("it is said %d times that the certificate cannot be read:\n%s", n, log)
	}
	if strings.Count(log, "the certificate has changed\"") != 2 || !strings.Contains(log, "the certificate has expired: clients will refuse it") {
		t.Errorf("the log:\n%s", log)
	}
}

// TestInvalidCertificateFailsStart checks that the daemon does not start if a file contains no
// certificate or no key.
func TestInvalidCertificateFailsStart(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		if err := testserver.Certify(filepath.Join(dir, name), 1, time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	for files, want := range map[config.TLS]string{
		{Cert: "a.pem", Key: "a.key"}: "",
		{Cert: "a.pem", Key: "b.key"}: "private key does not match public key",
		{Cert: "a.key", Key: "a.pem"}: "failed to find",
		{Cert: "c.pem", Key: "a.key"}: "no such file",
	} {
		files := config.TLS{Cert: filepath.Join(dir, files.Cert), Key: filepath.Join(dir, files.Key)}
		err := enableTLS(&http.Server{}, &files, quietLog)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", files, err, want)
		}
	}
	if server := (&http.Server{}); enableTLS(server, nil, quietLog) != nil || server.TLSConfig != nil {
		t.Error("TLS without a certificate")
	}
}

// TestHandshakeErrorsAreDebugLogs checks that failed handshakes, which may be numerous, are logged
// only at debug level.
func TestHandshakeErrorsAreDebugLogs(t *testing.T) {
	for line, want := range map[string]string{
		"http: TLS handshake error from 192.0.2.1:7: EOF\n":   "",
		"http: panic serving 192.0.2.1:7: a bug\n":            `level=WARN msg="from the HTTP server" text="http: panic serving 192.0.2.1:7: a bug"` + "\n",
		"http: Accept error: too many open files; retrying\n": `level=WARN msg="from the HTTP server" text="http: Accept error: too many open files; retrying"` + "\n",
	} {
		var b bytes.Buffer
		l := serverLog{slog.New(slog.NewTextHandler(&b, nil))}
		if n, err := l.Write([]byte(line)); n != len(line) || err != nil {
			t.Errorf("%q: %d, %v", line, n, err)
		}
		if _, got, _ := strings.Cut(b.String(), " "); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
