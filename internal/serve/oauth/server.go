package oauth

import (
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/list"
)

// Values of [Server.Grant].
const (
	AuthorizationCode = "authorization-code" // a person must log in
	ClientCredentials = "client-credentials" // the client authenticates with its own secret, without a person
)

// A Server describes an MCP server that may require tokens, and holds its OAuth settings.
type Server struct {
	Name    string
	URL     string
	Headers map[string]string // headers to send with each request to the server

	Grant        string   // AuthorizationCode (the default) or ClientCredentials
	ClientID     string   // client ID or URL of a client ID metadata document; if empty, petrigate registers itself
	ClientSecret string   // client secret; sent only to Issuer, which must be set
	Scopes       []string // scopes to request; if nil, petrigate requests the scopes that the server demands
	Issuer       string   // issuer of the authorization server; if empty, the MCP server chooses it
}

// String returns only the server's name, because other fields may contain secrets.
func (s Server) String() string { return s.Name }

// GoString returns a string that contains only the server's name.
func (s Server) GoString() string { return "oauth.Server(" + s.Name + ")" }

// key returns the key that identifies the grant for s in a [Store]. The key depends on the address,
// because a server with the same name but a different address must not receive the tokens.
func (s Server) key() string {
	sum := sha256.Sum256([]byte(s.Name + "\x00" + s.URL))
	plain := strings.Map(func(r rune) rune {
		if r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_') {
			return r
		}
		return '_'
	}, s.Name)
	return plain[:min(len(plain), 40)] + "-" + hex.EncodeToString(sum[:8])
}

// resource returns the resource identifier of the server.
func (s Server) resource() string {
	at, _, _ := strings.Cut(s.URL, "#")
	return at
}

// matches reports whether the grant g comes from the configured issuer and belongs to the
// configured client.
func (s Server) matches(g *Grant) bool {
	if s.Issuer != "" && s.Issuer != g.Issuer {
		return false
	}
	return s.ClientID == "" || s.ClientID == g.ClientID || s.hasDocument() // if ClientID is the URL of a metadata document, accept any client ID: petrigate may have registered itself, because the authorization server does not support such documents
}

// hasDocument reports whether ClientID is the URL of a client ID metadata document.
func (s Server) hasDocument() bool { return strings.HasPrefix(s.ClientID, "https://") }

// redact removes the server's secrets from text.
func (s Server) redact(text string) string {
	u, err := url.Parse(s.URL)
	if err != nil {
		return text
	}
	for _, secret := range []string{u.RawQuery, s.ClientSecret, u.User.String()} {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "[redacted]")
		}
	}
	return text
}

// isSecure reports whether requests to the address are protected from eavesdropping, that is,
// whether they use https or stay on this machine.
func isSecure(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	here := u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
	return u.Scheme == "https" || u.Scheme == "http" && here
}

// union returns the elements of a, followed by the elements of b that are not in a.
func union(a, b []string) []string {
	return list.Add(slices.Clone(a), b...)
}
