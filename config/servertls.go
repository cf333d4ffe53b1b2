package config

import (
	"fmt"
	"strings"
)

// A ServerTLS says how a server over https is known, and how petrigate shows
// itself to it. There is no way to leave a server unknown: who stands between
// would get the credentials, and say what the tools are.
type ServerTLS struct {
	CA         string // file of those who vouch for the server, in place of those of the system; "": those
	Cert, Key  string // files of our own certificate; "": none
	ServerName string // that the certificate of the server has to be for; "": the host of the url

	origin
}

func (d *decoder) serverTLS(to **ServerTLS) func(key, value *node) {
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

// secureOnly checks that what is said of TLS is said of a server that speaks it.
func (d *decoder) secureOnly(n *node, s *Server) {
	if section := n.get("tls"); section != nil && s.TLS != nil && strings.HasPrefix(s.URL, "http:") {
		d.at(section, `"tls" requires a "url" that begins with https://`, "")
	}
}
