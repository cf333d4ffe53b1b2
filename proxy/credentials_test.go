package proxy_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/petrigate/petrigate/internal/authserver"
	"github.com/petrigate/petrigate/internal/serve/oauth"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// A guardedUpstream is the attack tools behind an authorization server.
type guardedUpstream struct {
	*authserver.Server
	t     *testing.T
	is    oauth.Server
	store *oauth.Store
	log   testserver.Log
}

func newGuardedUpstream(t *testing.T) *guardedUpstream {
	t.Helper()
	u := &guardedUpstream{t: t, store: oauth.NewStore(t.TempDir(), oauth.File)}
	u.Server = authserver.New(testserver.New(testserver.Options{Tools: testserver.Attack(), Record: u.log.Add}), authserver.Options{})
	listening := httptest.NewServer(u.Server)
	t.Cleanup(func() {
		listening.CloseClientConnections()
		listening.Close()
	})
	u.At(listening.URL)
	u.is = oauth.Server{Name: "up", URL: listening.URL + "/mcp"}
	return u
}

// upstream returns the upstream u with the tokens in its store.
func (u *guardedUpstream) upstream() proxy.Upstream {
	source := oauth.NewSource(u.is, u.store, oauth.Options{})
	u.t.Cleanup(source.Close)
	return proxy.Upstream{Name: "up", URL: u.is.URL, Credentials: source}
}

func (u *guardedUpstream) login() {
	u.t.Helper()
	browse := func(address string) error {
		go func() {
			response, err := http.Get(address)
			if err != nil {
				u.t.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
			http.DefaultClient.CloseIdleConnections()
		}()
		return nil
	}
	if _, err := oauth.Login(u.t.Context(), u.is, u.store, oauth.LoginOptions{Open: browse, Timeout: patience}); err != nil {
		u.t.Fatal(err)
	}
}

// TestCredentialsLifeCycle is the life of a login as clients see it: it is missing, exists, its
// token expires and is replaced, it is revoked, and there is another.
func TestCredentialsLifeCycle(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		u := newGuardedUpstream(t)
		s := start(t, setup{change: func(o *proxy.Options) { o.Upstreams = []proxy.Upstream{u.upstream()} }})
		c := s.connect(l, "")
		if r := c.do("safe", `{}`); !strings.Contains(string(r.raw), "the user has to run petrigate login up") {
			t.Fatalf("%s", r.raw)
		}
		u.login()
		s.eventually("it is up", func() bool { return strings.Contains(c.do("safe", `{}`).text(), "safe {}") })
		executed := u.log.Executed("safe")

		u.Expire()
		var calls sync.WaitGroup
		const many = 8
		for range many {
			calls.Go(func() {
				if r := c.do("safe", `{}`); r.isError() || !strings.Contains(r.text(), "safe {}") {
					t.Errorf("%s", r.raw)
				}
			})
		}
		calls.Wait()
		if got := u.log.Executed("safe") - executed; got != many || u.Count("refresh_token") != 1 {
			t.Errorf("%d calls were executed %d times, with %d refreshes", many, got, u.Count("refresh_token"))
		}

		u.Revoke()
		r := c.do("push", `{}`)
		if r.decision("kind") != "unauthorized" || !r.isError() || !strings.Contains(r.text(), "push was not called") || !strings.Contains(r.text(), "petrigate login up") {
			t.Errorf("%s", r.raw)
		}
		if got := u.log.Executed("push"); got != 0 || s.openCalls() != 0 {
			t.Errorf("executed %d times, and %d calls are open", got, s.openCalls())
		}
		u.login()
		s.eventually("it is up again", func() bool { return strings.Contains(c.do("safe", `{}`).text(), "safe {}") })
	})
}
