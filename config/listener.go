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

func readTLS(d *decoder, to **TLS) func(key, value *node) {
	return func(key, value *node) {
		t := &TLS{origin: origin{d.source, value}}
		before := len(d.errs)
		d.mapping(value, quoted(key), keys{"cert": d.filledSetting(&t.Cert), "key": d.filledSetting(&t.Key)})
		for _, wanted := range []string{"cert", "key"} {
			if len(d.errs) == before && value.get(wanted) == nil {
				d.at(key, fmt.Sprintf("%q requires %q", key.text, wanted), `tls: { cert: "cert.pem", key: "key.pem" }`)
				return
			}
		}
		t.Cert, t.Key = d.absolute(t.Cert), d.absolute(t.Key)
		*to = t
	}
}

func readTimeouts(d *decoder, to *Timeouts) func(key, value *node) {
	return func(key, value *node) {
		d.mapping(value, quoted(key), keys{
			"header":    d.period(&to.Header),
			"body":      d.period(&to.Body),
			"write":     d.period(&to.Write),
			"keepAlive": d.period(&to.KeepAlive),
		})
	}
}

// period reads a duration that is long enough for a client.
func (d *decoder) period(to *time.Duration) func(key, value *node) {
	return func(key, value *node) {
		if text, ok := d.checked(key, value, true, checkDuration(leastTimeout)); ok {
			*to, _ = duration(text)
		}
	}
}

// readEndpointPath reads the path of the endpoint: a plain path that nothing else uses.
func readEndpointPath(d *decoder, to *string) func(key, value *node) {
	return func(key, value *node) {
		before := len(d.errs)
		d.filledSetting(to)(key, value)
		if value.kind != textKind || len(d.errs) > before {
			return
		}
		switch u, err := url.Parse(*to); {
		case err != nil || u.Path != *to || u.EscapedPath() != *to || path.Clean(*to) != *to || !strings.HasPrefix(*to, "/"):
			d.at(value, fmt.Sprintf("%q: %s is not a plain path", key.text, shown(value)), `for example "/mcp"`)
		case *to == "/sse" || *to == "/messages" || strings.HasPrefix(*to+"/", "/.well-known/"):
			d.at(value, fmt.Sprintf("%q: %s is taken, by clients of revision 2024-11-05 or for metadata", key.text, shown(value)), `for example "/mcp"`)
		}
	}
}
