package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
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

// httpOnly are the keys of listen that concern only HTTP. Read-only.
var httpOnly = []string{"auth", "tokenFile", "jwt", "allowedHosts", "allowedOrigins", "idle", "maxSessions", "maxSessionsTotal",
	"path", "tls", "maxHeader", "maxConnections", "timeouts"}

func readListen(d *decoder, c *Config, l *layers) func(key, value *node) {
	return func(key, value *node) {
		var stdio *node
		d.mapping(value, quoted(key), keys{
			"stdio": func(k, v *node) {
				d.flag(&c.Listen.Stdio)(k, v)
				stdio = v
			},
			"http":             d.scalar(l, "listen.http", false),
			"auth":             d.scalar(l, "listen.auth", false),
			"tokenFile":        d.scalar(l, "listen.tokenFile", true),
			"idle":             d.scalar(l, "listen.idle", false),
			"jwt":              readJWT(d, c, l),
			"allowedHosts":     d.settings(&c.Listen.AllowedHosts),
			"allowedOrigins":   d.settings(&c.Listen.AllowedOrigins),
			"maxSessions":      d.atLeastOne(&c.Listen.MaxSessions),
			"maxSessionsTotal": d.atLeastOne(&c.Listen.MaxSessionsTotal),
			"path":             readEndpointPath(d, &c.Listen.Path),
			"tls":              readTLS(d, &c.Listen.TLS),
			"maxBody":          readSize(d, &c.Listen.MaxBody, leastBody),
			"maxHeader":        readSize(d, &c.Listen.MaxHeader, leastHeader),
			"maxConnections":   d.atLeastOne(&c.Listen.MaxConnections),
			"timeouts":         readTimeouts(d, &c.Listen.Timeouts),
		})
		http := value.get("http")
		switch {
		case stdio == nil:
		case http != nil && c.Listen.Stdio:
			d.at(stdio, `"stdio" and "http" exclude each other`, "one of them")
		case http == nil && !c.Listen.Stdio && stdio.kind == boolKind:
			d.at(stdio, `without "stdio" there must be "http"`, `http: "127.0.0.1:7777"`)
		}
		warnWithoutHTTP(d, value, http)
	}
}

// warnWithoutHTTP warns of keys that concern only HTTP. They are not errors: the
// address may come from a flag.
func warnWithoutHTTP(d *decoder, n, http *node) {
	if http != nil {
		return
	}
	for _, f := range n.fields {
		if slices.Contains(httpOnly, f.key.text) {
			d.warn(f.key, fmt.Sprintf("%q has no effect without \"http\"", f.key.text), "")
		}
	}
}

// atLeastOne reads a bound; with 0, nobody could connect.
func (d *decoder) atLeastOne(to *int) func(key, value *node) {
	return func(key, value *node) {
		n, ok := d.count(value, quoted(key))
		if ok && n == 0 {
			d.at(value, quoted(key)+" must be 1 or more", "")
		}
		*to = n
	}
}

func readJWT(d *decoder, c *Config, l *layers) func(key, value *node) {
	return func(key, value *node) {
		l.at["listen.jwt"] = key
		j := &JWT{}
		before := len(d.errs)
		d.mapping(value, quoted(key), keys{
			"issuer":         d.filledSetting(&j.Issuer),
			"audience":       d.filledSetting(&j.Audience),
			"jwks":           d.filledSetting(&j.JWKS),
			"resource":       d.filledSetting(&j.Resource),
			"principalClaim": d.filledSetting(&j.PrincipalClaim),
			"scopes":         readScopes(d, &j.Scopes),
		})
		c.Listen.JWT = j
		if len(d.errs) == before {
			checkJWT(d, key, value, j)
		}
	}
}

// filledSetting reads a text that must not be empty, and replaces ${...} in it.
func (d *decoder) filledSetting(to *string) func(key, value *node) {
	return func(key, value *node) {
		before := len(d.errs)
		d.setting(to)(key, value)
		if *to == "" && len(d.errs) == before {
			d.at(value, quoted(key)+" is empty", "")
		}
	}
}

// readScopes reads scopes of RFC 6749.
func readScopes(d *decoder, to *[]string) func(key, value *node) {
	return func(key, value *node) {
		d.items(key, value, func(item *node) {
			scope := d.interpolated(item)
			if scope == "" || slices.ContainsFunc([]rune(scope), func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }) {
				d.at(item, fmt.Sprintf("%s is not a scope", shown(item)), "one word in each entry")
				return
			}
			*to = append(*to, scope)
		})
	}
}

// checkJWT checks that the section has the keys that validation requires.
func checkJWT(d *decoder, key, value *node, j *JWT) {
	for _, wanted := range []string{"issuer", "audience"} {
		if value.get(wanted) == nil {
			d.at(key, fmt.Sprintf("%q requires %q", "jwt", wanted), exampleOfJWT)
		}
	}
	switch at := value.get("jwks"); {
	case at != nil && !trustworthy(j.JWKS):
		d.at(at, fmt.Sprintf("%q must be a URL that begins with https://", "jwks"), "http:// only for this machine")
	case at == nil && value.get("issuer") != nil && !discoverable(j.Issuer):
		d.at(value.get("issuer"), `without "jwks" the issuer is asked where its keys are: "issuer" must be a URL that begins with https://`, "http:// only for this machine")
	}
	switch at := value.get("resource"); {
	case at != nil && !isURL(j.Resource):
		d.at(at, fmt.Sprintf("%q must be the URL of this endpoint", "resource"), `for example "https://gate.example.com/mcp"`)
	case at == nil && value.get("audience") != nil && !isURL(j.Audience):
		d.at(value.get("audience"), `"audience" is not a URL, and clients need the URL of this endpoint`, `resource: "https://gate.example.com/mcp"`)
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
		return
	}
	open := !loopback(c.Listen.HTTP)
	switch {
	case c.Listen.Auth == "none" && open:
		msg := fmt.Sprintf("listening without authentication is refused: %q can be reached from other machines", "listen.http")
		d.place(l, msg, "auth: token, or an address like 127.0.0.1:7777", "listen.auth", "listen.http")
	case c.Listen.Auth == "jwt" && c.Listen.JWT == nil:
		d.place(l, `"auth": "jwt" requires the section "jwt" of "listen"`, exampleOfJWT, "listen.auth")
	case c.Listen.Auth != "jwt" && c.Listen.JWT != nil:
		d.warn(l.at["listen.jwt"], `"jwt" has no effect without "auth": "jwt"`, "auth: jwt")
	}
	if at := l.at["listen.tokenFile"]; at != nil && c.Listen.Auth != "token" {
		d.warn(at, fmt.Sprintf(`"tokenFile" has no effect with "auth": %q`, c.Listen.Auth), "")
	}
	if allNetworks(c.Listen.HTTP) && len(c.Listen.AllowedHosts) == 0 {
		d.warnPlace(l, "clients on other machines are refused until the names by which they know this one are listed", `listen: { allowedHosts: ["gate.example.com"] }`, "listen.http")
	}
}

// warnPlace warns of a setting at its position in the file, or names the flag or
// variable that sets it.
func (d *decoder) warnPlace(l *layers, msg, hint, name string) {
	if at := l.at[name]; at != nil {
		d.warn(at, msg, hint)
		return
	}
	d.warns = append(d.warns, Error{Msg: msg, Hint: hint})
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
