package oauth_test

import (
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/authserver"
	"github.com/petrigate/petrigate/internal/serve/oauth"
)

// here stands for the issuer of the site.
const here = "here"

// resolved replaces here with the site's issuer.
func resolved(s *site, o oauth.Server) oauth.Server {
	if o.Issuer == here {
		o.Issuer = strings.TrimSuffix(s.is.URL, "/mcp")
	}
	return o
}

// TestLoginOfEveryKind logs in to servers of every kind and then calls them.
func TestLoginOfEveryKind(t *testing.T) {
	const document = "https://petrigate.example/client.json"
	tests := []struct {
		name   string
		server authserver.Options
		client oauth.Server
		scopes string // requested scopes
	}{
		{name: "registers itself"},
		{name: "registers itself and gets a secret", server: authserver.Options{Secrets: true}},
		{name: "client of the configuration", server: authserver.Options{Closed: true, Clients: map[string]string{"mine": ""}}, client: oauth.Server{ClientID: "mine"}},
		{name: "client with a secret", server: authserver.Options{Closed: true, Clients: map[string]string{"mine": "a+b c"}},
			client: oauth.Server{ClientID: "mine", ClientSecret: "a+b c", Issuer: here}},
		{name: "client id metadata document", server: authserver.Options{Closed: true, Documents: true}, client: oauth.Server{ClientID: document}},
		{name: "document that the server does not take", client: oauth.Server{ClientID: document}},
		{name: "issuer with a path", server: authserver.Options{Issuer: "/tenant"}},
		{name: "OpenID Connect", server: authserver.Options{OpenID: true}},
		{name: "OpenID Connect with a path", server: authserver.Options{OpenID: true, Issuer: "/tenant"}},
		{name: "no place of metadata in the challenge", server: authserver.Options{NoHint: true}},
		{name: "no metadata of the resource", server: authserver.Options{Silent: true}},
		{name: "issuer in the answer", server: authserver.Options{Iss: true}},
		{name: "scopes of the challenge", server: authserver.Options{Scopes: []string{"read", "write"}}, scopes: "read write"},
		{name: "scopes of the configuration", server: authserver.Options{Scopes: []string{"read"}}, client: oauth.Server{Scopes: []string{"read", "more"}}, scopes: "read more"},
		{name: "scope of refresh tokens", server: authserver.Options{Scopes: []string{"read"}, Offers: []string{"read", "offline_access"}}, scopes: "read offline_access"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := open(t, test.server)
			test.client.Name, test.client.URL = s.is.Name, s.is.URL
			s.is = resolved(s, test.client)
			status := s.mustLogin()
			if got := strings.Join(status.Scopes, " "); got != test.scopes || status.State != oauth.StateValid || !status.Refresh {
				t.Errorf("status %+v, want the scopes %q", status, test.scopes)
			}
			source := s.source()
			s.mustCall(source)
			s.counted("unauthorized", 1) // the request made during the login itself
			s.server.Expire()
			s.clock.move(30 * 1e9)
			s.mustCall(source)
			s.counted("refresh_token", 1)
			for _, asked := range s.server.Asked() {
				if asked["resource"] != s.is.URL {
					t.Errorf("asked for a token for %q", asked["resource"])
				}
			}
		})
	}
}

// TestLoginWithTypedAddress simulates a browser on another machine, which cannot reach the redirect
// URI, so that the person types the address.
func TestLoginWithTypedAddress(t *testing.T) {
	s := open(t, authserver.Options{})
	ends := make(chan string, 1)
	var rejected []string
	status, err := oauth.Login(t.Context(), s.is, s.store(), oauth.LoginOptions{
		Now: s.clock.Now, Redirect: oauth.Redirect{Host: "localhost", Path: "/cb"},
		Open: func(address string) error {
			client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
			response, err := client.Get(address)
			if err != nil {
				return err
			}
			ends <- response.Header.Get("Location")
			client.CloseIdleConnections()
			return response.Body.Close()
		},
		Lines: func(yield func(string) bool) {
			for _, line := range []string{"", "what now?", <-ends} {
				if !yield(line) {
					return
				}
			}
		},
		Reject: func(why error) { rejected = append(rejected, why.Error()) },
	})
	if err != nil || status.State != oauth.StateValid {
		t.Fatalf("got %+v, %v", status, err)
	}
	if len(rejected) != 1 || !strings.Contains(rejected[0], "begins with http://localhost:") {
		t.Errorf("rejected: %q", rejected)
	}
	s.mustCall(s.source())
}

// TestLoginRefusesUnfitServers checks that a login fails for unsuitable servers.
func TestLoginRefusesUnfitServers(t *testing.T) {
	set := func(what, name string, value any) authserver.Options {
		return authserver.Options{Change: func(kind string, answer map[string]any) {
			if kind == what {
				answer[name] = value
			}
		}}
	}
	without := func(what, name string) authserver.Options {
		return authserver.Options{Iss: name == "iss", Change: func(kind string, answer map[string]any) {
			if kind == what {
				delete(answer, name)
			}
		}}
	}
	tests := []struct {
		name   string
		server authserver.Options
		client oauth.Server
		want   string
	}{
		{name: "metadata of another resource", server: set("resource", "resource", "https://other.example/mcp"), want: `got metadata resource "https://other.example/mcp"`},
		{name: "no authorization server", server: without("resource", "authorization_servers"), want: "names no authorization server"},
		{name: "authorization server without TLS", server: set("resource", "authorization_servers", []string{"http://login.example"}), want: "does not use HTTPS"},
		{name: "metadata of another issuer", server: set("server", "issuer", "https://login.example"), want: "does not match issuer"},
		{name: "issuer with another end", server: authserver.Options{Change: func(kind string, answer map[string]any) {
			if kind == "server" {
				answer["issuer"] = answer["issuer"].(string) + "/"
			}
		}}, want: "its metadata belongs to the issuer"},
		{name: "no PKCE", server: without("server", "code_challenge_methods_supported"), want: "does not implement PKCE"},
		{name: "PKCE in the clear only", server: set("server", "code_challenge_methods_supported", []string{"plain"}), want: "does not support PKCE with S256"},
		{name: "token endpoint without TLS", server: set("server", "token_endpoint", "http://login.example/token"), want: "does not use HTTPS"},
		{name: "no token endpoint", server: without("server", "token_endpoint"), want: "no token endpoint"},
		{name: "page that runs a script", server: set("server", "authorization_endpoint", "javascript:alert(1)"), want: "disallowed scheme"},
		{name: "page that is a file", server: set("server", "authorization_endpoint", "file:///etc/passwd"), want: "authorization_endpoint"},
		{name: "answer of another issuer", server: set("redirect", "iss", "https://evil.example"), want: "this could be a mix-up attack"},
		{name: "answer without the promised issuer", server: without("redirect", "iss"), want: "this could be a mix-up attack"},
		{name: "no consent", server: set("redirect", "error", "access_denied"), want: "the authorization server says access_denied"},
		{name: "code of somebody else", server: set("redirect", "code", "stolen"), want: "the authorization server says invalid_grant"},
		{name: "no code", server: without("redirect", "code"), want: "contains no code"},
		{name: "no registration", server: authserver.Options{Closed: true}, want: "set oauth.clientId"},
		{name: "client that is not known", server: authserver.Options{Clients: map[string]string{"mine": "right"}},
			client: oauth.Server{ClientID: "mine", ClientSecret: "wrong secret", Issuer: here}, want: "the authorization server says invalid_client"},
		{name: "secret for any issuer", server: authserver.Options{Clients: map[string]string{"mine": "right"}},
			client: oauth.Server{ClientID: "mine", ClientSecret: "right"}, want: "set oauth.issuer"},
		{name: "another issuer than configured", client: oauth.Server{Issuer: "https://login.example"}, want: "does not name the configured issuer"},
		{name: "server in the clear", client: oauth.Server{URL: "http://notes.example/mcp"}, want: "cross the network unencrypted"},
		{name: "server that does not exist", client: oauth.Server{URL: "http://127.0.0.1:1/mcp?key=hidden"}, want: "connection refused"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := open(t, test.server)
			test.client.Name = s.is.Name
			if test.client.URL == "" {
				test.client.URL = s.is.URL
			}
			s.is = resolved(s, test.client)
			_, err := s.login()
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v, want %q", err, test.want)
			}
			if strings.Contains(err.Error(), "wrong secret") || strings.Contains(err.Error(), "hidden") {
				t.Errorf("the error holds a secret: %v", err)
			}
			_ = filepath.WalkDir(s.dir, func(path string, _ fs.DirEntry, _ error) error {
				if strings.HasSuffix(path, ".json") {
					t.Errorf("something was kept: %s", path)
				}
				return nil
			})
		})
	}
}
