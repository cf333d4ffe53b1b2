package session_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/runtime/store/journal"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres/postgrestest"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// eachBreakable runs f with each kind of database. open opens it once more with the given timeout,
// and fail makes the database that was opened first fail from then on.
func eachBreakable(t *testing.T, timeout time.Duration, f func(t *testing.T, open func() proxy.Database, fail func())) {
	t.Run("sqlite", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "state.db")
		var first proxy.Database
		f(t, func() proxy.Database {
			b, err := journal.Open(t.Context(), journal.Options{Path: path})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = b.Close() })
			if first == nil {
				first = b
			}
			return b
		}, func() { _ = first.Close() })
	})
	t.Run("postgres", func(t *testing.T) {
		dsn := postgrestest.NewSchema(t)
		p := postgrestest.NewProxy(t, dsn)
		through := p.DSN()
		f(t, func() proxy.Database {
			b, err := postgres.Open(t.Context(), postgres.Options{DSN: through, Timeout: timeout, Poll: 50 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = b.Close() })
			through = dsn
			return b
		}, func() { p.Set(postgrestest.Refuse); p.Cut() })
	})
}

// replicasOf returns proxies with one database, in front of one upstream.
func replicasOf(t *testing.T, n int, open func() proxy.Database) []*proxytest.Site {
	t.Helper()
	var all []*proxytest.Site
	for range n {
		s := proxytest.Start(t, proxytest.Setup{Rules: "limit push to 9 per session\n", Change: func(o *proxy.Options) {
			if o.Database = open(); len(all) > 0 {
				o.Upstreams = all[0].Options.Upstreams
			}
		}})
		s.ServeWith(proxy.Access{Tokens: map[string]string{"ann": "token of ann", "bob": "token of bob"}})
		all = append(all, s)
	}
	return all
}

// TestSessionOver: a session that was ended at one replica is unknown at every other one that had
// served it, whatever is requested first.
func TestSessionOver(t *testing.T) {
	t.Parallel()
	const list, note, answer = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`, `{"jsonrpc":"2.0","id":"pg-x","result":{}}`
	eachBreakable(t, proxytest.Patience, func(t *testing.T, open func() proxy.Database, _ func()) {
		s := replicasOf(t, 2, open)
		a, b := s[0], s[1]
		for name, ask := range map[string]func(session string) int{
			"call": func(session string) int {
				status, _, _ := a.InSession("token of ann", session, proxytest.PushRequest)
				return status
			},
			"list":         func(session string) int { status, _, _ := a.InSession("token of ann", session, list); return status },
			"notification": func(session string) int { status, _, _ := a.InSession("token of ann", session, note); return status },
			"answer":       func(session string) int { status, _, _ := a.InSession("token of ann", session, answer); return status },
			"end":          func(session string) int { return method(a, http.MethodDelete, session) },
			"stream":       func(session string) int { return method(a, http.MethodGet, session) },
		} {
			session := a.OpenSession("token of ann")
			for _, s := range s {
				if status, _, text := s.InSession("token of ann", session, proxytest.PushRequest); status != http.StatusOK {
					t.Fatalf("%d %s", status, text)
				}
			}
			if status := method(b, http.MethodDelete, session); status != http.StatusOK {
				t.Fatal(status)
			}
			for range 2 {
				if status := ask(session); status != http.StatusNotFound {
					t.Errorf("%s: %d after the end at another replica", name, status)
				}
			}
		}
	})
}

// TestSessionOverWhileDown: nor is it known at a replica whose upstream is down.
func TestSessionOverWhileDown(t *testing.T) {
	t.Parallel()
	eachBreakable(t, proxytest.Patience, func(t *testing.T, open func() proxy.Database, _ func()) {
		up := httptest.NewServer(testserver.New(testserver.Options{Tools: testserver.Attack()}))
		defer up.Close()
		s := replicasOf(t, 2, open)
		b := s[1]
		a := proxytest.Start(t, proxytest.Setup{Rules: "limit push to 9 per session\n", Change: func(o *proxy.Options) { o.Database, o.Upstreams[0].URL = open(), up.URL }})
		a.ServeWith(proxy.Access{Tokens: map[string]string{"ann": "token of ann"}})
		session := a.OpenSession("token of ann")
		if status, _, text := b.InSession("token of ann", session, proxytest.PushRequest); status != http.StatusOK {
			t.Fatalf("%d %s", status, text)
		}
		up.CloseClientConnections()
		up.Close()
		a.Eventually("the upstream is down", func() bool {
			_, _, text := a.InSession("token of ann", session, proxytest.PushRequest)
			return strings.Contains(text, "is not running")
		})
		if status := method(b, http.MethodDelete, session); status != http.StatusOK {
			t.Fatal(status)
		}
		if status, _, text := a.InSession("token of ann", session, proxytest.PushRequest); status != http.StatusNotFound {
			t.Errorf("%d %s", status, text)
		}
	})
}

// TestOtherReplica: an answer to a request of another replica, and the cancellation of a request at
// another one, are refused: they would be lost. Late ones, or those that name no request, are
// accepted like by a single proxy.
func TestOtherReplica(t *testing.T) {
	t.Parallel()
	eachBreakable(t, proxytest.Patience, func(t *testing.T, open func() proxy.Database, _ func()) {
		s := replicasOf(t, 2, open)
		a, b := s[0], s[1]
		session := a.OpenSession("token of ann")
		send := func(at *proxytest.Site, body string, want int) {
			t.Helper()
			if status, _, text := at.InSession("token of ann", session, body); status != want {
				t.Errorf("%s: %d %s, want %d", body, status, text, want)
			}
		}
		send(a, proxytest.PushRequest, http.StatusOK) // request 1
		for id, want := range map[string]int{`1`: 202, `"1"`: 421, `99`: 421} {
			send(a, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`}}`, want)
		}
		send(b, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, http.StatusMisdirectedRequest)
		send(b, `{"jsonrpc":"2.0","method":"notifications/cancelled"}`, http.StatusAccepted)
		for id, want := range map[string]int{`"pg-0123-4567"`: 421, `"mine"`: 202, `7`: 202} {
			send(b, `{"jsonrpc":"2.0","id":`+id+`,"result":{"action":"accept"}}`, want)
		}
		// a proxy recognizes request ids of other replicas by their form
		alone := proxytest.Start(t, proxytest.Setup{Rules: "limit push to 9 per session\n"})
		alone.ServeWith(proxy.Access{Tokens: map[string]string{"ann": "token of ann"}})
		session = alone.OpenSession("token of ann")
		send(alone, `{"jsonrpc":"2.0","id":"pg-0123-4567","result":{}}`, http.StatusAccepted)
		send(alone, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`, http.StatusAccepted)
	})
}

// method returns the status of a request without a body in a session of ann.
func method(s *proxytest.Site, method, session string) int {
	s.T.Helper()
	p := s.ModernCallAs("token of ann")
	p.Method, p.Body = method, ""
	p.Header = http.Header{"Authorization": {"Bearer token of ann"}, "Accept": {"text/event-stream"}, "Mcp-Session-Id": {session}, "Mcp-Protocol-Version": {"2025-11-25"}}
	status, _, _ := s.Fetch(p)
	return status
}

// TestSessionNotKept: a session whose state cannot be written does not begin, since other replicas
// would not know its id.
func TestSessionNotKept(t *testing.T) {
	t.Parallel()
	eachBreakable(t, time.Second, func(t *testing.T, open func() proxy.Database, fail func()) {
		a := replicasOf(t, 1, open)[0]
		a.Eventually("the database is fast enough", func() bool {
			status, _, _ := a.InSession("token of ann", "", proxytest.InitializeRequest)
			return status == http.StatusOK
		})
		before := len(a.Proxy.Sessions())
		fail()
		for range 2 {
			status, header, body := a.InSession("token of ann", "", proxytest.InitializeRequest)
			if status != http.StatusServiceUnavailable || header.Get("Mcp-Session-Id") != "" || header.Get("Retry-After") != "1" {
				t.Errorf("%d %v %s", status, header, body)
			}
		}
		if n := len(a.Proxy.Sessions()); n != before {
			t.Errorf("%d sessions, want %d", n, before)
		}
	})
}
