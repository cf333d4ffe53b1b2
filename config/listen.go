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

// Listen configures the listener for clients.
type Listen struct {
	Stdio            bool   // otherwise HTTP
	HTTP             string // host:port
	Auth             string // "token", "jwt" or "none"
	TokenFile        string // "": a generated one
	JWT              *JWT   // for Auth "jwt", otherwise nil
	AllowedHosts     []string
	AllowedOrigins   []string
	Idle             time.Duration // how long a session over HTTP lives without use
	MaxSessions      int           // over HTTP, of one principal; 0: not said
	MaxSessionsTotal int           // over HTTP; 0: not said
	Path             string        // of the endpoint; "": not said
	TLS              *TLS          // nil: without
	MaxBody          int           // bytes of one message of a client, over stdio too; 0: not said
	MaxHeader        int           // bytes of the headers of one request; 0: not said
	MaxConnections   int           // over HTTP; 0: not said
	Timeouts         Timeouts
	Hooks            bool `json:",omitempty"` // over HTTP, agents may tell of calls of their own tools

	origin
}

// JWT configures the tokens of an authorization server.
type JWT struct {
	Issuer         string
	Audience       string
	JWKS           string   // URL of the issuer's keys; "": from its metadata
	Resource       string   // URL by which clients know the endpoint; "": the audience
	PrincipalClaim string   // "": sub
	Scopes         []string // a token must have all of them
}

// TLS names the files of a certificate, followed by its issuers, and of its key, in
// PEM.
type TLS struct {
	Cert string
	Key  string

	origin
}

// Timeouts bound how long the listener waits for a client over HTTP. 0 stands for
// the default of the listener.
type Timeouts struct {
	Header    time.Duration // to send the headers of a request, and to agree on TLS
	Body      time.Duration // to send a message
	Write     time.Duration // to read the next bytes of a response
	KeepAlive time.Duration // between two requests on a connection
}

// The least that lets a client in at all.
const (
	leastBody    = 1 << 10
	leastHeader  = 4 << 10
	leastTimeout = time.Second
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
		"path":             into(&o.Path, checked(checkFilled, checkPath)),
		"tls":              into(&o.TLS, readTLS),
		"maxBody":          into(&o.MaxBody, size(leastBody)),
		"maxHeader":        into(&o.MaxHeader, size(leastHeader)),
		"maxConnections":   into(&o.MaxConnections, Value.positive),
		"timeouts":         into(&o.Timeouts, readTimeouts),
		"hooks":            into(&o.Hooks, Value.Flag),
	})
	http := v.get("http")
	switch {
	case stdio == nil:
	case http != nil && o.Stdio:
		v.at(stdio, `"stdio" and "http" exclude each other`, "one of them")
	case http == nil && !o.Stdio && stdio.kind == boolKind:
		v.at(stdio, `without "stdio" there must be "http"`, `http: "127.0.0.1:7777"`)
	}
	for _, f := range v.fields { // no errors, and no word yet: the address may come from a flag
		if http == nil && !slices.Contains([]string{"stdio", "maxBody"}, f.key.text) {
			l.ofHTTP = append(l.ofHTTP, f.key)
		}
	}
}

func readJWT(v Value) (*JWT, bool) {
	j := &JWT{}
	before := v.Faults()
	v.Fields(Keys{
		"issuer":         into(&j.Issuer, checked(checkFilled)),
		"audience":       into(&j.Audience, checked(checkFilled)),
		"jwks":           into(&j.JWKS, checked(checkFilled)),
		"resource":       into(&j.Resource, checked(checkFilled)),
		"principalClaim": into(&j.PrincipalClaim, checked(checkFilled)),
		"scopes":         into(&j.Scopes, each(checked(checkScope))),
	})
	if v.Faults() == before {
		checkJWT(v, j)
	}
	return j, true
}

// checkScope accepts a scope of RFC 6749.
func checkScope(_, shown, text string) (msg, hint string) {
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }) {
		return shown + " is not a scope", "one word in each entry"
	}
	return "", ""
}

// checkJWT checks that the section has the keys that validation requires.
func checkJWT(v Value, j *JWT) {
	v.requires(exampleOfJWT, "issuer", "audience")
	issuer, audience := v.get("issuer"), v.get("audience")
	switch at := v.get("jwks"); {
	case at != nil && !trustworthy(j.JWKS):
		v.at(at, `"jwks" must be a URL that begins with https://`, "http:// only for this machine")
	case at == nil && issuer != nil && !discoverable(j.Issuer):
		v.at(issuer, `without "jwks" the issuer is asked where its keys are: "issuer" must be a URL that begins with https://`, "http:// only for this machine")
	}
	switch at := v.get("resource"); {
	case at != nil && !isURL(j.Resource):
		v.at(at, `"resource" must be the URL of this endpoint`, `for example "https://gate.example.com/mcp"`)
	case at == nil && audience != nil && !isURL(j.Audience):
		v.at(audience, `"audience" is not a URL, and clients need the URL of this endpoint`, `resource: "https://gate.example.com/mcp"`)
	}
}

// requires reports keys that a section lacks.
func (v Value) requires(example string, keys ...string) {
	for _, key := range keys {
		if v.get(key) == nil {
			v.at(v.key, fmt.Sprintf("%s requires %q", v.what, key), example)
		}
	}
}

const exampleOfJWT = `jwt: { issuer: "https://login.example.com", audience: "https://gate.example.com/mcp" }`

func isURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil && u.Fragment == ""
}

// trustworthy reports whether nobody else can answer for the address.
func trustworthy(text string) bool {
	u, err := url.Parse(text)
	return err == nil && isURL(text) && (u.Scheme == "https" || loopback(net.JoinHostPort(u.Hostname(), "0")))
}

// discoverable reports whether an issuer can publish its keys by RFC 8414.
func discoverable(issuer string) bool { return trustworthy(issuer) && !strings.Contains(issuer, "?") }

// settleListen checks the settings of the listener together.
func (c *Config) settleListen(d *decoder, l *layers) {
	if c.Listen.Stdio {
		for _, key := range l.ofHTTP {
			d.warn(key, fmt.Sprintf("%q has no effect without \"http\"", key.text), "")
		}
		return
	}
	switch {
	case c.Listen.Auth == "none" && !loopback(c.Listen.HTTP):
		d.at(cmp.Or(l.set["listen.auth"], l.set["listen.http"]), `listening without authentication is refused: "listen.http" can be reached from other machines`,
			"auth: token, or an address like 127.0.0.1:7777")
	case c.Listen.Auth == "jwt" && c.Listen.JWT == nil:
		d.at(l.set["listen.auth"], `"auth": "jwt" requires the section "jwt" of "listen"`, exampleOfJWT)
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

// allNetworks reports whether an address means all networks of the machine.
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
	v.Fields(Keys{"cert": into(&t.Cert, checked(checkFilled)), "key": into(&t.Key, checked(checkFilled))})
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

// readTimeout reads a duration that is long enough for a client.
func readTimeout(v Value) (time.Duration, bool) {
	text, ok := scalar{check: checkDuration(leastTimeout), timed: true}.read(v)
	t, _ := duration(text)
	return t, ok
}

// checkPath accepts a plain path that nothing else uses.
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
