package daemon

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	stdlog "log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/petrigate/petrigate/config"
)

// enableTLS makes the server use TLS if certificate files are configured.
func enableTLS(server *http.Server, files *config.TLS, log *slog.Logger) error {
	if files == nil {
		return nil
	}
	c := &certificate{files: *files, log: log}
	if err := c.open(); err != nil {
		return &InvalidError{err}
	}
	server.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.get}
	server.ErrorLog = stdlog.New(serverLog{log}, "", 0)
	return nil
}

// A serverLog is the io.Writer for the error log of an [http.Server]. It logs failed handshakes at
// debug level, because any client can cause them.
type serverLog struct{ *slog.Logger }

// Write logs a line written by the HTTP server.
func (l serverLog) Write(line []byte) (int, error) {
	level := slog.LevelWarn
	if bytes.HasPrefix(line, []byte("http: TLS handshake error ")) {
		level = slog.LevelDebug
	}
	l.Log(context.Background(), level, "from the HTTP server", "text", string(bytes.TrimSpace(line)))
	return len(line), nil
}

func listenAndServe(server *http.Server, l net.Listener) error {
	if server.TLSConfig != nil {
		return server.ServeTLS(l, "", "")
	}
	return server.Serve(l)
}

// A certificate is a TLS certificate that is reloaded when its files change. While the files cannot
// be read or do not match, for example because only one of them has been replaced so far, the
// previous certificate stays in use.
type certificate struct {
	files config.TLS
	log   *slog.Logger

	mu   sync.Mutex
	seen stamps // state of the files at the last attempt to read them, successful or not
	pair *tls.Certificate
}

// stamps holds the modification times and sizes of the certificate file and the key file.
type stamps [2]struct {
	modified time.Time
	size     int64
}

// open reads the certificate files for the first time.
func (c *certificate) open() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen, err := stampsOf(c.files)
	if err == nil {
		err = c.read()
	}
	if err != nil {
		return fmt.Errorf("reading the certificate for HTTPS: %w", err)
	}
	c.seen = seen
	if info, err := os.Stat(c.files.Key); err == nil && info.Mode().Perm()&0o004 != 0 {
		c.log.Warn("the certificate key is readable by all users of this machine", "file", c.files.Key)
	}
	return nil
}

// get returns the current certificate for a handshake.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen, err := stampsOf(c.files)
	if err != nil || seen == c.seen {
		return c.pair, nil // the files may be missing briefly while they are replaced
	}
	c.seen = seen
	if err := c.read(); err != nil {
		c.log.Error("the certificate has changed but cannot be read: the previous one stays in use", "error", err.Error())
		return c.pair, nil
	}
	c.log.Info("the certificate has changed", "expires", c.pair.Leaf.NotAfter)
	return c.pair, nil
}

// read reads both files. The caller must hold c.mu.
func (c *certificate) read() error {
	pair, err := tls.LoadX509KeyPair(c.files.Cert, c.files.Key)
	if err != nil {
		return err
	}
	c.pair = &pair
	if time.Now().After(pair.Leaf.NotAfter) {
		c.log.Warn("the certificate has expired: clients will refuse it", "file", c.files.Cert, "expired", pair.Leaf.NotAfter)
	}
	return nil
}

func stampsOf(files config.TLS) (s stamps, err error) {
	for i, file := range []string{files.Cert, files.Key} {
		info, err := os.Stat(file)
		if err != nil {
			return s, err
		}
		s[i].modified, s[i].size = info.ModTime(), info.Size()
	}
	return s, nil
}
