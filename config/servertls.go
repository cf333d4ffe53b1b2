package config

import (
	"fmt"
	"strings"
)

// A ServerTLS configures how petrigate verifies a server over https, and the
// certificate that it presents. Verification cannot be switched off: an attacker
// in between would get the credentials, and choose the tools.
type ServerTLS struct {
	CA         string // file of root certificates; "": those of the system
	Cert, Key  string // files of our own certificate; "": none
	ServerName string // name that the certificate must be for; "": the host of the url

	origin
}

func readServerTLS(d *decoder, to **ServerTLS) func(key, value *node) {
	return func(key, value *node) {
		t := &ServerTLS{origin: origin{d.source, value}}
		before := len(d.errs)
		d.mapping(value, `"tls" of a server`, keys{
			"ca": d.filledSetting(&t.CA), "cert": d.filledSetting(&t.Cert), "key": d.filledSetting(&t.Key), "serverName": d.filledSetting(&t.ServerName),
		})
		switch {
		case len(d.errs) > before || value.kind != mapKind:
		case len(value.fields) == 0:
			d.at(key, fmt.Sprintf("%s is empty", quoted(key)), "leave it out")
		case (t.Cert == "") != (t.Key == ""):
			d.at(key, `"cert" and "key" require each other`, "")
		}
		t.CA, t.Cert, t.Key = d.absolute(t.CA), d.absolute(t.Cert), d.absolute(t.Key)
		*to = t
	}
}

// checkSecureOnly checks that only servers over https have TLS settings.
func checkSecureOnly(d *decoder, n *node, s *Server) {
	if section := n.get("tls"); section != nil && s.TLS != nil && strings.HasPrefix(s.URL, "http:") {
		d.at(section, `"tls" requires a "url" that begins with https://`, "")
	}
}
