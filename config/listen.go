package config

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
)

// Listen configures how clients connect.
type Listen struct {
	Stdio            bool   // whether to use stdio instead of HTTP
	HTTP             string // HTTP address, in the form host:port
	Auth             string // how clients are authenticated: "token", "jwt" or "none"
	TokenFile        string // file that contains the token; if empty, a token is generated
	JWT              *JWT   // how tokens are validated if Auth is "jwt"; nil otherwise
	AllowedHosts     []string
	AllowedOrigins   []string
	Idle             time.Duration // how long an HTTP session may remain unused
	MaxSessions      int           // maximum number of HTTP sessions per principal; 0 means unset
	MaxSessionsTotal int           // maximum number of HTTP sessions in total; 0 means unset
	Path             string        // URL path of the endpoint; empty means unset
	TLS              *TLS          // certificate and key; nil disables TLS
	MaxBody          int           // maximum size of a client message in bytes, also over stdio; 0 means unset
	MaxHeader        int           // maximum size of a request's headers in bytes; 0 means unset
	MaxConnections   int           // maximum number of HTTP connections; 0 means unset
	Timeouts         Timeouts
	Hooks            bool `json:",omitempty"` // whether to accept calls to agents' built-in tools, as reported by hooks over HTTP

	origin
}

// JWT configures the validation of tokens issued by an authorization server.
type JWT struct {
	Issuer         string
	Audience       string
	JWKS           string   // URL of the issuer's keys; empty means the URL in the issuer's metadata
	Resource       string   // URL that clients use to reach the endpoint; empty means the value of Audience
	PrincipalClaim string   // claim that contains the principal; empty means "sub"
	Scopes         []string // scopes that every token must have
}

// TLS names the PEM files of a certificate chain and its private key.
type TLS struct {
	Cert string
	Key  string

	origin
}

// Timeouts limits how long the listener waits for an HTTP client. 0 means the listener's default.
type Timeouts struct {
	Header    time.Duration // how long a client may take to send the headers of a request, including the TLS handshake
	Body      time.Duration // how long a client may take to send a message
	Write     time.Duration // how long a client may take to read the next bytes of a response
	KeepAlive time.Duration // maximum time between two requests on the same connection
}

func readListen(v Value, c *Config, l *layers) {
	var stdio *node
	o := &c.Listen
	o.origin = origin{v.source, v.node}
	l.section(v, Keys{
		"stdio": func(v Value) {
			into(&o.Stdio, Value.Flag)(v)
			stdio = v.node
		},
		"jwt": func(v Value) {
			into(&o.JWT, readJWT)(v)
			l.set["listen.jwt"] = v.key
		},
		"allowedHosts":     into(&o.AllowedHosts, listOf(Value.setting)),
		"allowedOrigins":   into(&o.AllowedOrigins, listOf(Value.setting)),
		"maxSessions":      into(&o.MaxSessions, Value.positive),
		"maxSessionsTotal": into(&o.MaxSessionsTotal, Value.positive),
		"path":             into(&o.Path, checked(checkNotEmpty, checkPath)),
		"tls":              into(&o.TLS, readTLS),
		"maxBody":          into(&o.MaxBody, size(minBody)),
		"maxHeader":        into(&o.MaxHeader, size(minHeader)),
		"maxConnections":   into(&o.MaxConnections, Value.positive),
		"timeouts":         into(&o.Timeouts, readTimeouts),
		"hooks":            into(&o.Hooks, Value.Flag),
	})
	http := v.get("http")
	switch {
	case stdio == nil:
	case http != nil && o.Stdio:
		v.faultAt(stdio, `"stdio" and "http" cannot be combined`, "keep one of them")
	case http == nil && !o.Stdio && stdio.kind == boolKind:
		v.faultAt(stdio, `without "stdio", "http" is required`, `http: "127.0.0.1:7777"`)
	}
	for _, f := range v.fields { // record the key instead of rejecting it, because a flag may still set the HTTP address
		if http == nil && !slices.Contains([]string{"stdio", "maxBody"}, f.key.text) {
			l.httpOnly = append(l.httpOnly, f.key)
		}
	}
}

// Minimum values of the limits and timeouts in "listen". With smaller values, clients could not
// connect.
const (
	minBody    = 1 << 10
	minHeader  = 4 << 10
	minTimeout = time.Second
)

func readJWT(v Value) (*JWT, bool) {
	j := &JWT{}
	ok := v.Fields(Keys{
		"issuer":         into(&j.Issuer, checked(checkNotEmpty)),
		"audience":       into(&j.Audience, checked(checkNotEmpty)),
		"jwks":           into(&j.JWKS, checked(checkNotEmpty)),
		"resource":       into(&j.Resource, checked(checkNotEmpty)),
		"principalClaim": into(&j.PrincipalClaim, checked(checkNotEmpty)),
		"scopes":         into(&j.Scopes, listOf(checked(checkScope))),
	})
	if ok {
		checkJWT(v, j)
	}
	return j, true
}

// checkScope accepts an OAuth scope token (RFC 6749, section 3.3).
var checkScope = accept(func(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' })
}, "%[2]s is not a scope", "write one word per entry")

// checkJWT checks that the section has the keys needed for token validation.
func checkJWT(v Value, j *JWT) {
	v.requires(exampleOfJWT, "issuer", "audience")
	issuer, audience := v.get("issuer"), v.get("audience")
	switch at := v.get("jwks"); {
	case at != nil && !isSecureURL(j.JWKS):
		v.faultAt(at, `"jwks" must be a URL that begins with https://`, "http:// is allowed only for this machine")
	case at == nil && issuer != nil && !discoverable(j.Issuer):
		v.faultAt(issuer, `without "jwks" petrigate asks the issuer for its keys: "issuer" must be a URL that begins with https://`, "http:// is allowed only for this machine")
	}
	switch at := v.get("resource"); {
	case at != nil && !isURL(j.Resource):
		v.faultAt(at, `"resource" must be the URL of this endpoint`, `for example "https://gate.example.com/mcp"`)
	case at == nil && audience != nil && !isURL(j.Audience):
		v.faultAt(audience, `"audience" is not a URL, but clients need the URL of this endpoint`, `resource: "https://gate.example.com/mcp"`)
	}
}

const exampleOfJWT = `jwt: { issuer: "https://login.example.com", audience: "https://gate.example.com/mcp" }`

func readTLS(v Value) (*TLS, bool) {
	t := &TLS{origin: origin{v.source, v.node}}
	if v.Fields(Keys{"cert": into(&t.Cert, checked(checkNotEmpty)), "key": into(&t.Key, checked(checkNotEmpty))}) {
		v.requires(`tls: { cert: "cert.pem", key: "key.pem" }`, "cert", "key")
	}
	t.Cert, t.Key = v.absolute(t.Cert), v.absolute(t.Key)
	return t, true
}

func readTimeouts(v Value) (t Timeouts, ok bool) {
	v.Fields(Keys{
		"header":    into(&t.Header, durationFrom(minTimeout)),
		"body":      into(&t.Body, durationFrom(minTimeout)),
		"write":     into(&t.Write, durationFrom(minTimeout)),
		"keepAlive": into(&t.KeepAlive, durationFrom(minTimeout)),
	})
	return t, true
}

// checkPath accepts a plain URL path that no other endpoint uses.
func checkPath(key, quoted, text string) (msg, hint string) {
	const example = `for example "/mcp"`
	switch u, err := url.Parse(text); {
	case err != nil || u.Path != text || u.EscapedPath() != text || path.Clean(text) != text || !strings.HasPrefix(text, "/"):
		return fmt.Sprintf("%s: %s is not a plain path", key, quoted), example
	case text == "/sse" || text == "/messages" || strings.HasPrefix(text+"/", "/.well-known/"):
		return fmt.Sprintf("%s: %s is reserved for clients of revision 2024-11-05 or for metadata", key, quoted), example
	}
	return "", ""
}
