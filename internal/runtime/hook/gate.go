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

// Options configures a Gate. All fields except Log are required.
type Options struct {
	Ctx       context.Context //nolint:containedctx // ends with the proxy
	Admission *admission.Admission
	Approvals *approval.Broker

	// Session returns the session that decides on an agent session's calls, and opens this session
	// if necessary. own reports whether it serves only that agent session; if so, End ends it.
	Session func(Origin) (key admission.Key, own bool, err error)
	End     func(admission.Key)
	Moved   func(admission.Key)                // called when the markings of a session's nets have changed
	Tools   func() []gate.Call                 // returns the servers' tools
	Met     func(agent string, names []string) // called at an agent's first event with the names of the agent's shell tools; a name may have the form AGENT.TOOL
	Hold    func(agent string) time.Duration
	Asked   func(*approval.Request, string) // called when an agent's call begins to wait for an approval
	Texts   Texts
	Now     func() time.Time
	Log     *slog.Logger
}

// Texts holds the messages about approvals that are shown to models.
type Texts struct {
	Parked    func(id string) string
	NoConsent func(tool string, r *approval.Request, answer approval.Answer, gone, ending bool, now time.Time) string
}

// Origin identifies the source of an agent's calls.
type Origin struct {
	Principal string
	Agent     string
	Session   string      // ID given by the agent
	Header    http.Header // header of the HTTP request that contained the event; nil: no request
}

// Request contains one event and its source.
type Request struct {
	Agent     string
	Principal string
	Session   string      // overrides the event's session; empty: no override
	Servers   []string    // the proxy's names among the agent's MCP servers; empty: petrigate
	Header    http.Header // header of the HTTP request; nil: no request
	Event     []byte
}

// Gate decides on the calls that agents report. It is safe for concurrent use.
type Gate struct {
	Options

	states  map[string]*agentState // state of each agent, by name
	proxied proxiedCalls           // calls that are left to the proxy

	mu    sync.Mutex
	calls map[sessionKey]*calls
}

// agentState tracks whether an agent's hook has reported an event yet.
type agentState struct {
	sync.Once             // held during the setup at the first event
	reported  atomic.Bool // the agent has reported an event
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

// sessionKey identifies an agent session within a proxy session.
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

// callsOf returns an agent session's calls. If the session is new, callsOf creates them, provided
// that open is true and there are not too many sessions. Otherwise it returns nil. It also removes
// idle sessions and returns them; the caller must end them.
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
