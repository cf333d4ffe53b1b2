package daemon

import (
	"io"
	"log/slog"
	"net/http"
	"os"
	"testing"

	"github.com/petrigate/petrigate/config"
)

// TestTLSFilesRemovedAfterCheck removes TLS files after the configuration was checked and before
// they are used.
func TestTLSFilesRemovedAfterCheck(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("empty.pem", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	server := config.Server{Name: "files", Position: config.Position{File: "petrigate.yaml", Line: 2, Column: 3}}
	for ca, want := range map[string]string{
		"none.pem":  "petrigate.yaml:2:3: reading the tls of the server files: none.pem: no such file or directory",
		"empty.pem": "petrigate.yaml:2:3: reading the tls of the server files: empty.pem: there is no certificate in PEM",
	} {
		server.TLS = &config.ServerTLS{CA: ca}
		if _, err := UpstreamTLS(server); said(err) != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	const want = "reading the certificate for HTTPS: stat none.pem: no such file or directory"
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	if err := enableTLS(&http.Server{}, &config.TLS{Cert: "none.pem", Key: "none.pem"}, log); said(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// said returns the text of an error, or "" for nil.
func said(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
