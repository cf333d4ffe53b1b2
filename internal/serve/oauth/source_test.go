package oauth_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/authserver"
	"github.com/petrigate/petrigate/internal/serve/oauth"
)

// TestRefreshBeforeExpiry checks that a token is refreshed before it expires, only once for all
// callers.
func TestRefreshBeforeExpiry(t *testing.T) {
	s := open(t, authserver.Options{})
	s.mustLogin()
	source := s.source()
	s.mustCall(source)
	s.clock.move(time.Hour - 30*time.Second)
	var calls sync.WaitGroup
	for range 30 {
		calls.Go(func() {
			if err := s.call(t.Context(), source); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	s.mustCall(source) // however late the call is
	s.counted("refresh_token", 1)
	s.counted("unauthorized", 1) // made by the login
}

// TestConcurrentProcessesRefreshOnce lets many calls in many processes discover at the same time
// that a token was refused. The refresh token must be used only once.
func TestConcurrentProcessesRefreshOnce(t *testing.T) {
	s := open(t, authserver.Options{})
	s.mustLogin()
	var sources []*oauth.Source
	for range 4 { // each simulates a process, which shares only the store
		sources = append(sources, s.source())
		s.mustCall(sources[len(sources)-1])
	}
	for round := 1; round <= 3; round++ {
		s.clock.move(time.Minute)
		s.server.Expire()
		var calls sync.WaitGroup
		for i := range 24 {
			calls.Go(func() {
				if err := s.call(t.Context(), sources[i%len(sources)]); err != nil {
					t.Error(err)
				}
			})
		}
		calls.Wait()
		s.counted("refresh_token", round)
	}
	s.counted("replayed", 0)
	s.counted("authorize", 1)
}

// TestRevokedTokenNeedsLogin checks that if a login was revoked, the error contains the command to
// run, and that the next login takes effect without a restart.
func TestRevokedTokenNeedsLogin(t *testing.T) {
	s := open(t, authserver.Options{})
	source := s.source()
	s.wantsLogin(source, "nobody is logged in")
	s.mustLogin()
	source.Await(t.Context()) // returns at once
	s.mustCall(source)
	s.clock.move(time.Minute)
	s.server.Revoke()
	s.wantsLogin(source, "the authorization server has revoked the login")
	s.wantsLogin(source, "the login has expired or was revoked")
	s.counted("refresh_token", 1) // a refresh token that was rejected permanently is not tried again
	ended, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	came := make(chan struct{})
	go func() {
		source.Await(ended)
		close(came)
	}()
	s.mustLogin()
	<-came
	if ended.Err() != nil {
		t.Fatal("the login was not noticed")
	}
	s.mustCall(source)
	if was, err := oauth.Logout(t.Context(), s.is, s.store()); !was || err != nil {
		t.Fatal(was, err)
	}
	s.counted("revoke", 1)
	s.wantsLogin(source, "nobody is logged in")
	s.secret("the log", s.log.String())
}

// TestLogoutOfUnreadableTokens checks that tokens that cannot be read are deleted, and that the user
// learns that they were not revoked.
func TestLogoutOfUnreadableTokens(t *testing.T) {
	s := open(t, authserver.Options{})
	s.mustLogin()
	files, err := filepath.Glob(filepath.Join(s.dir, "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if err := os.WriteFile(files[0], []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	was, err := oauth.Logout(t.Context(), s.is, s.store())
	if !was || err == nil || !strings.Contains(err.Error(), "invalid content") {
		t.Errorf("%t, %v", was, err)
	}
	if was, err := oauth.Logout(t.Context(), s.is, s.store()); was || err != nil {
		t.Errorf("again: %t, %v", was, err)
	}
}

// TestTokenIsUsedDuringOutage checks that a token is used until it expires if no other can be
// obtained, and that refreshing resumes afterwards.
func TestTokenIsUsedDuringOutage(t *testing.T) {
	s := open(t, authserver.Options{})
	s.mustLogin()
	source := s.source()
	s.server.Fail(true)
	s.clock.move(time.Hour - 30*time.Second)
	s.mustCall(source)
	s.clock.move(time.Minute)
	err := s.call(t.Context(), source)
	if err == nil || needsLogin(err) || !strings.Contains(err.Error(), "HTTP status 503") {
		t.Fatalf("got %v, want that the authorization server is out of order", err)
	}
	s.server.Fail(false)
	s.mustCall(source)
}

// TestRepeatedRefusalStopsRefresh checks that tokens are not requested over and over for a server
// that refuses them, and that there is another attempt after a while.
func TestRepeatedRefusalStopsRefresh(t *testing.T) {
	s := open(t, authserver.Options{})
	s.mustLogin()
	source := s.source()
	value, err := source.Authorization(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	refused := &http.Response{StatusCode: http.StatusUnauthorized, Header: http.Header{}}
	for range 3 {
		if value, err = source.Renew(t.Context(), value, refused); err != nil {
			t.Fatal(err)
		}
	}
	for range 5 {
		if _, err = source.Renew(t.Context(), value, refused); !needsLogin(err) {
			t.Fatalf("got %v, want that a login is needed", err)
		}
	}
	s.counted("refresh_token", 3)
	s.clock.move(time.Minute)
	if _, err = source.Renew(t.Context(), value, refused); err != nil {
		t.Fatal(err)
	}
	s.counted("refresh_token", 4)
}

// TestOtherRefusalsKeepToken checks that refusals that have nothing to do with the token leave it
// in use.
func TestOtherRefusalsKeepToken(t *testing.T) {
	s := open(t, authserver.Options{})
	s.mustLogin()
	source := s.source()
	value, _ := source.Authorization(t.Context())
	for _, header := range []string{"", `Bearer error="invalid_token"`, `Basic realm="x"`} {
		response := &http.Response{StatusCode: http.StatusForbidden, Header: http.Header{"Www-Authenticate": {header}}}
		if next, err := source.Renew(t.Context(), value, response); next != "" || err != nil {
			t.Errorf("%q: got %q, %v", header, next, err)
		}
	}
}

// TestMissingScopesNeedLogin checks that the next login asks for the missing scopes as well as for
// those granted before.
func TestMissingScopesNeedLogin(t *testing.T) {
	s := open(t, authserver.Options{Scopes: []string{"read"}})
	s.mustLogin()
	source := s.source()
	s.mustCall(source)
	s.server.Want("write")
	s.wantsLogin(source, "it requires more scopes than were granted")
	status, err := oauth.StatusOf(s.is, s.store(), s.clock.Now())
	if err != nil || strings.Join(status.Wanted, " ") != "read write" {
		t.Fatalf("status %+v, %v", status, err)
	}
	s.clock.move(time.Hour)
	if _, err := source.Authorization(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.counted("refresh_token", 1)
	if status, err = oauth.StatusOf(s.is, s.store(), s.clock.Now()); err != nil || strings.Join(status.Wanted, " ") != "read write" {
		t.Fatalf("status after a refresh %+v, %v", status, err)
	}
	if status = s.mustLogin(); strings.Join(status.Scopes, " ") != "read write" || status.Wanted != nil {
		t.Fatalf("status %+v", status)
	}
	s.mustCall(source)
}

// TestClientCredentials checks that client credentials require no person and are not stored.
func TestClientCredentials(t *testing.T) {
	s := open(t, authserver.Options{Clients: map[string]string{"robot": "its secret"}, Scopes: []string{"read"}})
	s.is.Grant, s.is.ClientID, s.is.ClientSecret = oauth.ClientCredentials, "robot", "its secret"
	s.is.Issuer = strings.TrimSuffix(s.is.URL, "/mcp")
	source := s.source()
	s.mustCall(source)
	s.mustCall(source)
	s.counted("client_credentials", 1)
	s.clock.move(time.Hour - 30*time.Second)
	s.mustCall(source)
	s.counted("client_credentials", 2)
	s.server.Want("write")
	s.mustCall(source)
	s.counted("client_credentials", 3)
	s.clock.move(time.Minute)
	s.server.Revoke()
	s.mustCall(source)
	s.counted("client_credentials", 4)
	s.counted("authorize", 0)

	s.is.ClientSecret = "another secret"
	err := s.call(t.Context(), s.source())
	if err == nil || needsLogin(err) || !strings.Contains(err.Error(), "invalid_client") || strings.Contains(err.Error(), "another secret") {
		t.Fatalf("got %v, want that the client is not known", err)
	}
}

// TestClientSecretStaysWithIssuer checks that an authorization server that only the MCP server
// names receives neither the client secret nor a request.
func TestClientSecretStaysWithIssuer(t *testing.T) {
	for _, issuer := range []string{"", here, "https://login.example"} {
		for _, grant := range []string{oauth.AuthorizationCode, oauth.ClientCredentials} {
			t.Run(grant+" for "+issuer, func(t *testing.T) {
				var asked atomic.Int32
				rogue := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
				t.Cleanup(rogue.Close)
				s := open(t, authserver.Options{Clients: map[string]string{"robot": "its secret"}, Change: func(what string, answer map[string]any) {
					if what == "resource" {
						answer["authorization_servers"] = []string{rogue.URL}
					}
				}})
				s.is.Grant, s.is.ClientID, s.is.ClientSecret, s.is.Issuer = grant, "robot", "its secret", issuer
				s.is = resolved(s, s.is)
				_, err := s.login()
				if grant == oauth.ClientCredentials {
					err = s.call(t.Context(), s.source())
				}
				if err == nil || !strings.Contains(err.Error(), "issuer") || strings.Contains(err.Error(), "its secret") {
					t.Errorf("got %v, want that it is another issuer", err)
				}
				if n := asked.Load(); n > 0 {
					t.Errorf("the authorization server that the server names was asked %d times", n)
				}
				s.counted("client_credentials", 0)
			})
		}
	}
}

// TestCancelledCallLetsRefreshFinish checks that a canceled call returns while the refresh that it
// started finishes, because the refresh token has already been used.
func TestCancelledCallLetsRefreshFinish(t *testing.T) {
	s := open(t, authserver.Options{})
	s.mustLogin()
	source := s.source()
	s.mustCall(source)
	s.clock.move(2 * time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := source.Authorization(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want the end of the call", err)
	}
	source.Close() // waits for the refresh, however early the call was canceled
	s.counted("refresh_token", 1)
	s.mustCall(source)
	s.counted("refresh_token", 1)
	s.counted("replayed", 0)
}

// TestGrantIsBoundToClientIssuerAndAddress checks that a grant for a different client, issuer or
// address is not used.
func TestGrantIsBoundToClientIssuerAndAddress(t *testing.T) {
	s := open(t, authserver.Options{})
	s.mustLogin()
	for _, change := range []func(*oauth.Server){
		func(o *oauth.Server) { o.ClientID = "another" },
		func(o *oauth.Server) { o.Issuer = "https://login.example" },
		func(o *oauth.Server) { o.URL += "?other" },
		func(o *oauth.Server) { o.Name = "other" },
	} {
		other := &site{t: t, is: s.is, dir: s.dir, clock: s.clock, log: s.log}
		change(&other.is)
		if value, err := other.source().Authorization(t.Context()); value != "" || err != nil {
			t.Errorf("%s: got a token, or %v", other.is.URL, err)
		}
	}
}
