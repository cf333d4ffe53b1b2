package config

import (
	"fmt"
	"strings"
	"unicode"
)

// A ToolFilter selects the tools of a server by patterns over its own names. Deny
// overrides Allow; without Allow, all tools are allowed.
type ToolFilter struct {
	Allow []string
	Deny  []string
}

func readToolFilter(v Value) (f ToolFilter, ok bool) {
	v.Fields(Keys{"allow": into(&f.Allow, each(checked(checkToolPattern))), "deny": into(&f.Deny, each(checked(checkToolPattern)))})
	if v.kind == mapKind && len(v.fields) == 0 {
		v.at(v.key, v.what+" is empty", "write allow or deny, or leave it out")
	}
	if allow := v.get("allow"); allow != nil && allow.kind == listKind && len(allow.items) == 0 {
		v.at(allow, `"allow" is empty: no tool could be called`, `"disabled: true" turns a server off`)
	}
	return f, true
}

// checkToolPattern refuses a pattern that cannot match the name of a tool.
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

// ServerLimits bound what a server is used for; 0: the bound of the proxy.
type ServerLimits struct {
	InFlight    int // calls under way at a time
	MessageSize int // bytes of one message of the server
	Sessions    int // that have the server for themselves at a time
}

const leastMessage = 4 << 10

func readServerLimits(v Value) (l ServerLimits, ok bool) {
	v.Fields(Keys{
		"inFlight":    into(&l.InFlight, Value.positive),
		"messageSize": into(&l.MessageSize, size(leastMessage)),
		"sessions":    into(&l.Sessions, Value.positive),
	})
	return l, true
}

// A ServerTLS configures how petrigate verifies a server over https, and the
// certificate that it presents. Verification cannot be switched off: an attacker
// in between would get the credentials, and choose the tools.
type ServerTLS struct {
	CA         string // file of root certificates; "": those of the system
	Cert, Key  string // files of our own certificate; "": none
	ServerName string // name that the certificate must be for; "": the host of the url

	origin
}

func readServerTLS(v Value) (*ServerTLS, bool) {
	t := &ServerTLS{origin: origin{v.source, v.node}}
	before := v.Faults()
	v.as(`"tls" of a server`).Fields(Keys{
		"ca":         into(&t.CA, checked(checkFilled)),
		"cert":       into(&t.Cert, checked(checkFilled)),
		"key":        into(&t.Key, checked(checkFilled)),
		"serverName": into(&t.ServerName, checked(checkFilled)),
	})
	switch {
	case v.Faults() > before || v.kind != mapKind:
	case len(v.fields) == 0:
		v.at(v.key, v.what+" is empty", "leave it out")
	case (t.Cert == "") != (t.Key == ""):
		v.at(v.key, `"cert" and "key" require each other`, "")
	}
	t.CA, t.Cert, t.Key = v.absolute(t.CA), v.absolute(t.Cert), v.absolute(t.Key)
	return t, true
}

// checkSecureOnly checks that only servers over https have TLS settings.
func checkSecureOnly(v Value, s *Server) {
	if section := v.get("tls"); section != nil && s.TLS != nil && strings.HasPrefix(s.URL, "http:") {
		v.at(section, `"tls" requires a "url" that begins with https://`, "")
	}
}
