package oauth

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// FuzzReadChallenge checks that for any header the result is limited in size, can be used in a
// request, and does not depend on other, malformed headers.
func FuzzReadChallenge(f *testing.F) {
	for _, seed := range []string{
		`Bearer resource_metadata="https://a.example/x", scope="a b", error="insufficient_scope"`, `Bearer`, `Bearer scope=a,b`,
		`Negotiate abc==`, `Basic realm="x", Bearer scope="a"`, `Bearer scope="\"`, `Bearer "`, `=`, `Bearer a=`, `Bearer scope="a\"b"`, ",,,",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		c := readChallenge(http.Header{"Www-Authenticate": {line}})
		if len(c.scopes) > maxScopes {
			t.Errorf("%d scopes", len(c.scopes))
		}
		for _, scope := range c.scopes {
			if scope == "" || strings.ContainsFunc(scope, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '"' || r == '\\' }) {
				t.Errorf("%q is no scope", scope)
			}
		}
		again := readChallenge(http.Header{"Www-Authenticate": {`Negotiate abc==`, line, `"`}})
		if strings.Join(again.scopes, " ") != strings.Join(c.scopes, " ") || again.metadata != c.metadata || again.code != c.code {
			t.Errorf("with other headers %+v, without %+v", again, c)
		}
	})
}

// FuzzMetadataLocations checks that all URLs are at the server's origin, except for a URL named by
// the challenge.
func FuzzMetadataLocations(f *testing.F) {
	for _, seed := range []string{"https://a.example/mcp", "https://a.example", "https://a.example/", "https://a.example/a//b?x=y#z", "https://u:p@a.example/%2F..", "http://[::1]:80/mcp"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, address string) {
		u, err := url.Parse(address)
		if err != nil || !isSecure(address) {
			return
		}
		for _, d := range metadataLocations(Server{URL: address}, u, challenge{}) {
			at, err := url.Parse(d.url)
			if err != nil || at.Scheme != u.Scheme || at.Host != u.Host || at.User != nil || !strings.HasPrefix(at.Path, "/.well-known/oauth-protected-resource") {
				t.Errorf("%q: described at %q (%v)", address, d.url, err)
			}
		}
	})
}
