package config

import (
	"fmt"
	"strings"
)

// OAuth configures how petrigate gets tokens for an HTTP server. A server without
// it is used with tokens once somebody has logged in.
type OAuth struct {
	Disabled     bool     // never send a token
	Grant        string   // "authorization-code" or "client-credentials"
	ClientID     string   // "": petrigate registers itself
	ClientSecret string   // for Issuer, which it requires
	Scopes       []string // nil: those that the server asks for
	Issuer       string   // of the authorization server; "": the one that the server names
	RedirectPort int      // of the login's listener on this machine; 0: any
	Store        string   // "auto", "keyring" or "file"
}

// String shows nothing of o, which may contain a secret.
func (o OAuth) String() string { return "config.OAuth" }

// GoString shows nothing of o.
func (o OAuth) GoString() string { return o.String() }

func readOAuth(d *decoder, to **OAuth) func(key, value *node) {
	return func(key, value *node) {
		o := &OAuth{Grant: "authorization-code", Store: "auto"}
		*to = o
		if value.kind == boolKind {
			o.Disabled = value.text == "false"
			return
		}
		before := len(d.errs)
		d.mapping(value, quoted(key), keys{
			"grant":        readChoice(d, &o.Grant, []string{"authorization-code", "client-credentials"}, nil),
			"clientId":     d.filledSetting(&o.ClientID),
			"clientSecret": d.filledSetting(&o.ClientSecret),
			"scopes":       readScopes(d, &o.Scopes),
			"issuer":       d.filledSetting(&o.Issuer),
			"redirectPort": readPort(d, &o.RedirectPort),
			"store":        readChoice(d, &o.Store, []string{"auto", "keyring", "file"}, nil),
		})
		if len(d.errs) == before {
			checkOAuth(d, key, value, o)
		}
	}
}

// readPort reads the number of a TCP port.
func readPort(d *decoder, to *int) func(key, value *node) {
	return func(key, value *node) {
		n, ok := d.count(value, quoted(key))
		if ok && (n == 0 || n > 65535) {
			d.at(value, quoted(key)+" must be a port from 1 to 65535", "")
		}
		*to = n
	}
}

const exampleOfCredentials = `oauth: { grant: client-credentials, clientId: "petrigate", clientSecret: "${env:CLIENT_SECRET}", issuer: "https://login.example.com" }`

// checkOAuth checks that the keys of the section belong together.
func checkOAuth(d *decoder, key, value *node, o *OAuth) {
	secret := value.get("clientSecret")
	switch {
	case o.Grant == "client-credentials" && (o.ClientID == "" || secret == nil):
		d.at(key, `"client-credentials" requires "clientId" and "clientSecret"`, exampleOfCredentials)
	case secret != nil && o.ClientID == "":
		d.at(secret, `"clientSecret" requires "clientId"`, "")
	case secret != nil && o.Issuer == "":
		d.at(secret, `"clientSecret" requires "issuer", the authorization server that it is for: otherwise the server could name any`, `issuer: "https://login.example.com"`)
	}
	if at := value.get("issuer"); at != nil && !trustworthy(o.Issuer) {
		d.at(at, `"issuer" must be a URL that begins with https://`, "http:// only for this machine")
	}
	for _, name := range []string{"redirectPort", "store"} {
		if at := value.get(name); at != nil && o.Grant == "client-credentials" {
			d.warn(at, fmt.Sprintf("%q has no effect with %q", name, o.Grant), "")
		}
	}
}

// checkAuthorizedOnce checks that the requests to a server have only one authorization,
// and that a token does not cross the network in the clear.
func checkAuthorizedOnce(d *decoder, n *node, s *Server) {
	section := n.get("oauth")
	if section == nil || s.OAuth == nil || s.OAuth.Disabled {
		return
	}
	for name := range s.Headers {
		if strings.EqualFold(name, "Authorization") {
			d.at(section, `"oauth" and a header Authorization exclude each other`, "one of them")
		}
	}
	if s.URL != "" && !trustworthy(s.URL) {
		d.at(section, `"oauth" requires a "url" that begins with https://`, "http:// only for this machine")
	}
}
