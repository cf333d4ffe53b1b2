package oauth_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/authserver"
	"github.com/petrigate/petrigate/internal/leftover"
	"github.com/petrigate/petrigate/internal/serve/oauth"
)

func TestMain(m *testing.M) { leftover.Main(m) }

// A site is an MCP server with its authorization server, a store, and a person who consents to
// everything.
type site struct {
	t      *testing.T
	server *authserver.Server
	is     oauth.Server
	dir    string
	clock  *clock
	log    *bytes.Buffer // log of all sources

	browsing sync.WaitGroup
}

// A clock is a clock that stands still until the test moves it.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func open(t *testing.T, o authserver.Options) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir(), clock: &clock{now: time.Now()}, log: &bytes.Buffer{}}
	o.Now = s.clock.Now
	s.server = authserver.New(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("the token reached the resource behind the guard")
		}
		_, _ = io.WriteString(w, "served")
	}), o)
	listening := httptest.NewServer(s.server)
	t.Cleanup(listening.Close)
	t.Cleanup(s.browsing.Wait)
	s.server.At(listening.URL)
	s.is = oauth.Server{Name: "notes", URL: listening.URL + "/mcp"}
	return s
}

func (s *site) store() *oauth.Store { return oauth.NewStore(s.dir, oauth.File) }

// browse follows redirects as a browser does.
func (s *site) browse(address string) error {
	s.browsing.Go(func() {
		response, err := http.Get(address)
		if err != nil {
			s.t.Error(err)
			return
		}
		defer response.Body.Close()
		_, _ = io.Copy(io.Discard, response.Body)
		http.DefaultClient.CloseIdleConnections()
	})
	return nil
}

func (s *site) login() (oauth.Status, error) {
	return oauth.Login(s.t.Context(), s.is, s.store(), oauth.LoginOptions{Open: s.browse, Now: s.clock.Now, Timeout: time.Minute})
}

func (s *site) mustLogin() oauth.Status {
	s.t.Helper()
	status, err := s.login()
	if err != nil {
		s.t.Fatal(err)
	}
	return status
}

func (s *site) source() *oauth.Source {
	source := oauth.NewSource(s.is, s.store(), oauth.Options{Now: s.clock.Now, Logger: slog.New(slog.NewTextHandler(s.log, nil))})
	s.t.Cleanup(source.Close)
	return source
}

// call makes a request as an upstream does: with the source's header, and once more if the request
// is refused.
func (s *site) call(ctx context.Context, source *oauth.Source) error {
	value, err := source.Authorization(ctx)
	for try := 0; ; try++ {
		if err != nil {
			return err
		}
		request, _ := http.NewRequestWithContext(ctx, http.MethodPost, s.is.URL, http.NoBody)
		if value != "" {
			request.Header.Set("Authorization", value)
		}
		response, failure := http.DefaultClient.Do(request)
		if failure != nil {
			return failure
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		if response.StatusCode == http.StatusOK {
			return nil
		}
		if try == 2 {
			return errors.New(response.Status)
		}
		value, err = source.Renew(ctx, value, response)
	}
}

func (s *site) mustCall(source *oauth.Source) {
	s.t.Helper()
	if err := s.call(s.t.Context(), source); err != nil {
		s.t.Fatal(err)
	}
}

// wantsLogin makes a call that must fail with a LoginError.
func (s *site) wantsLogin(source *oauth.Source, why string) {
	s.t.Helper()
	err := s.call(s.t.Context(), source)
	if !needsLogin(err) || !strings.Contains(err.Error(), why) || !strings.Contains(err.Error(), "petrigate login notes") {
		s.t.Fatalf("got %v, want that a login is needed: %s", err, why)
	}
}

// secret fails the test if a text contains a token.
func (s *site) secret(what, text string) {
	s.t.Helper()
	for _, token := range s.server.Live() {
		if strings.Contains(text, token) {
			s.t.Errorf("%s holds a token: %s", what, text)
		}
	}
}

func (s *site) counted(what string, want int) {
	s.t.Helper()
	if got := s.server.Count(what); got != want {
		s.t.Errorf("%s: %d times, want %d", what, got, want)
	}
}

// needsLogin reports whether err is a LoginError.
func needsLogin(err error) bool { return errors.As(err, new(*oauth.LoginError)) }
