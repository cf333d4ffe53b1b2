package config

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
)

// Listen configures the connections from clients.
type Listen struct {
	Stdio            bool   // stdio instead of HTTP
	HTTP             string // host:port
	Auth             string // "token", "jwt" or "none"
	TokenFile        string // empty: a generated token
	JWT              *JWT   // settings for Auth "jwt", otherwise nil
	AllowedHosts     []string
	AllowedOrigins   []string
	Idle             time.Duration // lifetime of an unused HTTP session
	MaxSessions      int           // HTTP sessions per principal; 0: unset
	MaxSessionsTotal int           // HTTP sessions in total; 0: unset
	Path             string        // URL path of the endpoint; empty: unset
	TLS              *TLS          // nil: no TLS
	MaxBody          int           // maximum bytes of one client message, over stdio too; 0: unset
	MaxHeader        int           // maximum bytes of the headers of one request; 0: unset
	MaxConnections   int           // maximum HTTP connections; 0: unset
	Timeouts         Timeouts
	Hooks            bool `json:",omitempty"` // accept calls of the agent's own tools, reported by hooks over HTTP

	origin
}

// JWT configures the validation of an authorization server's tokens.
type JWT struct {
	Issuer         string
	Audience       string
	JWKS           string   // URL of the issuer's keys; empty: taken from its metadata
	Resource       string   // URL that clients use for the endpoint; empty: the audience
	PrincipalClaim string   // empty: "sub"
	Scopes         []string // scopes that every token must have
}

// TLS names the PEM files of a certificate chain and of its private key.
type TLS struct {
	Cert string
	Key  string

	origin
}

// Timeouts limits how long the listener waits for an HTTP client. 0 selects the default of the
// listener.
type Timeouts struct {
	Header    time.Duration // time to send the headers of a request, including the TLS handshake
	Body      time.Duration // time to send a message
	Write     time.Duration // time to read the next bytes of a response
	KeepAlive time.Duration // time between two requests on a connection
}

// Minimum values that still allow a client to connect.
const (
	minBody    = 1 << 10
	minHeader  = 4 << 10
	minTimeout = time.Second
)

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
		"allowedHosts":     into(&o.AllowedHosts, each(Value.setting)),
		"allowedOrigins":   into(&o.AllowedOrigins, each(Value.setting)),
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
		v.faultAt(stdio, `"stdio" and "http" exclude each other`, "one of them")
	case http == nil && !o.Stdio && stdio.kind == boolKind:
		v.faultAt(stdio, `without "stdio" there must be "http"`, `http: "127.0.0.1:7777"`)
	}
	for _, f := range v.fields { // only warnings, and not yet: a flag may still set the address
		if http == nil && !slices.Contains([]string{"stdio", "maxBody"}, f.key.text) {
			l.httpOnly = append(l.httpOnly, f.key)
		}
	}
}

func readJWT(v Value) (*JWT, bool) {
	j := &JWT{}
	before := v.Faults()
	v.Fields(Keys{
		"issuer":         into(&j.Issuer, checked(checkNotEmpty)),
		"audience":       into(&j.Audience, checked(checkNotEmpty)),
		"jwks":           into(&j.JWKS, checked(checkNotEmpty)),
		"resource":       into(&j.Resource, checked(checkNotEmpty)),
		"principalClaim": into(&j.PrincipalClaim, checked(checkNotEmpty)),
		"scopes":         into(&j.Scopes, each(checked(checkScope))),
	})
	if v.Faults() == before {
		checkJWT(v, j)
	}
	return j, true
}

// checkScope accepts an OAuth scope token (RFC 6749, section 3.3).
func checkScope(_, shown, text string) (msg, hint string) {
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }) {
		return shown + " is not a scope", "one word in each entry"
	}
	return "", ""
}

// checkJWT checks that the section has the keys that token validation needs.
func checkJWT(v Value, j *JWT) {
	v.requires(exampleOfJWT, "issuer", "audience")
	issuer, audience := v.get("issuer"), v.get("audience")
	switch at := v.get("jwks"); {
	case at != nil && !isSecureURL(j.JWKS):
		v.faultAt(at, `"jwks" must be a URL that begins with https://`, "http:// only for this machine")
	case at == nil && issuer != nil && !discoverable(j.Issuer):
		v.faultAt(issuer, `without "jwks" the issuer is asked where its keys are: "issuer" must be a URL that begins with https://`, "http:// only for this machine")
	}
	switch at := v.get("resource"); {
	case at != nil && !isURL(j.Resource):
		v.faultAt(at, `"resource" must be the URL of this endpoint`, `for example "https://gate.example.com/mcp"`)
	case at == nil && audience != nil && !isURL(j.Audience):
		v.faultAt(audience, `"audience" is not a URL, and clients need the URL of this endpoint`, `resource: "https://gate.example.com/mcp"`)
	}
}

// requires reports missing keys of a section, at the position of the section's key.
func (v Value) requires(example string, keys ...string) {
	for _, key := range keys {
		if v.get(key) == nil {
			v.faultAt(v.key, fmt.Sprintf("%s requires %q", v.what, key), example)
		}
	}
}

const exampleOfJWT = `jwt: { issuer: "https://login.example.com", audience: "https://gate.example.com/mcp" }`

func isURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil && u.Fragment == ""
}

// isSecureURL reports whether text is an https URL, or an http URL of this machine.
func isSecureURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && isURL(text) && (u.Scheme == "https" || loopback(net.JoinHostPort(u.Hostname(), "0")))
}

// discoverable reports whether the issuer can publish its metadata as RFC 8414 specifies.
func discoverable(issuer string) bool { return isSecureURL(issuer) && !strings.Contains(issuer, "?") }

// settleListen checks the settings of the listener against each other.
func (c *Config) settleListen(d *decoder, l *layers) {
	if c.Listen.Stdio {
		for _, key := range l.httpOnly {
			d.warn(key, fmt.Sprintf("%q has no effect without \"http\"", key.text), "")
		}
		return
	}
	switch {
	case c.Listen.Auth == "none" && !loopback(c.Listen.HTTP):
		d.faultAt(cmp.Or(l.set["listen.auth"], l.set["listen.http"]), `listening without authentication is refused: "listen.http" can be reached from other machines`,
			"auth: token, or an address like 127.0.0.1:7777")
	case c.Listen.Auth == "jwt" && c.Listen.JWT == nil:
		d.faultAt(l.set["listen.auth"], `"auth": "jwt" requires the section "jwt" of "listen"`, exampleOfJWT)
	case c.Listen.Auth != "jwt" && c.Listen.JWT != nil:
		d.warn(l.set["listen.jwt"], `"jwt" has no effect without "auth": "jwt"`, "auth: jwt")
	}
	if at := l.set["listen.tokenFile"]; at != nil && c.Listen.Auth != "token" {
		d.warn(at, fmt.Sprintf(`"tokenFile" has no effect with "auth": %q`, c.Listen.Auth), "")
	}
	if allNetworks(c.Listen.HTTP) && len(c.Listen.AllowedHosts) == 0 {
		d.warn(l.set["listen.http"], "clients on other machines are refused until the names by which they know this one are listed",
			`listen: { allowedHosts: ["gate.example.com"] }`)
	}
}

// allNetworks reports whether an address means all network interfaces.
func allNetworks(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "" || err == nil && ip.Unmap().WithZone("").IsUnspecified()
}

func readTLS(v Value) (*TLS, bool) {
	t := &TLS{origin: origin{v.source, v.node}}
	before := v.Faults()
	v.Fields(Keys{"cert": into(&t.Cert, checked(checkNotEmpty)), "key": into(&t.Key, checked(checkNotEmpty))})
	if v.Faults() == before {
		v.requires(`tls: { cert: "cert.pem", key: "key.pem" }`, "cert", "key")
	}
	t.Cert, t.Key = v.absolute(t.Cert), v.absolute(t.Key)
	return t, true
}

func readTimeouts(v Value) (t Timeouts, ok bool) {
	v.Fields(Keys{
		"header":    into(&t.Header, readTimeout),
		"body":      into(&t.Body, readTimeout),
		"write":     into(&t.Write, readTimeout),
		"keepAlive": into(&t.KeepAlive, readTimeout),
	})
	return t, true
}

// readTimeout reads a duration of at least minTimeout.
func readTimeout(v Value) (time.Duration, bool) {
	text, ok := scalar{check: checkDuration(minTimeout), timed: true}.read(v)
	t, _ := duration(text)
	return t, ok
}

// checkPath accepts a plain URL path that no other endpoint uses.
func checkPath(what, shown, text string) (msg, hint string) {
	const example = `for example "/mcp"`
	switch u, err := url.Parse(text); {
	case err != nil || u.Path != text || u.EscapedPath() != text || path.Clean(text) != text || !strings.HasPrefix(text, "/"):
		return fmt.Sprintf("%s: %s is not a plain path", what, shown), example
	case text == "/sse" || text == "/messages" || strings.HasPrefix(text+"/", "/.well-known/"):
		return fmt.Sprintf("%s: %s is taken, by clients of revision 2024-11-05 or for metadata", what, shown), example
	}
	return "", ""
}
