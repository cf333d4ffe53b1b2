package oauth

import (
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// The ways to get tokens.
const (
	AuthorizationCode = "authorization-code" // a person logs in
	ClientCredentials = "client-credentials" // the client's own secret is enough
)

// A Server is an MCP server that may want tokens, and what its user has said
// about them.
type Server struct {
	Name    string
	URL     string
	Headers map[string]string // of each request to it

	Grant        string   // AuthorizationCode, also where it is empty, or ClientCredentials
	ClientID     string   // "": petrigate registers itself. A URL names a client id metadata document
	ClientSecret string   // wants Issuer: it is sent to nobody else
	Scopes       []string // nil: what the server asks for
	Issuer       string   // of the authorization server; "": as the server says
}

// String is the name of s, whose other values may be secrets.
func (s Server) String() string { return s.Name }

// GoString is the name of s.
func (s Server) GoString() string { return "oauth.Server(" + s.Name + ")" }

// key is the name of what is kept for s. Another address under the same name is
// another server, which must not get the tokens of the first.
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

// resource is the identifier of s for its authorization server.
func (s Server) resource() string {
	at, _, _ := strings.Cut(s.URL, "#")
	return at
}

// matches reports whether a grant is of the client and the issuer that are
// configured now.
func (s Server) matches(g *Grant) bool {
	if s.Issuer != "" && s.Issuer != g.Issuer {
		return false
	}
	return s.ClientID == "" || s.ClientID == g.ClientID || s.hasDocument() // instead of which it may have registered
}

// hasDocument reports whether the client of s describes itself at an address.
func (s Server) hasDocument() bool { return strings.HasPrefix(s.ClientID, "https://") }

// redact takes what may be a secret in the address of s out of a text.
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

// isSecure reports whether nobody on the way can read what is sent to address.
func isSecure(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	here := u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
	return u.Scheme == "https" || u.Scheme == "http" && here
}

// union is a with what of b it does not have.
func union(a, b []string) []string {
	all := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}
