package config

import (
	"fmt"
	"net/url"
	"path"
	"strings"
	"time"
)

// TLS names the files of a certificate, followed by its issuers, and of its key, in
// PEM.
type TLS struct {
	Cert string
	Key  string

	origin
}

// Timeouts bound how long the listener waits for a client over HTTP. 0 stands for
// the default of the listener.
type Timeouts struct {
	Header    time.Duration // to send the headers of a request, and to agree on TLS
	Body      time.Duration // to send a message
	Write     time.Duration // to read the next bytes of a response
	KeepAlive time.Duration // between two requests on a connection
}

// The least that lets a client in at all.
const (
	leastBody    = 1 << 10
	leastHeader  = 4 << 10
	leastTimeout = time.Second
)

func readTLS(v Value) (*TLS, bool) {
	t := &TLS{origin: origin{v.source, v.node}}
	before := v.Faults()
	v.Fields(Keys{"cert": into(&t.Cert, checked(checkFilled)), "key": into(&t.Key, checked(checkFilled))})
	if v.Faults() == before {
		v.requires(`tls: { cert: "cert.pem", key: "key.pem" }`, "cert", "key")
	}
	t.Cert, t.Key = v.absolute(t.Cert), v.absolute(t.Key)
	return t, true
}

func readTimeouts(v Value) (t Timeouts, ok bool) {
	v.Fields(Keys{
		"header":    into(&t.Header, readTimeout),
		"body":      into(&t.Body, readTimeout),
		"write":     into(&t.Write, readTimeout),
		"keepAlive": into(&t.KeepAlive, readTimeout),
	})
	return t, true
}

// readTimeout reads a duration that is long enough for a client.
func readTimeout(v Value) (time.Duration, bool) {
	text, ok := scalar{check: checkDuration(leastTimeout), timed: true}.read(v)
	t, _ := duration(text)
	return t, ok
}

// checkPath accepts a plain path that nothing else uses.
func checkPath(what, shown, text string) (msg, hint string) {
	const example = `for example "/mcp"`
	switch u, err := url.Parse(text); {
	case err != nil || u.Path != text || u.EscapedPath() != text || path.Clean(text) != text || !strings.HasPrefix(text, "/"):
		return fmt.Sprintf("%s: %s is not a plain path", what, shown), example
	case text == "/sse" || text == "/messages" || strings.HasPrefix(text+"/", "/.well-known/"):
		return fmt.Sprintf("%s: %s is taken, by clients of revision 2024-11-05 or for metadata", what, shown), example
	}
	return "", ""
}
