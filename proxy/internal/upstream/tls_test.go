package upstream

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/testserver"
)

// TestTLS checks that an https server must prove its identity, and that a server that requires a
// client certificate receives it.
func TestTLS(t *testing.T) {
	plain := httptest.NewTLSServer(nil)
	plain.Close()
	known := x509.NewCertPool()
	known.AddCert(plain.Certificate())
	ours := plain.TLS.Certificates // self-signed certificate for these tests
	for name, c := range map[string]struct {
		server *tls.Config
		client *tls.Config
		fails  string // part of the error; empty if it works
	}{
		"known":            {client: &tls.Config{RootCAs: known}},
		"of no one":        {client: nil, fails: "certificate"},
		"of others":        {client: &tls.Config{RootCAs: x509.NewCertPool()}, fails: "unknown authority"},
		"name":             {client: &tls.Config{RootCAs: known, ServerName: "example.com"}},
		"other name":       {client: &tls.Config{RootCAs: known, ServerName: "example.net"}, fails: "example.net"},
		"client":           {server: &tls.Config{ClientAuth: tls.RequireAnyClientCert}, client: &tls.Config{RootCAs: known, Certificates: ours}},
		"no client":        {server: &tls.Config{ClientAuth: tls.RequireAnyClientCert}, client: &tls.Config{RootCAs: known}, fails: "certificate required"},
		"too old":          {server: &tls.Config{MaxVersion: tls.VersionTLS11}, client: &tls.Config{RootCAs: known}, fails: "version"},
		"old if they like": {server: &tls.Config{MaxVersion: tls.VersionTLS11}, client: &tls.Config{RootCAs: known, MinVersion: tls.VersionTLS10}, fails: "version"},
	} {
		for _, sse := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " SSE ", sse), func(t *testing.T) {
				web := httptest.NewUnstartedServer(testserver.New(testserver.Options{Tools: testserver.Attack(), Revisions: testserver.Legacy}))
				web.TLS, web.Config.ErrorLog = c.server.Clone(), log.New(io.Discard, "", 0)
				web.StartTLS()
				t.Cleanup(web.Close)
				t.Cleanup(web.CloseClientConnections)
				s := prepare(t, Config{Name: "web", URL: web.URL + "/mcp", TLS: c.client, SSE: sse})
				s.Start(t.Context())
				st := <-s.states
				switch {
				case c.fails == "" && sse: // the TLS handshake succeeds, but the server is a different one
					if st.Err == nil || !strings.Contains(st.Err.Error(), "HTTP status") {
						t.Errorf("%v %v", st.Phase, st.Err)
					}
				case c.fails == "":
					if st.Phase != Up {
						t.Fatalf("%v %v", st.Phase, st.Err)
					}
					s.answer(s.tool("safe", `{}`))
				case st.Phase != Down || !strings.Contains(st.Err.Error(), c.fails):
					t.Errorf("%v %v, want %q", st.Phase, st.Err, c.fails)
				}
			})
		}
	}
}
