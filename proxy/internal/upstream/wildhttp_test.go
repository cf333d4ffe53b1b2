package upstream

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/petrigate/petrigate/proxy/internal/upstream/conn"
	"github.com/petrigate/petrigate/proxy/internal/upstream/process"
	"github.com/petrigate/petrigate/proxy/internal/upstream/transport"
)

// TestRedirectsAreNotFollowed covers D015: redirects of calls are not followed, even with another
// method or to the same host, and nothing is sent to their targets.
func TestRedirectsAreNotFollowed(t *testing.T) {
	var followed atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Add(1) }))
	defer other.Close()
	for _, code := range []int{301, 302, 303, 307, 308} {
		e := serve(t, &endpoint{call: func(w http.ResponseWriter, _ *http.Request, _ incoming) {
			w.Header().Set("Location", other.URL+"/steal")
			w.WriteHeader(code)
		}})
		s := start(t, e.config())
		if r := <-s.tool("x", "{}").Done(); r.Err == nil || !strings.Contains(r.Err.Error(), "does not follow") {
			t.Errorf("%d: %v", code, r.Err)
		}
		if n := e.seen("tools/call"); n != 1 || followed.Load() != 0 {
			t.Errorf("%d: sent %d times, and %d times to another", code, n, followed.Load())
		}
	}
}

// TestCompressionIsNotUndone covers D007: a body that is compressed without being requested is not
// an answer and is never decompressed.
func TestCompressionIsNotUndone(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, _ = io.CopyN(z, endless{}, 4<<20)
	_ = z.Close()
	for _, secure := range []bool{false, true} {
		e := &endpoint{call: func(w http.ResponseWriter, r *http.Request, _ incoming) {
			if r.Header.Get("Accept-Encoding") == "gzip" {
				t.Error("compression was asked for")
			}
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes())
		}}
		c := serve(t, e).config()
		c.MaxMessage = 1 << 20
		s := prepare(t, c)
		if secure {
			s.trust(e)
		}
		s.Start(t.Context())
		s.await(Up)
		if r := <-s.tool("x", "{}").Done(); !errors.Is(r.Err, conn.ErrMalformed) {
			t.Errorf("%d %v", len(r.Result), r.Err)
		}
	}
}

// trust makes e use TLS, and s trust its certificate.
func (s *subject) trust(e *endpoint) {
	secure := httptest.NewTLSServer(e)
	s.t.Cleanup(secure.Close)
	s.host.Config.URL = secure.URL
	s.host.Client.Transport.(*transport.DirectTransport).Other.TLSClientConfig.RootCAs = secure.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
}

// TestLongHeaders covers D007: the header of a response is limited, with and without TLS.
func TestLongHeaders(t *testing.T) {
	for _, secure := range []bool{false, true} {
		e := &endpoint{call: func(w http.ResponseWriter, _ *http.Request, m incoming) {
			w.Header().Set("X", strings.Repeat("x", 2*transport.MaxHeaderBytes))
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{}}`, m.ID)
		}}
		s := prepare(t, serve(t, e).config())
		if secure {
			s.trust(e)
		}
		s.Start(t.Context())
		s.await(Up)
		var lost *Lost
		if r := <-s.tool("x", "{}").Done(); !errors.As(r.Err, &lost) || !lost.Sent {
			t.Errorf("secure %t: %s %v", secure, r.Result, r.Err)
		}
	}
}

// TestEndlessAnswers covers D007: an endless answer is cut off, or ends when the call is canceled.
func TestEndlessAnswers(t *testing.T) {
	for name, call := range map[string]func(http.ResponseWriter, *http.Request, incoming){
		"chunks": func(w http.ResponseWriter, r *http.Request, _ incoming) { pour(w, r, strings.Repeat(" ", 1<<16)) },
		"one event": func(w http.ResponseWriter, r *http.Request, _ incoming) {
			events(w)
			pour(w, r, "data: "+strings.Repeat("x", 1<<10)+"\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := serve(t, &endpoint{call: call}).config()
			c.MaxMessage = 1 << 17
			s := start(t, c)
			if r := <-s.tool("x", "{}").Done(); !errors.Is(r.Err, process.ErrTooLong) {
				t.Errorf("%d %v", len(r.Result), r.Err)
			}
		})
	}
	for name, drop := range map[string]string{"comments": ": still here\n\n", "empty events": "data:\n\n", "spaces": " "} {
		t.Run(name, func(t *testing.T) {
			began := make(chan struct{}, 1)
			e := serve(t, &endpoint{modern: true, call: func(w http.ResponseWriter, r *http.Request, _ incoming) {
				if name != "spaces" {
					events(w)
				}
				_, _ = io.WriteString(w, drop)
				w.(http.Flusher).Flush()
				began <- struct{}{}
				<-r.Context().Done()
			}})
			s := start(t, e.config())
			x := s.tool("x", "{}")
			<-began
			x.Cancel("enough")
			var lost *Lost
			if r := <-x.Done(); !errors.As(r.Err, &lost) || !lost.Sent {
				t.Error(r.Err)
			}
		})
	}
}

// pour writes the same data repeatedly until the reader disconnects.
func pour(w http.ResponseWriter, r *http.Request, text string) {
	for r.Context().Err() == nil {
		if _, err := io.WriteString(w, text); err != nil {
			return
		}
		w.(http.Flusher).Flush()
	}
}

// TestWhoIsBehindTLS covers E030: a server with an untrusted certificate or an outdated TLS version
// is not used.
func TestWhoIsBehindTLS(t *testing.T) {
	for name, configure := range map[string]func(*httptest.Server){
		"self-signed": func(*httptest.Server) {},
		"old":         func(h *httptest.Server) { h.TLS = &tls.Config{MaxVersion: tls.VersionTLS11} },
		"no TLS":      nil,
	} {
		t.Run(name, func(t *testing.T) {
			e := &endpoint{call: ok}
			serve(t, e)
			h := httptest.NewUnstartedServer(e)
			h.Config.ErrorLog = log.New(io.Discard, "", 0)
			address := ""
			if configure == nil {
				h.Start()
				address = strings.Replace(h.URL, "http:", "https:", 1)
			} else {
				configure(h)
				h.StartTLS()
				address = h.URL
			}
			defer h.Close()
			s := prepare(t, Config{Name: "tls", URL: address, Headers: map[string]string{"Authorization": "Bearer s3cr3t-value"}})
			if name == "old" { // so that only the version is wrong
				s.host.Client.Transport.(*transport.DirectTransport).Other.TLSClientConfig.RootCAs = h.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
			}
			s.Start(t.Context())
			if st := s.await(Down); st.Err == nil || strings.Contains(st.Err.Error(), "s3cr3t") {
				t.Error(st.Err)
			}
			if e.seen("") != 0 {
				t.Errorf("it was told %q", e.messages)
			}
		})
	}
}

// TestListingOpensNothing covers G006: no matter how often a server's tools are listed, there is
// one session and one connection.
func TestListingOpensNothing(t *testing.T) {
	e := pages(func(string) string { return `"result":{"tools":[{"name":"a"}]}` })
	var connections atomic.Int64
	serve(t, e)
	h := httptest.NewUnstartedServer(e)
	h.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	h.Start()
	defer h.Close()
	s := start(t, Config{Name: "web", URL: h.URL})
	before := connections.Load()
	for range 200 {
		if _, err := s.ListTools(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := e.sessions.Load(); n != 1 {
		t.Errorf("%d sessions", n)
	}
	if n := connections.Load() - before; n > 2 {
		t.Errorf("%d more connections", n)
	}
	s.Close()
}

// TestOddRevisions covers D018: a server that agrees on an unknown revision is not used.
func TestOddRevisions(t *testing.T) {
	for _, version := range []string{"1900-01-01", "9999-12-31", "", "2026-07-28"} {
		h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if bytes.Contains(body, []byte(`"initialize"`)) {
				w.Header().Set("Content-Type", "application/json")
				id, _, _ := strings.Cut(string(body[len(`{"jsonrpc":"2.0","id":`):]), ",")
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":%q,"serverInfo":{"name":"w","version":"1"},"capabilities":{}}}`, id, version)
				return
			}
			w.WriteHeader(400)
		}))
		s := prepare(t, Config{Name: "odd", URL: h.URL})
		s.Start(t.Context())
		if st := s.await(Down); st.Err == nil {
			t.Errorf("%q is used", version)
		}
		s.Close()
		h.Close()
	}
}

// TestMetadataIsNotAsked checks that no connection is made to the address of a cloud's metadata
// service.
func TestMetadataIsNotAsked(t *testing.T) {
	for _, url := range []string{"http://169.254.169.254/mcp", "https://169.254.169.254/mcp", "http://[::ffff:a9fe:a9fe]/mcp"} {
		s := prepare(t, Config{Name: "metadata", URL: url})
		s.Start(t.Context())
		if st := s.await(Down); !strings.Contains(st.Err.Error(), "petrigate does not connect to") {
			t.Errorf("%s: %v", url, st.Err)
		}
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}
