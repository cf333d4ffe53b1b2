package hook

import (
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

// Options configures a Gate. All fields except Log are required.
type Options struct {
	Ctx       context.Context //nolint:containedctx // ends with the proxy
	Admission *admission.Admission
	Approvals *approval.Broker

	// Session returns the session that decides on the calls of a session of an agent, and opens it
	// if necessary. own means that it belongs to that session alone: End ends it.
	Session func(Origin) (key admission.Key, own bool, err error)
	End     func(admission.Key)
	Moved   func(admission.Key)                // called when the nets of a session have moved
	Tools   func() []gate.Call                 // tools of the servers
	Met     func(agent string, names []string) // called at the first event of an agent, with the names of its shell tools; AGENT.TOOL is valid too
	Hold    func(agent string) time.Duration
	Asked   func(*approval.Request, string) // called when a call of the agent begins to wait for approval
	Texts   Texts
	Now     func() time.Time
	Log     *slog.Logger
}

// Texts holds the texts for models about approvals.
type Texts struct {
	Parked    func(id string) string
	NoConsent func(tool string, r *approval.Request, answer approval.Answer, gone, ending bool, now time.Time) string
}

// Origin identifies the source of the calls of an agent.
type Origin struct {
	Principal string
	Agent     string
	Session   string      // id given by the agent
	Header    http.Header // of the HTTP request with the event; nil: no request
}

// Request contains one event.
type Request struct {
	Agent     string
	Principal string
	Session   string      // overrides the session of the event; empty: no override
	Servers   []string    // names of the proxy among the MCP servers of the agent; empty: petrigate
	Header    http.Header // nil: none
	Event     []byte
}

// Gate decides on the calls that agents report. It is safe for concurrent use.
type Gate struct {
	Options

	states  map[string]*agentState // by agent
	proxied proxiedCalls           // calls left to the proxy

	mu    sync.Mutex
	calls map[sessionKey]*calls
}

// agentState tracks whether the hook of an agent has reported an event yet.
type agentState struct {
	sync.Once             // for the setup at the first event
	reported  atomic.Bool // an event was reported
}

// Agents returns the agents whose hooks have reported events since the start, sorted.
func (g *Gate) Agents() (names []string) {
	for name, m := range g.states {
		if m.reported.Load() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// sessionKey identifies a session of an agent within a session of the proxy.
type sessionKey struct {
	admission.Key
	agent, session string
}

// New returns a Gate.
func New(o Options) *Gate {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	met := map[string]*agentState{}
	for _, a := range agents {
		met[a.Name] = &agentState{}
	}
	return &Gate{Options: o, calls: map[sessionKey]*calls{}, states: met}
}

// sessionCalls is a session of an agent with its calls.
type sessionCalls struct {
	sessionKey
	calls *calls
}

// callsOf returns the calls of a session of an agent. For a new session it creates them if open is
// true and there are not too many sessions; otherwise it returns nil. It also removes sessions that
// were not used for long; the caller has to end them.
func (g *Gate) callsOf(at sessionKey, alone, open bool) (s *calls, idle []sessionCalls) {
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
		for p, c := range g.calls {
			if now.Sub(c.used) > idleSession {
				delete(g.calls, p)
				idle = append(idle, sessionCalls{p, c})
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
