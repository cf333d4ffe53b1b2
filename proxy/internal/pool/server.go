package pool

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// upstreamState is one connection to an MCP server: the one that sessions share,
// or a dedicated one of a session.
type Server struct {
	*upstream.Upstream
	Config  Upstream
	several bool // it is one of several

	Listing   relisting      // of its tools
	InFlight  queue          // calls that were sent and have no answer
	Abandoned abandonedCalls // that the server may be busy with

	placement placement        // of a trunk
	Calls     session.Quota    // calls at a trunk and its branches, where they are counted
	shared    *Server          // of a branch; nil: this is a trunk
	Session   *session.Session // whose branch it is
	closed    chan struct{}    // closed when the branch has ended
	used      atomic.Int64     // when a request was last sent there

	once    sync.Once
	started chan struct{} // closed when it was listed first, or is known to be down
}

func NewServer(c Upstream, several bool) *Server {
	return &Server{Config: c, several: several, started: make(chan struct{})}
}

// Rev is the family of revisions that the server speaks.
func (u *Server) Rev() *rev.Rev { return u.State().Rev() }

// Starting reports whether u was neither listed nor is known to be down.
func (u *Server) Starting() bool {
	select {
	case <-u.started:
		return false
	default:
		return true
	}
}

// ended reports whether a branch has ended.
func (u *Server) ended() bool {
	select {
	case <-u.closed: // nil of a trunk, which stays
		return true
	default:
		return false
	}
}

func (u *Server) MarkStarted() { u.once.Do(func() { close(u.started) }) }

// Dedicated reports whether u serves one session only.
func (u *Server) Dedicated() bool { return u.shared != nil }

// Shared returns the connection that sessions share: u itself, or the one that u is a
// dedicated copy of.
func (u *Server) Shared() *Server {
	if u.Dedicated() {
		return u.shared
	}
	return u
}

// Has reports whether the server behind u offers what a capability stands for.
func (u *Server) Has(capability string) bool {
	_, ok := rawjson.Member(u.State().Capabilities, capability)
	return ok
}

// can reports whether a capability of the server has a flag set.
func (u *Server) can(capability, flag string) bool {
	of, _ := rawjson.Member(u.State().Capabilities, capability)
	set, _ := rawjson.Member(of, flag)
	return string(set) == "true"
}

// Theirs is a result of u for a client. Between two of [rev.Rev2025] nothing has
// a meaning that could differ, so that nothing is changed.
func (u *Server) ResultFor(result []byte, method string, client *rev.Rev) []byte {
	if client == rev.Rev2025 && u.Rev() == rev.Rev2025 {
		return result
	}
	return client.Result(result, method)
}

// absence is the name of an upstream that is not there, with the reason where
// somebody can do something about it.
func (u *Server) absence() string {
	var why *upstream.Unauthorized
	if errors.As(u.State().Err, &why) {
		return u.Config.Name + " (" + text.Escape(why.Error()) + ")"
	}
	return u.Config.Name
}
