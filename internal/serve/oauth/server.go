package oauth

import (
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// The values of Server.Grant.
const (
	AuthorizationCode = "authorization-code" // a person logs in
	ClientCredentials = "client-credentials" // the client's own secret suffices
)

// A Server is an MCP server that may require tokens, with its OAuth configuration.
type Server struct {
	Name    string
	URL     string
	Headers map[string]string // headers of each request to the server

	Grant        string   // AuthorizationCode (the default) or ClientCredentials
	ClientID     string   // "": petrigate registers itself; a URL: a client id metadata document
	ClientSecret string   // requires Issuer, and is sent to no other authorization server
	Scopes       []string // nil: the scopes that the server asks for
	Issuer       string   // issuer of the authorization server; "": chosen by the server
}

// String returns the name of s. Other fields may hold secrets.
func (s Server) String() string { return s.Name }

// GoString returns the name of s.
func (s Server) GoString() string { return "oauth.Server(" + s.Name + ")" }

// key returns the store key of s. It includes the address: a server with the same name and another
// address must not get the tokens.
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

// resource returns the resource identifier of s.
func (s Server) resource() string {
	at, _, _ := strings.Cut(s.URL, "#")
	return at
}

// matches reports whether a grant belongs to the configured client and issuer.
func (s Server) matches(g *Grant) bool {
	if s.Issuer != "" && s.Issuer != g.Issuer {
		return false
	}
	return s.ClientID == "" || s.ClientID == g.ClientID || s.hasDocument() // with a document petrigate may have registered another client instead
}

// hasDocument reports whether the client of s is a client id metadata document.
func (s Server) hasDocument() bool { return strings.HasPrefix(s.ClientID, "https://") }

// redact removes from text whatever may be a secret in s.
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

// isSecure reports whether a request to the address cannot be read on the network: it uses https or
// stays on this machine.
func isSecure(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	here := u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
	return u.Scheme == "https" || u.Scheme == "http" && here
}

// union returns a with the elements of b that it lacks.
func union(a, b []string) []string {
	all := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}
