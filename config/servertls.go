package config

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
		v.faultAt(v.key, v.what+" is empty", "omit it")
	case (t.Cert == "") != (t.Key == ""):
		v.faultAt(v.key, `"cert" and "key" require each other`, "")
	}
	t.CA, t.Cert, t.Key = v.absolute(t.CA), v.absolute(t.Cert), v.absolute(t.Key)
	return t, true
}
