package front_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/petrigate/petrigate/internal/authserver"
	"github.com/petrigate/petrigate/internal/proxytest"
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
	if _, err := oauth.Login(u.t.Context(), u.is, u.store, oauth.LoginOptions{Open: browse, Timeout: proxytest.Patience}); err != nil {
		u.t.Fatal(err)
	}
}

// TestCredentialsLifeCycle is the life of a login as clients see it: it is missing, exists, its
// token expires and is replaced, it is revoked, and there is another.
func TestCredentialsLifeCycle(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		u := newGuardedUpstream(t)
		s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) { o.Upstreams = []proxy.Upstream{u.upstream()} }})
		c := s.Connect(l, "")
		if r := c.Do("safe", `{}`); !strings.Contains(string(r.Raw), "the user must run petrigate login up") {
			t.Fatalf("%s", r.Raw)
		}
		u.login()
		s.Eventually("it is up", func() bool { return strings.Contains(c.Do("safe", `{}`).Text(), "safe {}") })
		executed := u.log.Executed("safe")

		u.Expire()
		var calls sync.WaitGroup
		const many = 8
		for range many {
			calls.Go(func() {
				if r := c.Do("safe", `{}`); r.IsError() || !strings.Contains(r.Text(), "safe {}") {
					t.Errorf("%s", r.Raw)
				}
			})
		}
		calls.Wait()
		if got := u.log.Executed("safe") - executed; got != many || u.Count("refresh_token") != 1 {
			t.Errorf("%d calls were executed %d times, with %d refreshes", many, got, u.Count("refresh_token"))
		}

		u.Revoke()
		r := c.Do("push", `{}`)
		if r.Decision("kind") != "unauthorized" || !r.IsError() || !strings.Contains(r.Text(), "push was not called") || !strings.Contains(r.Text(), "petrigate login up") {
			t.Errorf("%s", r.Raw)
		}
		if got := u.log.Executed("push"); got != 0 || s.OpenCalls() != 0 {
			t.Errorf("executed %d times, and %d calls are open", got, s.OpenCalls())
		}
		u.login()
		s.Eventually("it is up again", func() bool { return strings.Contains(c.Do("safe", `{}`).Text(), "safe {}") })
	})
}
