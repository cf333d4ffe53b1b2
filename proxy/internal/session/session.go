package session

import (
	"net/http"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/admission"
)

// A Session is the state that calls share: the nets and, for a connection, tasks and dedicated
// connections to servers.
type Session struct {
	ID        string
	Principal string
	By        string // connection, principal, name, header, meta or agent; see [Sessions.Of]
	Label     string // distinguishes the session from others of the principal
	Since     time.Time
	Lasting   bool        // outlives the process if the states do
	About     []byte      // encoded [About] for other replicas; nil: not stored
	Left      atomic.Bool // this process no longer serves the session, but other replicas might
	Bare      bool        // session of a connection whose calls use the nets of another session
	Ended     atomic.Bool // no further call begins in the session
	Narrowed  atomic.Bool // a client was shown only the tools that the session's nets admit
}

// Key returns the key of the session's state in the admission.
func (s *Session) Key() admission.Key { return admission.Key{Session: s.ID, Principal: s.Principal} }

// byAgent is Session.By of the sessions that an agent's hooks name.
const byAgent = "agent"

// OfAgent reports whether the session belongs to an agent's hooks alone; see [Sessions.OfAgent].
func (s *Session) OfAgent() bool { return s.By == byAgent }

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
