package session

import "net/http"

// A Way configures which session a call is in. The zero value is "connection".
type Way struct {
	By     string // "connection", "principal", "name", "header" or "meta"; empty: "connection"
	Name   string // session name, for "name"
	Header string // header that names the session, for "header"
	Meta   string // key of _meta that names the session, for "meta"
}

// An Origin holds the parts of a request that determine its session.
type Origin struct {
	Principal  string
	Connection *Session    // session of the connection, or one issued by the proxy; nil: none
	Header     http.Header // nil: the transport has no headers
	Params     []byte
}
