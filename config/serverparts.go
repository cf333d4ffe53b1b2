package config

import (
	"fmt"
	"strings"
	"unicode"
)

// A ToolFilter selects the tools of a server by patterns over the server's own tool names. Deny
// overrides Allow; an empty Allow allows all tools.
type ToolFilter struct {
	Allow []string
	Deny  []string
}

func readToolFilter(v Value) (f ToolFilter, ok bool) {
	v.Fields(Keys{"allow": into(&f.Allow, each(checked(checkToolPattern))), "deny": into(&f.Deny, each(checked(checkToolPattern)))})
	if v.kind == mapKind && len(v.fields) == 0 {
		v.faultAt(v.key, v.what+" is empty", "write allow or deny, or leave it out")
	}
	if allow := v.get("allow"); allow != nil && allow.kind == listKind && len(allow.items) == 0 {
		v.faultAt(allow, `"allow" is empty: no tool could be called`, `"disabled: true" turns a server off`)
	}
	return f, true
}

// checkToolPattern refuses a pattern that cannot match any tool name.
func checkToolPattern(what, shown, text string) (msg, hint string) {
	strange := func(r rune) bool {
		return r >= 0x80 || !(unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_./-*?", r))
	}
	switch {
	case text == "":
		return fmt.Sprintf("%s: %s is empty", what, shown), ""
	case strings.ContainsFunc(text, strange):
		return fmt.Sprintf("%s: %s matches no tool: their names are of A-Z a-z 0-9 _ . / -", what, shown), "in a pattern * is any run of characters, ? is one"
	}
	return "", ""
}

// ServerLimits bounds the use of a server. 0 selects the default of the proxy.
type ServerLimits struct {
	InFlight    int // concurrent calls
	MessageSize int // bytes of one message from the server
	Sessions    int // concurrent sessions with a server instance of their own
}

const minMessageSize = 4 << 10

func readServerLimits(v Value) (l ServerLimits, ok bool) {
	v.Fields(Keys{
		"inFlight":    into(&l.InFlight, Value.positive),
		"messageSize": into(&l.MessageSize, size(minMessageSize)),
		"sessions":    into(&l.Sessions, Value.positive),
	})
	return l, true
}

// A ServerTLS configures how petrigate verifies an https server, and the client certificate that it
// presents. Verification cannot be turned off: a man in the middle would get the credentials and
// could choose the tools.
type ServerTLS struct {
	CA         string // file of root certificates; empty: those of the system
	Cert, Key  string // files of the client certificate and its key; empty: no client certificate
	ServerName string // expected name in the server's certificate; empty: the host of the URL

	origin
}

func readServerTLS(v Value) (*ServerTLS, bool) {
	t := &ServerTLS{origin: origin{v.source, v.node}}
	before := v.Faults()
	v.as(`"tls" of a server`).Fields(Keys{
		"ca":         into(&t.CA, checked(checkNotEmpty)),
		"cert":       into(&t.Cert, checked(checkNotEmpty)),
		"key":        into(&t.Key, checked(checkNotEmpty)),
		"serverName": into(&t.ServerName, checked(checkNotEmpty)),
	})
	switch {
	case v.Faults() > before || v.kind != mapKind:
	case len(v.fields) == 0:
		v.faultAt(v.key, v.what+" is empty", "leave it out")
	case (t.Cert == "") != (t.Key == ""):
		v.faultAt(v.key, `"cert" and "key" require each other`, "")
	}
	t.CA, t.Cert, t.Key = v.absolute(t.CA), v.absolute(t.Cert), v.absolute(t.Key)
	return t, true
}

// checkSecureOnly checks that only https servers have TLS settings.
func checkSecureOnly(v Value, s *Server) {
	if section := v.get("tls"); section != nil && s.TLS != nil && strings.HasPrefix(s.URL, "http:") {
		v.faultAt(section, `"tls" requires a "url" that begins with https://`, "")
	}
}
