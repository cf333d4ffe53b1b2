package console

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/proxy"
)

// BenchmarkInbox renders the first page of 1,000 pending and 5,000 answered approvals.
func BenchmarkInbox(b *testing.B) {
	d := &desk{changed: make(chan struct{})}
	for n := range 6000 {
		a := question(n, fmt.Sprint("tool", n%50))
		a.Question = "Allow it?\n" + strings.Repeat("  \"key\": \"a value of some length\",\n", 40)
		if n >= 1000 {
			a.State, a.Actor = operator.Consumed, "ann"
		}
		d.approvals = append(d.approvals, a)
	}
	c := New(Options{Proxy: d, Hosts: []string{"example.com"}})
	defer c.Close()
	cookie := c.logins.redeem(c.Code(ann))
	for b.Loop() {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "/inbox", nil)
		r.AddCookie(&http.Cookie{Name: cookieName(r.Host), Value: cookie})
		c.ServeHTTP(w, r)
		if w.Code != http.StatusOK || w.Body.Len() < 10_000 {
			b.Fatal(w.Code)
		}
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(time.Millisecond), "ms/page")
}

// crowd returns a proxy with 60 nets and 1,000 sessions.
func crowd(b *testing.B) *proxy.Proxy {
	b.Helper()
	var nets []gate.Net
	for n := range 60 {
		nets = append(nets, backupNet(fmt.Sprintf("require-backup-before-delete-%d", n)))
	}
	policy, err := gate.NewPolicy(nets, gate.PolicyOptions{})
	if err != nil {
		b.Fatal(err)
	}
	p, err := proxy.New(proxy.Options{Policy: policy})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = p.Close() })
	h, err := p.Handler(proxy.Access{Addr: "127.0.0.1:80", Token: "secret"})
	if err != nil {
		b.Fatal(err)
	}
	p.Start()
	for range 1000 {
		r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "http://127.0.0.1/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Authorization", "Bearer secret")
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != http.StatusOK {
			b.Fatal(w.Code, w.Body.String())
		}
	}
	return p
}

// BenchmarkPages renders each page of nets and sessions, with 60 nets and 1,000 sessions.
func BenchmarkPages(b *testing.B) {
	p := crowd(b)
	c := New(Options{Proxy: p, Hosts: []string{"127.0.0.1"}})
	defer c.Close()
	all, err := p.ListSessions()
	if err != nil || len(all) != 1000 {
		b.Fatal(len(all), err)
	}
	id := all[len(all)/2].ID
	for name, path := range map[string]string{
		"nets": "/nets?session=" + id, "net": "/nets?net=require-backup-before-delete-7&session=" + id + "&why=delete",
		"sessions": "/sessions", "session": "/sessions?id=" + id,
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				r := httptest.NewRequestWithContext(withVisitor(context.Background(), visitor{Person: ann}), http.MethodGet, path, nil)
				w := httptest.NewRecorder()
				if c.routes().ServeHTTP(w, r); w.Code != http.StatusOK {
					b.Fatal(w.Code)
				}
			}
		})
	}
}
