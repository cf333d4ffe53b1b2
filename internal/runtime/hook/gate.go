package hook

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/agenttool"
	"github.com/petrigate/petrigate/internal/rawjson"
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
	NoConsent func(tool string, r *approval.Request, said approval.Answer, gone, ending bool, now time.Time) string
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

// Reply is the answer to an event.
type Reply struct {
	Output []byte // JSON for the agent
	Denied string // reason of a refusal; empty: not refused
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

// Serve handles an event and returns the answer for the agent. It blocks while a person is asked.
// The only error is an unknown agent.
func (g *Gate) Serve(ctx context.Context, r Request) (reply Reply, err error) {
	a := Find(r.Agent)
	if a == nil {
		return Reply{}, fmt.Errorf("there is no agent %q; those whose hooks are understood are %s", r.Agent, strings.Join(Names(), ", "))
	}
	if len(r.Servers) == 0 {
		r.Servers = []string{"petrigate"}
	}
	met := g.states[a.Name]
	met.reported.Store(true)
	met.Do(func() { g.Met(a.Name, append(agenttool.Shells(a.Name), "bash")) }) // before this call is decided
	e, wrong := a.Read(r.Event)
	if r.Session != "" {
		e.Session = r.Session
	}
	switch {
	case e.kind == ignored:
		return Reply{Output: Pass}, nil
	case wrong != nil:
		g.Log.Warn("the event of a hook was refused", "agent", a.Name, "reason", wrong.Error())
		if e.Before() {
			return refuse(e, "The call was not made: "+wrong.Error()+"."), nil
		}
		return Reply{Output: Pass}, nil
	}
	defer func() {
		if v := recover(); v != nil { // agents treat a missing answer as permission
			g.Log.Error("panic at the event of a hook", "agent", a.Name, "event", e.Name, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			reply = refuse(e, "The call was not made: petrigate has failed.")
		}
	}()
	if tool, ok := e.throughProxy(r.Servers, g.offers); ok && e.kind <= failed {
		return g.leaveToProxy(ctx, &r, e, tool), nil
	}
	return g.serve(ctx, &r, e), nil
}

// refuse returns the answer that refuses the call of an event. The reason is never empty, because
// Codex makes a call that is refused without a reason.
func refuse(e *Event, reason string) Reply {
	reason = cmp.Or(reason, "The call was not made.")
	return Reply{Output: e.agent.Deny(e.Name, reason), Denied: reason}
}

// serve handles an event that was read.
func (g *Gate) serve(ctx context.Context, r *Request, e *Event) Reply {
	key, own, err := g.Session(Origin{Principal: r.Principal, Agent: e.agent.Name, Session: e.Session, Header: r.Header})
	if err != nil {
		if e.Before() {
			return refuse(e, "The call was not made: "+err.Error()+".")
		}
		return Reply{Output: Pass}
	}
	at := sessionKey{key, e.agent.Name, e.Session}
	s, idle := g.callsOf(at, own, e.Before())
	for _, forgotten := range idle {
		g.end(forgotten.sessionKey, forgotten.calls)
	}
	switch {
	case e.Before() && s == nil:
		return refuse(e, "The call was not made: too many sessions of agents are open.")
	case e.Before():
		return g.before(ctx, s, key, e)
	case s == nil:
		g.Log.Info("an event is of a session without calls", "agent", e.agent.Name, "event", e.Name)
	case e.kind == after || e.kind == failed:
		g.after(s, e)
	case e.kind == turnEnds:
		g.settleUnknown(s.interrupt())
	case e.kind == ends:
		g.forget(at)
		g.end(at, s)
	}
	return Reply{Output: Pass}
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

// end ends a session of an agent, and the session of the proxy if that belongs to it alone.
func (g *Gate) end(at sessionKey, s *calls) {
	g.settleUnknown(s.end())
	if s.own {
		g.End(at.Key)
	}
}

// before decides on a call. An agent that reports a call twice, for example because two of its
// settings files have the hook, gets the same answer twice.
func (g *Gate) before(ctx context.Context, s *calls, key admission.Key, e *Event) Reply {
	sent := e.digest()
	answer := g.amend(e)
	c := &call{key: e.key(), digest: e.digest(), sent: sent, turn: e.turn, decided: make(chan struct{})}
	known, over, late := s.add(c, e.ID != "")
	g.settleUnknown(late)
	switch {
	case over:
		return refuse(e, "The call was not made: its id is that of a call which is over.")
	case known != nil:
		return repeatAnswer(ctx, known, c, e)
	}
	c.reply = refuse(e, "The call was not made: it could not be decided on.") // in case of a panic
	defer close(c.decided)
	defer func() {
		if c.reply.Denied != "" {
			s.forget(c)
		}
	}()
	c.reply = g.decide(ctx, s, key, c, e)
	if c.reply.Denied == "" {
		c.reply.Output = answer
	}
	return c.reply
}

// repeatAnswer returns the answer to a call that the agent has reported before.
func repeatAnswer(ctx context.Context, known, c *call, e *Event) Reply {
	if known.sent != c.sent {
		return refuse(e, "The call was not made: its id is that of another call.")
	}
	select {
	case <-known.decided:
		return known.reply
	case <-ctx.Done():
		return refuse(e, "The call was not made: it is being decided on.")
	}
}

// decide decides on a call, and asks a person if the policy requires it.
func (g *Gate) decide(ctx context.Context, s *calls, key admission.Key, c *call, e *Event) Reply {
	of := g.admissionCall(key, e)
	if r := g.Admission.Ready(of.Canonical); r != nil {
		return refuse(e, r.Text)
	}
	d := g.Admission.Decide(g.Ctx, of)
	if q, ok := d.(*admission.Asked); ok {
		d = g.ask(ctx, of, e.folders, q)
	}
	switch d := d.(type) {
	case *admission.Admitted:
		g.Moved(key)
		if !s.admit(c, &d.Ticket) {
			g.settleUnknown([]*call{c})
		}
		return Reply{Output: Pass}
	case *admission.Refused:
		return refuse(e, d.Text)
	}
	return refuse(e, "The call was not made: it could not be decided on.")
}

// admissionCall returns the call for the admission.
func (g *Gate) admissionCall(key admission.Key, e *Event) *admission.Call {
	tools := g.Tools()
	called := e.call(func(name string) bool { return isTool(tools, name) })
	offered := append(slices.Clip(tools), gate.Call{Tool: called.Tool, Foreign: called.Foreign, Also: called.Also, Upstream: called.Upstream})
	called.Time = g.Now()
	return &admission.Call{
		Key: key, Gate: called, Offered: offered, Client: e.agent.Name, ID: rawjson.AppendString(nil, e.ID), Upstream: e.agent.Name,
		Tool: e.Tool, Method: "tools/call", Canonical: e.agent.Name + "." + e.Tool, Digest: digestOf(e.Args),
	}
}

// agentName returns the name of a tool in the form of agents, which permit fewer characters.
func agentName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
}

// offers reports whether a server has a tool with that name, in the form of agents.
func (g *Gate) offers(name string) bool {
	return slices.ContainsFunc(g.Tools(), func(c gate.Call) bool { return c.Tool == name || agentName(c.Tool) == agentName(name) })
}

// isTool reports whether a tool of a server has that name.
func isTool(tools []gate.Call, name string) bool {
	for i := range tools {
		if tools[i].Tool == name {
			return true
		}
		for _, also := range tools[i].Also {
			if also.Text == name {
				return true
			}
		}
	}
	return false
}

// after settles a call that has ended.
func (g *Gate) after(s *calls, e *Event) {
	c := s.takeAdmitted(e.key())
	if c == nil {
		g.Log.Info("the end of a call that is not under way was told", "agent", e.agent.Name, "event", e.Name)
		return
	}
	end := gate.End{Outcome: e.outcome()}
	if c.digest != e.digest() {
		g.Log.Warn(mismatchWarning(c, e), "agent", e.agent.Name, "call", c.ticket.Number)
		end.Outcome = gate.Unknown
	}
	if end.Outcome == gate.Success && g.Admission.ReadsResults() && rawjson.Kind(e.result) == '{' {
		end.Result = e.result
	}
	if end.Outcome == gate.Success && g.Admission.Generation().Policy.JudgesResults() {
		end.Text = e.returnedText()
	}
	by := ""
	if c.settledUnknown {
		by = "late answer"
	}
	g.settle(c, end, by)
}

// settleUnknown settles calls whose end was not reported.
func (g *Gate) settleUnknown(late []*call) {
	for _, c := range late {
		g.settle(c, gate.End{Outcome: gate.Unknown}, "")
	}
}

func (g *Gate) settle(c *call, e gate.End, by string) {
	if c.settledUnknown && by != "" && e.Outcome == gate.Unknown { // it is settled as unknown already
		return
	}
	g.Admission.Settle(context.WithoutCancel(g.Ctx), c.ticket, e, by)
	g.Moved(c.ticket.Key())
}

// key identifies a call within its session. If the agent gives no ids, the key is a digest of the
// call.
func (e *Event) key() string {
	if e.ID != "" {
		return "id " + e.ID
	}
	return e.digest()
}

// digest returns a digest of the tool and its arguments.
func (e *Event) digest() string { return e.Tool + " " + digestOf(e.Args) }

func digestOf(arguments []byte) string {
	sum := sha256.Sum256(arguments)
	return hex.EncodeToString(sum[:])
}
