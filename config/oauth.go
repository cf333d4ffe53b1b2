package config

import (
	"fmt"
	"math"
	"regexp"
)

// OAuth configures how petrigate obtains tokens for an HTTP server. Without this section, petrigate
// sends no tokens to a server until a user has logged in to it.
type OAuth struct {
	Disabled     bool     // whether to send no tokens at all
	Grant        string   // grant type: "authorization-code" or "client-credentials"
	ClientID     string   // client ID; if empty, petrigate registers itself as a client
	ClientSecret string   // client secret for the authorization server at Issuer; if it is set, Issuer must be set, too
	Scopes       []string // scopes to request; nil means the scopes that the server asks for
	Issuer       string   // URL of the authorization server; empty means the URL that the server specifies
	RedirectPort int      // local port for the redirect that ends the login; 0 means any port
	RedirectHost string   // host in the redirect URI: "127.0.0.1", "localhost" or "[::1]"
	RedirectPath string   // path in the redirect URI
	Store        string   // token store: "auto", "keyring" or "file"
}

// String returns a constant, because o may contain a secret.
func (o OAuth) String() string { return "config.OAuth" }

// GoString returns the same string as [OAuth.String].
func (o OAuth) GoString() string { return o.String() }

func readOAuth(v Value) (*OAuth, bool) {
	o := &OAuth{Grant: "authorization-code", Store: "auto", RedirectHost: "127.0.0.1", RedirectPath: "/callback"}
	if v.kind == boolKind {
		o.Disabled = v.text == "false"
		return o, true
	}
	ok := v.Fields(Keys{
		"grant":        into(&o.Grant, checked(checkWord([]string{"authorization-code", "client-credentials"}))),
		"clientId":     into(&o.ClientID, checked(checkNotEmpty)),
		"clientSecret": into(&o.ClientSecret, checked(checkNotEmpty)),
		"scopes":       into(&o.Scopes, listOf(checked(checkScope))),
		"issuer":       into(&o.Issuer, checked(checkNotEmpty)),
		"redirectPort": into(&o.RedirectPort, whole(1, math.MaxUint16)),
		"redirectHost": into(&o.RedirectHost, checked(checkWord([]string{"127.0.0.1", "localhost", "[::1]"}))),
		"redirectPath": into(&o.RedirectPath, checked(checkRedirectPath)),
		"store":        into(&o.Store, checked(checkWord([]string{"auto", "keyring", "file"}))),
	})
	if ok {
		checkOAuth(v, o)
	}
	return o, true
}

var redirectPath = regexp.MustCompile(`^/[A-Za-z0-9._~/-]*$`)

var checkRedirectPath = accept(redirectPath.MatchString, "%[1]s: %[2]s is not a URL path", `redirectPath: /callback`)

const exampleOfCredentials = `oauth: { grant: client-credentials, clientId: "petrigate", clientSecret: "${env:CLIENT_SECRET}", issuer: "https://login.example.com" }`

// checkOAuth checks the section's keys against each other.
func checkOAuth(v Value, o *OAuth) {
	secret := v.get("clientSecret")
	switch {
	case o.Grant == "client-credentials" && (o.ClientID == "" || secret == nil):
		v.faultAt(v.key, `"client-credentials" requires "clientId" and "clientSecret"`, exampleOfCredentials)
	case secret != nil && o.ClientID == "":
		v.faultAt(secret, `"clientSecret" requires "clientId"`, "")
	case secret != nil && o.Issuer == "":
		v.faultAt(secret, `"clientSecret" requires "issuer", its authorization server: otherwise the server could name any`, `issuer: "https://login.example.com"`)
	}
	if at := v.get("issuer"); at != nil && !isSecureURL(o.Issuer) {
		v.faultAt(at, `"issuer" must be a URL that begins with https://`, "http:// is allowed only for this machine")
	}
	for _, name := range []string{"redirectPort", "redirectHost", "redirectPath", "store"} {
		if at := v.get(name); at != nil && o.Grant == "client-credentials" {
			v.warn(at, fmt.Sprintf("%q has no effect with %q", name, o.Grant), "")
		}
	}
}
