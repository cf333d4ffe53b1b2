package config

// A ServerTLS configures how petrigate verifies the certificate of an https server, and which
// client certificate petrigate presents. Verification cannot be disabled: without it, an attacker
// on the network could steal the credentials and replace the server's tools.
type ServerTLS struct {
	CA         string // file with root certificates; empty means the system's
	Cert, Key  string // files with the client certificate and its key; empty if not used
	ServerName string // name that the server's certificate must contain; empty means the host in the URL

	origin
}

func readServerTLS(v Value) (*ServerTLS, bool) {
	t := &ServerTLS{origin: origin{v.source, v.node}}
	ok := v.named(`"tls" of a server`).Fields(Keys{
		"ca":         into(&t.CA, checked(checkNotEmpty)),
		"cert":       into(&t.Cert, checked(checkNotEmpty)),
		"key":        into(&t.Key, checked(checkNotEmpty)),
		"serverName": into(&t.ServerName, checked(checkNotEmpty)),
	})
	switch {
	case !ok || v.kind != mapKind:
	case len(v.fields) == 0:
		v.faultAt(v.key, v.what+" is empty", "omit it")
	case (t.Cert == "") != (t.Key == ""):
		v.faultAt(v.key, `"cert" and "key" require each other`, "")
	}
	t.CA, t.Cert, t.Key = v.absolute(t.CA), v.absolute(t.Cert), v.absolute(t.Key)
	return t, true
}
