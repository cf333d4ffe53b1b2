package hook

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/approval"
)

// Options configures a Gate. All fields except Log must be set.
type Options struct {
	Ctx       context.Context //nolint:containedctx // done when the proxy ends
	Admission *admission.Admission
	Approvals *approval.Broker

	// Session returns the proxy session to use for an agent session, opening it if necessary. It
	// also reports whether the proxy session serves only this agent session. If so, End closes the
	// proxy session when the agent session has ended.
	Session func(Origin) (key admission.Key, own bool, err error)
	End     func(admission.Key)
	Moved   func(admission.Key)                // called with a session's key when the markings of its nets have changed
	Tools   func() []gate.Call                 // returns the tools of all upstream servers
	Met     func(agent string, names []string) // called on an agent's first event, with the names of the agent's shell tools and the name bash; in rules, bash stands for all shell tools
	Hold    func(agent string) time.Duration
	Asked   func(*approval.Request, string) // called with the request and the agent's name when a call starts waiting for approval
	Texts   Texts
	Now     func() time.Time
	Log     *slog.Logger
}

// Texts holds functions that return messages about approvals. Models read these messages.
type Texts struct {
	Parked    func(id string) string
	NoConsent func(tool string, r *approval.Request, answer approval.Answer, gone, ending bool, now time.Time) string
}

// Origin identifies the source of an agent's calls.
type Origin struct {
	Principal string
	Agent     string
	Session   string      // the agent's ID for the session
	Header    http.Header // header of the HTTP request that carried the event; nil if there was no request
}

// Request is an event and its source.
type Request struct {
	Agent     string
	Principal string
	Session   string      // if not empty, replaces the session ID in the event
	Servers   []string    // names of the proxy in the agent's list of MCP servers; empty means petrigate
	Header    http.Header // header of the HTTP request that carried the event; nil if there was no request
	Event     []byte
}

// Gate decides on calls that agents report. It is safe for concurrent use.
type Gate struct {
	Options

	states  map[string]*agentState // state of each agent, keyed by the agent's name
	proxied proxiedCalls           // reported calls to the proxy's own tools

	mu    sync.Mutex
	calls map[sessionKey]*calls
}

// agentState records whether an agent has reported any event yet.
type agentState struct {
	sync.Once             // runs Options.Met at the agent's first event
	reported  atomic.Bool // whether the agent has reported any event
}

// Agents returns the sorted names of the agents that have reported events so far.
func (g *Gate) Agents() (names []string) {
	for name, m := range g.states {
		if m.reported.Load() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// sessionKey identifies an agent session and the proxy session that serves it.
type sessionKey struct {
	admission.Key
	agent, session string
}

// New returns a Gate.
func New(o Options) *Gate {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	met := map[string]*agentState{}
	for _, a := range agents {
		met[a.Name] = &agentState{}
	}
	return &Gate{Options: o, calls: map[sessionKey]*calls{}, states: met}
}

// callsOf returns the calls of an agent session, or nil if the session is unknown. If open is true,
// it adds the session if necessary, and returns nil only if there are too many sessions. If alone
// is true, the proxy session serves only this agent session. callsOf may remove idle sessions to
// make room. It returns them, and the caller must end them.
func (g *Gate) callsOf(at sessionKey, alone, open bool) (s *calls, idle map[sessionKey]*calls) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.Now()
	if s = g.calls[at]; s != nil || !open {
		if s != nil {
			s.used = now
		}
		return s, nil
	}
	if len(g.calls) >= manySessions {
		idle = map[sessionKey]*calls{}
		for p, c := range g.calls {
			if now.Sub(c.used) > idleSession {
				delete(g.calls, p)
				idle[p] = c
			}
		}
	}
	own := 0
	for p := range g.calls {
		if p.Principal == at.Principal {
			own++
		}
	}
	if len(g.calls) >= maxSessions || own >= maxOwn {
		return nil, idle
	}
	s = &calls{used: now, own: alone}
	g.calls[at] = s
	return s, idle
}

func (g *Gate) forget(at sessionKey) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.calls, at)
}
